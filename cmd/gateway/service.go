package main

import (
	"context"
	"errors"
	"strings"
	"sync"

	"go.uber.org/zap"

	"gateway/conf"
	"gateway/proxy"
	"gateway/proxy/admin"
	"gateway/proxy/observe"
)

// service is a running gateway with its control listener.
type service struct {
	path    string
	log     *observe.Logger // for the words of the process itself
	gateway *proxy.Gateway
	admin   *admin.Server
	serving sync.WaitGroup

	mu   sync.Mutex // guards cfg, seen and sum; held for as long as a reload takes
	cfg  *conf.Config
	seen []string // files of the last load that failed; nil when the last one is served
	sum  string   // and their digest
}

// reload loads the configuration anew. A bad one leaves the old one serving; its faults are logged and
// returned.
func (s *service) reload(cause string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg, err := conf.Load(s.path)
	if err == nil {
		err = s.gateway.Reload(cfg)
	}
	if err != nil {
		s.refuse(cfg, err)
		s.log.Error("reload refused; the old configuration goes on", zap.String("cause", cause), zap.Error(err))
		return err
	}
	if cfg.Admin != s.cfg.Admin {
		s.log.Warn("a change of admin takes effect at the next start")
	}
	s.cfg, s.seen, s.sum = cfg, nil, ""
	s.log.Info("configuration reloaded", zap.String("cause", cause), zap.Int("sites", len(cfg.Sites)))
	return nil
}

// refuse notes what a bad configuration was read from, so that its next change is seen as well.
func (s *service) refuse(cfg *conf.Config, err error) {
	var faults *conf.Errors
	switch {
	case errors.As(err, &faults):
		s.seen, s.sum = faults.Files, faults.Digest
	case cfg != nil:
		s.seen, s.sum = cfg.Files, cfg.Digest
	}
}

func (s *service) files() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != nil {
		return s.seen
	}
	return s.cfg.Files
}

func (s *service) digest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != nil {
		return s.sum
	}
	return s.cfg.Digest
}

// stop drains, within limits.grace, and closes everything.
func (s *service) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Limits.Grace)
	defer cancel()
	s.gateway.Shutdown(ctx)
	err := s.admin.Shutdown(ctx)
	s.serving.Wait()
	return errors.Join(err, s.log.Close())
}

// summary says in one line what is served where.
func (s *service) summary() string {
	var at []string
	for _, l := range s.cfg.Listen {
		at = append(at, l.String())
	}
	return counted(len(s.cfg.Sites), "site") + " on " + strings.Join(at, " and ")
}
