package proxy

import (
	"fmt"
	"reflect"

	"go.uber.org/zap"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
)

// builder turns a configuration into a state. It is the one place that knows every type.
type builder struct {
	gateway *Gateway
	cfg     *conf.Config
	old     *state // nil at the start
	log     *zap.Logger
	state   *state

	resolver *identity.Resolver // nil when no proxy is trusted
}

// build returns the state for cfg. What is configured alike in old is shared with it. After an error
// nothing is left open.
func (g *Gateway) build(cfg *conf.Config, old *state) (*state, error) {
	b := &builder{gateway: g, cfg: cfg, old: old, resolver: resolver(cfg), state: &state{
		cfg: cfg, ended: make(chan struct{}), groups: make(map[string]*shared[*group]), rates: make(map[rateName]*limit.Rate),
	}}
	for _, step := range []func() error{b.openLog, b.openGroups, b.openCerts, b.buildHandler} {
		if err := step(); err != nil {
			b.state.close()
			return nil, err
		}
	}
	return b.state, nil
}

func (b *builder) openLog() error {
	if b.gateway.dry {
		b.log = zap.NewNop()
		return nil
	}
	if b.old != nil && b.old.cfg.Log == b.cfg.Log && b.old.log.retain() {
		b.state.log = b.old.log
	} else {
		log, err := observe.NewLogger(observe.LogConfig{
			Format: b.cfg.Log.Format, Level: b.cfg.Log.Level, Output: b.cfg.Log.Output,
		})
		if err != nil {
			return fmt.Errorf("log.output: %w", err)
		}
		// Where the last lines cannot be written, the failure cannot be told either.
		b.state.log = share(log, func(log *observe.Logger) { _ = log.Close() })
	}
	b.log = b.state.log.value.Logger
	return nil
}

// keepsLog says whether what the old state has may go on writing to its log.
func (b *builder) keepsLog() bool { return b.old != nil && b.old.log == b.state.log }

func (b *builder) openGroups() error {
	for name, cfg := range b.cfg.Upstreams {
		if b.keepsLog() && reflect.DeepEqual(b.old.cfg.Upstreams[name], cfg) && b.old.groups[name].retain() {
			b.state.groups[name] = b.old.groups[name]
			continue
		}
		opened, err := openGroup(cfg, b.gateway.budget, b.log)
		if err != nil {
			return fmt.Errorf("upstream.%s: %w", name, err)
		}
		b.state.groups[name] = share(opened, (*group).close)
	}
	return nil
}

// buildHandler builds the whole chain, outermost first.
func (b *builder) buildHandler() error {
	access := b.log
	if !b.cfg.Log.Access {
		access = nil
	}
	observer, err := observe.New(observe.Config{Log: access, Registry: b.gateway.registry})
	if err != nil {
		return err
	}
	if err := observer.RegisterGroups(b.gateway.groupStatus); err != nil {
		return err
	}
	hosts, err := b.sites()
	if err != nil {
		return err
	}
	b.state.door = newDoor(b.cfg, b.resolver)
	b.state.handler = outermostFirst(hosts,
		observer.Wrap, // record, request id, access log
		guard(b.log),
		hosts.agree, // before a proxy may name another host
		identify(b.resolver),
		limitInFlight(&b.gateway.inFlight, b.cfg.Limits.InFlightPerAddress),
		limitHead(b.cfg.Limits),
		pace(writeTimeout, b.cfg.Limits.ResponseMinRate),
		advertise(b.cfg.HTTP3, b.resolver),
		b.challenges,
		hosts.redirect(httpsPort(b.cfg)),
		acceptConnect,
	)
	return nil
}

func (b *builder) sites() (*hosts, error) {
	all := &hosts{exact: make(map[string]*site), wildcard: make(map[string]*site)}
	for _, cfg := range b.cfg.Sites {
		handler, err := b.site(cfg)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", cfg.Hosts[0], err)
		}
		s := &site{name: cfg.Hosts[0], handler: handler}
		for _, host := range cfg.Hosts {
			all.add(host, s)
		}
	}
	return all, nil
}
