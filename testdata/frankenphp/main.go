// A FrankenPHP server from the library alone: the Caddy module that the
// project ships lives in a submodule that the Go module proxy does not serve.
// Debian's PHP is not thread-safe, so one process must have exactly one PHP
// thread; start as many processes as cores, each on a port of its own.
package main

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dunglas/frankenphp"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8000", "address to listen on")
	root := flag.String("root", "laravel/public", "document root")
	worker := flag.String("worker", "", "worker script; empty: classic mode")
	flag.Parse()

	if err := run(*listen, *root, *worker); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

func run(listen, root, worker string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	options := []frankenphp.Option{
		frankenphp.WithPhpIni(map[string]string{
			"opcache.enable_cli":  "1",
			"upload_max_filesize": "2G",
			"post_max_size":       "2G",
		}),
	}
	front, threads := "/index.php", 1
	if worker != "" {
		if worker, err = filepath.Abs(worker); err != nil {
			return err
		}
		root, front = filepath.Dir(worker), "/"+filepath.Base(worker)
		// FrankenPHP wants a thread beside the workers; without thread safety it
		// cuts that to one by itself but would still scale up to the number
		// asked for, and crash, were it not for the limit on the worker.
		threads = 2
		options = append(options, frankenphp.WithWorkers("laravel", worker, 1, frankenphp.WithWorkerMaxThreads(1)))
	}
	options = append(options, frankenphp.WithNumThreads(threads))
	if err := frankenphp.Init(options...); err != nil {
		return err
	}
	defer frankenphp.Shutdown()

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		original := r
		r = r.Clone(r.Context())
		if !strings.HasPrefix(r.URL.Path, front) {
			r.URL.Path = front
		}
		fr, err := frankenphp.NewRequestWithContext(r,
			frankenphp.WithRequestDocumentRoot(root, false),
			frankenphp.WithOriginalRequest(original))
		if err == nil {
			err = frankenphp.ServeHTTP(w, fr)
		}
		if err != nil {
			slog.Error("request failed", "uri", original.RequestURI, "err", err)
		}
	})
	server := &http.Server{Addr: listen, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(last)
}
