package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// demoApp is a small application with the habits of a Laravel one. The same handler answers over FastCGI,
// as PHP-FPM would, and over HTTP, as Octane would; only the name it gives itself differs.
func demoApp(runtime string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/index.php" {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		http.SetCookie(w, &http.Cookie{Name: "XSRF-TOKEN", Value: "demo", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "laravel_session", Value: "demo", Path: "/", HttpOnly: true})
		fmt.Fprintf(w, "<!DOCTYPE html><title>Demo</title><p>Hello from %s\n", runtime)
	})
	mux.HandleFunc("GET /api/ping", func(w http.ResponseWriter, r *http.Request) {
		demoJSON(w, map[string]any{"pong": true, "runtime": runtime})
	})
	mux.HandleFunc("GET /api/users", demoUsers(runtime))
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		demoJSON(w, map[string]any{"bytes": n, "sha256": hex.EncodeToString(sum.Sum(nil)), "length": r.ContentLength})
	})
	mux.HandleFunc("GET /headers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", strings.Repeat("</build/assets/app.js>; rel=modulepreload, ", 480))
		demoJSON(w, map[string]any{"link": "20 KB"})
	})
	mux.HandleFunc("GET /events", demoEvents)
	mux.HandleFunc("GET /socket", demoSocket)
	return mux
}

func demoJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// The client is this process; if it has gone, it has seen why.
	_ = json.NewEncoder(w).Encode(v)
}

// demoEvents sends three events, a tenth of a second apart.
func demoEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := range 3 {
		fmt.Fprintf(w, "id: %d\ndata: tick\n\n", n)
		if control.Flush() != nil {
			return
		}
		<-tick.C
	}
}

// demoSocket takes the connection over, as a WebSocket server does, and sends back what comes.
func demoSocket(w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "only over HTTP", http.StatusUpgradeRequired)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	// The echo ends with the client.
	_, _ = io.Copy(conn, conn)
}

// demoBackends are the two runtimes of the application and its files.
type demoBackends struct {
	fpm, octane net.Listener
	server      *http.Server
	done        chan struct{}
}

func startDemoBackends(dir string) (*demoBackends, error) {
	public := filepath.Join(dir, "public")
	files := map[string]string{
		"index.php":                     "<?php // runs in the embedded backends\n",
		"robots.txt":                    "User-agent: *\nDisallow:\n",
		".env":                          "APP_KEY=secret\n",
		"build/assets/app-4f2c9a1b.css": "body{font-family:sans-serif}\n",
	}
	for name, text := range files {
		path := filepath.Join(public, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	fpm, err := net.Listen("unix", filepath.Join(dir, "fpm.sock"))
	if err != nil {
		return nil, err
	}
	octane, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fpm.Close()
		return nil, err
	}
	b := &demoBackends{fpm: fpm, octane: octane, done: make(chan struct{}, 2)}
	b.server = &http.Server{Handler: demoApp("Octane"), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = fcgi.Serve(fpm, demoApp("FPM")); b.done <- struct{}{} }()
	go func() { _ = b.server.Serve(octane); b.done <- struct{}{} }()
	return b, nil
}

// stop ends both backends and waits for them.
func (b *demoBackends) stop() {
	b.fpm.Close()
	b.server.Close()
	<-b.done
	<-b.done
}
