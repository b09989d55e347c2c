package fastcgi

import (
	"bytes"
	"context"
	"sync"
)

// Limits of what is kept of STDERR for one request.
const (
	maxStderrLines = 64
	maxStderrLine  = 8 << 10
)

// Param is one name and value of the CGI environment.
type Param struct{ Name, Value string }

// Env is what the script must know and the request itself cannot say. It travels in the request's context.
type Env struct {
	Root       string // the resolved release's public folder: DOCUMENT_ROOT; SCRIPT_FILENAME is Root + Script
	Script     string // SCRIPT_NAME and DOCUMENT_URI; empty means "/index.php"
	RequestURI string // the client's bytes in origin form; empty means those of the request's URL

	ServerName, ServerAddr, ServerPort string
	RemoteAddr, RemotePort             string // an empty port is not sent
	Scheme                             string // "http" or "https" as the client saw it; empty means "http"
	Software                           string // SERVER_SOFTWARE; empty means "gateway"

	// Params are the operator's. They win over everything else of the same name.
	Params []Param

	mu    sync.Mutex // guards the fields below
	lines []string
	line  []byte // what came of the last line so far
}

type envKey struct{}

// WithEnv returns a context whose requests are sent with env. Each request needs an Env of its own.
func WithEnv(ctx context.Context, env *Env) context.Context {
	return context.WithValue(ctx, envKey{}, env)
}

func envFrom(ctx context.Context) *Env {
	env, _ := ctx.Value(envKey{}).(*Env)
	return env
}

// Stderr returns the lines that the script, or FPM about it, wrote to STDERR: at most 64, each cut at 8 KiB.
// It is complete when the response body has ended.
func (e *Env) Stderr() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := e.lines[:len(e.lines):len(e.lines)]
	if len(e.line) > 0 && len(lines) < maxStderrLines {
		lines = append(lines, string(e.line))
	}
	return lines
}

// addStderr takes the next bytes of the stream. A line may be spread over records.
func (e *Env) addStderr(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(b) > 0 && len(e.lines) < maxStderrLines {
		part, rest, ended := bytes.Cut(b, []byte("\n"))
		room := maxStderrLine - len(e.line)
		e.line = append(e.line, part[:min(room, len(part))]...)
		if ended && len(e.line) > 0 {
			e.lines = append(e.lines, string(bytes.TrimSuffix(e.line, []byte("\r"))))
			e.line = e.line[:0]
		}
		b = rest
	}
}
