package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"gateway/conf"
	"gateway/proxy"
	"gateway/proxy/admin"
	"gateway/proxy/observe"
)

// gcPercent is how much the heap may grow before it is collected. Of the CPU time per request, 200 saves 3 to 5 % against
// Go's 100.
const gcPercent = 200

// run serves until SIGTERM or SIGINT. The second of those ends it at once.
func run(ctx context.Context, opt options, _, words io.Writer) error {
	if os.Getenv("GOGC") == "" {
		// The heap is small, since bodies are kept outside of it, and would be gone through every few hundred requests.
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)

	service, err := start(opt)
	if err != nil {
		return err
	}
	warn(words, service.cfg)
	fmt.Fprintf(words, "gateway: serving %s\n", service.summary())
	watched := service.watch(ctx)
	for {
		select {
		case <-hangups:
			// Its reasons are in the log, as they are for a change of the file.
			_ = service.reload("signal")
			continue
		case <-ctx.Done():
		}
		break
	}
	stop() // from here on a signal has its usual effect
	fmt.Fprintln(words, "gateway: stopping; once more to stop at once")
	<-watched
	return service.stop()
}

// start opens everything that run needs. After an error nothing is left open.
func start(opt options) (*service, error) {
	cfg, err := load(opt)
	if err != nil {
		return nil, err
	}
	log, err := observe.NewLogger(observe.LogConfig{Format: cfg.Log.Format, Level: cfg.Log.Level, Output: cfg.Log.Output})
	if err != nil {
		return nil, &hintError{err, "set log.output to a file in a folder that is there and that this user can write, or to stdout"}
	}
	s := &service{path: opt.config, cfg: cfg, log: log}
	if s.gateway, err = proxy.New(cfg); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err = s.openAdmin(); err != nil {
		s.gateway.Shutdown(context.Background())
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// openAdmin opens the control listener.
func (s *service) openAdmin() error {
	server, err := admin.New(admin.Config{
		Network: s.cfg.Admin.Network, Address: s.cfg.Admin.Address, Token: s.cfg.Admin.Token,
		Metrics: s.gateway.Metrics(),
		Reload:  func() error { return s.reload("admin") },
		Status:  func() any { return s.gateway.Status() },
		Logger:  s.log.Logger,
	})
	if err != nil {
		hint := `set admin to a socket in a folder that this user can write, such as admin = "unix:/tmp/gateway.sock"`
		if errors.Is(err, admin.ErrInUse) || errors.Is(err, syscall.EADDRINUSE) {
			hint = "stop the other one, or set admin to an address that this one has for itself"
		}
		return &hintError{err, hint}
	}
	s.admin = server
	s.serving.Go(func() {
		if err := server.Serve(); err != nil {
			s.log.Sugar().Errorf("admin listener stopped: %v", err)
		}
	})
	return nil
}

// watch reloads when the files change, until ctx ends; the channel is closed then.
func (s *service) watch(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := conf.Watch(ctx, conf.WatchConfig{Paths: s.files, Digest: s.digest, Logger: s.log.Logger}, func() {
			_ = s.reload("file")
		})
		if err != nil {
			s.log.Sugar().Errorf("changes of the configuration are not seen: %v; SIGHUP still reloads", err)
		}
	}()
	return done
}
