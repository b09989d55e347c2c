package conf

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// reading is what one call of changed loaded.
type reading struct {
	cfg *Config
	err error
}

// watching is a Watch with a program behind it that loads whenever it is told to.
type watching struct {
	t     *testing.T
	path  string
	last  atomic.Pointer[Errors] // its Files and Digest, of a good load too
	loads chan reading
	idle  chan struct{}
}

func (w *watching) load() reading {
	cfg, err := Load(w.path)
	seen := &Errors{}
	if err == nil {
		seen.Files, seen.Digest = cfg.Files, cfg.Digest
	} else {
		errors.As(err, &seen)
	}
	w.last.Store(seen)
	return reading{cfg, err}
}

// watch loads the file, lets between happen, and starts to watch.
func watch(t *testing.T, path string, adapt func(*WatchConfig), between func()) *watching {
	t.Helper()
	w := &watching{t: t, path: path, loads: make(chan reading, 1000), idle: make(chan struct{}, 1)}
	must(t, w.load().err)
	if between != nil {
		between()
	}
	cfg := WatchConfig{
		Paths:    func() []string { return w.last.Load().Files },
		Digest:   func() string { return w.last.Load().Digest },
		Debounce: 10 * time.Millisecond,
		poll:     time.Hour,
		idle: func() {
			select {
			case w.idle <- struct{}{}:
			default:
			}
		},
	}
	if adapt != nil {
		adapt(&cfg)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Watch(ctx, cfg, func() { w.loads <- w.load() }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch = %v", err)
		}
	})
	return w
}

// started watches a file and waits for the first look.
func started(t *testing.T, path string) *watching {
	t.Helper()
	w := watch(t, path, nil, nil)
	w.rested()
	return w
}

// next waits for the next load.
func (w *watching) next() reading {
	w.t.Helper()
	select {
	case r := <-w.loads:
		return r
	case <-time.After(20 * time.Second):
		w.t.Fatal("no change was noticed")
		return reading{}
	}
}

// shows waits until a load shows the hosts, over any state between.
func (w *watching) shows(hosts string) {
	w.t.Helper()
	for {
		if r := w.next(); r.err == nil && hostsOf(r.cfg) == hosts {
			return
		}
	}
}

// rested waits for a look that found nothing to do.
func (w *watching) rested() {
	w.t.Helper()
	select {
	case <-w.idle:
	case <-time.After(20 * time.Second):
		w.t.Fatal("nobody looked")
	}
}

// silent fails the test when there was a load that nobody waited for.
func (w *watching) silent() {
	w.t.Helper()
	select {
	case r := <-w.loads:
		w.t.Errorf("a load without a change: %+v, %v", r.cfg, r.err)
	default:
	}
}

// alone is a whole configuration for one host.
func alone(host string) string { return site(host, "u") + "[upstream.u]\nhttp = [\"127.0.0.1:1\"]\n" }

func rename(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.Rename(from, to))
}

// turn makes link lead to target in one step, as ln -sfn and Kubernetes do.
func turn(t *testing.T, target, link string) {
	t.Helper()
	must(t, os.Symlink(target, link+".new"))
	rename(t, link+".new", link)
}
