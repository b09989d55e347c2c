package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"gateway/conf"
	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
	"gateway/proxy/identity"
	"gateway/proxy/observe"
	"gateway/proxy/static"
	"gateway/upstream"
	"gateway/upstream/spool"
)

// openUpstream adds the arm that asks the backends of one upstream.
func (a *Arms) openUpstream(cfg *conf.Config, site *conf.Site, name string) error {
	up, known := cfg.Upstreams[name]
	if !known {
		return noUpstream(cfg, name)
	}
	if err := a.openFiles(site); err != nil {
		return err
	}
	opened, err := openGroup(up, spool.NewBudget(cfg.Limits.SpoolMemory, cfg.Limits.SpoolDisk, nil), zap.NewNop())
	if err != nil {
		return fmt.Errorf("upstream.%s: %w", name, err)
	}
	a.closers = append(a.closers, opened.close)
	facts, look := factsOf(up)
	asking := &asking{files: a.files, dialect: dialectOf(*site, up), client: benchClient(cfg)}
	a.All = append(a.All, bench.Arm{
		Name: name, ArmFacts: facts, Look: look,
		Load: &load.TransportArm{Transport: opened, Prepare: asking.prepare, Attend: attendOnce},
	})
	return nil
}

func (a *Arms) openFiles(site *conf.Site) (err error) {
	if a.files != nil {
		return nil
	}
	a.files, err = static.New(static.Config{Root: site.Root, Index: site.Index, SymlinkTargets: site.SymlinkTargets})
	if err != nil {
		return err
	}
	if a.release, err = a.files.Release(); err != nil {
		return fmt.Errorf("%w: %w", errRelease, err)
	}
	return nil
}

// factsOf says what an upstream is, and how what it uses can be seen, where it can.
func factsOf(up conf.Upstream) (facts bench.ArmFacts, look func(context.Context) (bench.Usage, error)) {
	facts.Kind = "http"
	backends := up.HTTP
	if len(up.FastCGI) > 0 {
		// The cap is that of the pool, or it would make a queue there.
		facts.Kind, backends = "fastcgi", up.FastCGI
		facts.Workers = up.MaxInFlight * len(backends)
	}
	var addresses []string
	for _, backend := range backends {
		addresses = append(addresses, backend.String())
	}
	facts.Address = strings.Join(addresses, ", ")
	m, err := meterOf(backends)
	if err != nil {
		facts.Fingerprint = map[string]string{"resources": "not known: " + err.Error()}
		return facts, nil
	}
	return facts, m.look
}

// benchClient is who asks: this machine, by https where the site has that.
func benchClient(cfg *conf.Config) *identity.Client {
	scheme := "http"
	if endpoint(cfg, "https") != nil {
		scheme = "https"
	}
	return &identity.Client{Addr: "127.0.0.1", Scheme: scheme, ServerPort: strconv.Itoa(port(cfg, scheme))}
}

// asking puts requests as the chain would that a client's request passes.
type asking struct {
	files   *static.Files
	dialect dialect
	client  *identity.Client
	record  atomic.Pointer[observe.Record] // with the release of now; nobody writes to it
}

func (p *asking) prepare(r *http.Request) (*http.Request, error) {
	release, err := p.files.Release()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRelease, err)
	}
	r.Header = r.Header.Clone() // the dialect speaks through it
	removeClaims(r.Header)
	r = identity.With(r.WithContext(p.context(r.Context(), release)), p.client)
	out, _, err := p.dialect.request(r.Context(), r, r.RequestURI)
	return out, err
}

func (p *asking) context(ctx context.Context, release string) context.Context {
	record := p.record.Load()
	if record == nil || record.Release != release {
		record = &observe.Record{Release: release}
		p.record.Store(record)
	}
	return observe.WithRecord(ctx, record)
}

// attendOnce has a group send a request once, and tell of its connection. Hooks of httptrace would do, but to combine
// them with the group's own takes longer than all the rest of a request.
func attendOnce(ctx context.Context, a *load.Attendant) context.Context {
	return upstream.WithTrace(upstream.WithoutRetry(ctx), &upstream.Trace{Connected: a.Connected})
}
