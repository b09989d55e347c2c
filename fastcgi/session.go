package fastcgi

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/yookoala/gofast"
)

// maxPooledParams is the number of params beyond which a map is not kept: clearing it costs its capacity.
const maxPooledParams = 256

// session builds params and hands them to a gofast.Client. Its requests are reused.
type session struct {
	handle gofast.SessionHandler
	pool   sync.Pool // of *gofast.Request
}

// newSession chains, from outer to inner: what gofast knows of CGI, the headers, the Env, extra, the operator.
func newSession(extra []gofast.Middleware) *session {
	chain := []gofast.Middleware{gofast.BasicParamsMap, mapHeaders, mapEnv}
	chain = append(chain, extra...)
	chain = append(chain, mapOperator)
	return &session{handle: gofast.Chain(chain...)(gofast.BasicSession)}
}

// run maps r and calls client.Do with the params.
func (s *session) run(client gofast.Client, r *http.Request) (*gofast.ResponsePipe, error) {
	req, _ := s.pool.Get().(*gofast.Request)
	if req == nil {
		req = gofast.NewRequest(nil)
	}
	req.Raw, req.Stdin = r, r.Body
	pipe, err := s.handle(client, req)
	if len(req.Params) <= maxPooledParams {
		clear(req.Params)
		req.Raw, req.Stdin = nil, nil
		s.pool.Put(req)
	}
	return pipe, err
}

// mapEnv sets what the Env says, and corrects what gofast guesses from the request instead.
func mapEnv(inner gofast.SessionHandler) gofast.SessionHandler {
	return func(client gofast.Client, req *gofast.Request) (*gofast.ResponsePipe, error) {
		env := envFrom(req.Raw.Context())
		addEnv(req.Params, env)
		addURI(req.Params, req.Raw, env)
		addAddresses(req.Params, env)
		addLength(req.Params, req.Raw)
		return inner(client, req)
	}
}

// mapOperator sets the operator's params over everything that is there.
func mapOperator(inner gofast.SessionHandler) gofast.SessionHandler {
	return func(client gofast.Client, req *gofast.Request) (*gofast.ResponsePipe, error) {
		for _, p := range envFrom(req.Raw.Context()).Params {
			req.Params[p.Name] = p.Value
		}
		return inner(client, req)
	}
}

// addEnv names the script in the same resolved folder everywhere: where DOCUMENT_ROOT and SCRIPT_FILENAME, or the last
// parts of SCRIPT_NAME and SCRIPT_FILENAME, differ, Symfony computes a wrong base URL. No PATH_INFO is sent; the front
// controller routes by REQUEST_URI.
func addEnv(params map[string]string, env *Env) {
	script := or(env.Script, "/index.php")
	params["DOCUMENT_ROOT"] = env.Root
	params["SCRIPT_FILENAME"] = env.Root + script
	params["SCRIPT_NAME"] = script
	params["DOCUMENT_URI"] = script
	params["SERVER_SOFTWARE"] = or(env.Software, "gateway")
}

// addURI takes the query from the same bytes. They are not decoded or cleaned: signed URLs are checked against them.
func addURI(params map[string]string, r *http.Request, env *Env) {
	uri := env.RequestURI
	if uri == "" {
		uri = r.URL.RequestURI()
	}
	_, query, _ := strings.Cut(uri, "?")
	params["REQUEST_URI"] = uri
	params["QUERY_STRING"] = query
	params["REQUEST_METHOD"] = or(r.Method, http.MethodGet)
}

// addAddresses leaves HTTPS out when the scheme is http, since PHP code often only asks whether it is set, and
// REMOTE_HOST always, which would need a look-up.
func addAddresses(params map[string]string, env *Env) {
	scheme := or(env.Scheme, "http")
	params["REQUEST_SCHEME"] = scheme
	if scheme == "https" {
		params["HTTPS"] = "on"
	} else {
		delete(params, "HTTPS")
	}
	params["SERVER_NAME"] = env.ServerName
	params["SERVER_PORT"] = env.ServerPort
	params["REMOTE_ADDR"] = env.RemoteAddr
	setOrDelete(params, "SERVER_ADDR", env.ServerAddr)
	setOrDelete(params, "REMOTE_PORT", env.RemotePort)
}

// addLength promises exactly what will be sent: PHP waits for ever for what is missing. A request without
// a body and without a length of its own has an empty CONTENT_LENGTH, as behind nginx.
func addLength(params map[string]string, r *http.Request) {
	length := ""
	if r.ContentLength > 0 || len(r.Header["Content-Length"]) > 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	params["CONTENT_LENGTH"] = length
}

func setOrDelete(params map[string]string, name, value string) {
	if value == "" {
		delete(params, name)
		return
	}
	params[name] = value
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
