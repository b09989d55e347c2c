package proxy

import (
	"net/http"
	"time"

	"gateway/conf"
	"gateway/fastcgi"
	"gateway/proxy/static"
)

// writeTimeout is how long a client may take for each piece of its answer.
const writeTimeout = 60 * time.Second

// site builds what comes after the site is known, outermost first.
func (b *builder) site(cfg conf.Site) (http.Handler, error) {
	files, err := static.New(static.Config{Root: cfg.Root, Index: cfg.Index, SymlinkTargets: cfg.SymlinkTargets})
	if err != nil {
		return nil, err
	}
	app, err := b.app(cfg)
	if err != nil {
		return nil, err
	}
	guards, err := b.guards(cfg)
	if err != nil {
		return nil, err
	}
	down, err := b.maintenance(cfg)
	if err != nil {
		return nil, err
	}
	return outermostFirst(app, append(guards, // who may come at all
		limitBody(cfg.Limits.Body, cfg.Limits.BodyTimeout, b.cfg.Limits.BodyMinRate),
		serveFiles(files, headers(cfg.Headers)),
		limitRates(b.rates(cfg)),
		down,
	)...), nil
}

// app is the application behind the files: one upstream, or a split among several.
func (b *builder) app(cfg conf.Site) (http.Handler, error) {
	app := b.variant(cfg, cfg.App, 0)
	if len(cfg.Split.Weights) == 0 {
		return app.forward, nil
	}
	key, err := b.splitKey(cfg.Split)
	if err != nil {
		return nil, err
	}
	s := &split{
		app: app, cookie: cfg.Split.Cookie, maxAge: cfg.Split.CookieMaxAge, key: key,
		overrideHeader: cfg.Split.OverrideHeader, overrideCookie: cfg.Split.OverrideCookie,
	}
	for _, w := range cfg.Split.Weights {
		s.variants = append(s.variants, b.variant(cfg, w.Upstream, w.Share))
	}
	return s, nil
}

func (b *builder) variant(cfg conf.Site, upstream string, points int) *variant {
	return &variant{name: upstream, points: points, forward: b.forward(cfg, upstream)}
}

func (b *builder) splitKey(cfg conf.Split) ([]byte, error) {
	if cfg.Secret != "" {
		return []byte(cfg.Secret), nil
	}
	if b.gateway.dry {
		return make([]byte, keySize), nil
	}
	return keptKey(b.cfg.Storage)
}

func (b *builder) forward(site conf.Site, name string) *forward {
	cfg := b.cfg.Upstreams[name]
	f := &forward{
		group: b.state.groups[name].value, headers: headers(site.Headers), dialect: dialectOf(site, cfg),
		storage: storage{budget: b.gateway.budget, limit: b.cfg.Limits.ResponseSpool},
		idle:    cfg.TunnelIdle, tunnels: &b.gateway.tunnels, state: b.state,
	}
	f.hints = len(cfg.HTTP) > 0
	return f
}

// dialectOf is how the site's requests are put to an upstream.
func dialectOf(site conf.Site, upstream conf.Upstream) dialect {
	if len(upstream.FastCGI) == 0 {
		return &octane{"/" + site.Index}
	}
	return &fpm{
		script: "/" + site.Index, serverName: site.ServerName, params: params(site.Params), named: len(site.Auth.Users) > 0,
	}
}

func params(from []conf.Param) []fastcgi.Param {
	to := make([]fastcgi.Param, len(from))
	for i, p := range from {
		to[i] = fastcgi.Param(p)
	}
	return to
}

func headers(from []conf.Header) []header {
	to := make([]header, len(from))
	for i, h := range from {
		to[i] = header{h.Name, []string{h.Value}}
	}
	return to
}
