package certs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	permissionTimeout = 5 * time.Second
	refusalHolds      = time.Minute // a new customer should not wait for long
	answersKept       = 10_000
	asksPerSecond     = 20
	asksAtOnce        = 100 // after a quiet time, such as a start
)

// permission asks the application and remembers its answers.
type permission struct {
	url    *url.URL
	holds  time.Duration
	client *http.Client
	asks   *bucket
	now    func() time.Time

	mu      sync.Mutex // guards answers
	answers map[string]answer
}

type answer struct {
	allowed bool
	until   time.Time
}

func newPermission(cfg Config) *permission {
	at, err := url.Parse(cfg.OnDemand.Permission)
	if err != nil {
		at = &url.URL{} // every question then fails, and says so
	}
	holds := cfg.OnDemand.Cache
	if holds == 0 {
		holds = 10 * time.Minute
	}
	return &permission{
		url: at, holds: holds, now: cfg.now, answers: make(map[string]answer),
		asks: newBucket(asksPerSecond, asksAtOnce, cfg.now),
		client: &http.Client{
			Timeout:       permissionTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// ask returns nil if the name is allowed. What went wrong is not remembered.
func (p *permission) ask(ctx context.Context, name string) error {
	known, found := p.remembered(name)
	if !found {
		if !p.asks.take() {
			return errTooManyAsks
		}
		allowed, err := p.request(ctx, name)
		if err != nil {
			return fmt.Errorf("permission: %w", err)
		}
		known = p.remember(name, allowed)
	}
	if !known.allowed {
		return errNotAllowed
	}
	return nil
}

func (p *permission) remembered(name string) (answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, found := p.answers[name]
	return known, found && p.now().Before(known.until)
}

func (p *permission) remember(name string, allowed bool) answer {
	holds := p.holds
	if !allowed {
		holds = min(holds, refusalHolds)
	}
	known := answer{allowed: allowed, until: p.now().Add(holds)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) >= answersKept {
		clear(p.answers) // rare, and it costs no more than asking again
	}
	p.answers[name] = known
	return known
}

func (p *permission) request(ctx context.Context, name string) (allowed bool, err error) {
	at := *p.url
	query := at.Query()
	query.Set("domain", name)
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	// The connection can be used again once its body is read; how that goes changes nothing.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4096))
	if resp.StatusCode >= 500 {
		return false, fmt.Errorf("%s answers %s", p.url, resp.Status)
	}
	return resp.StatusCode >= 200 && resp.StatusCode <= 299, nil
}
