package proxy

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gateway/conf"
	"gateway/proxy/certs"
	"gateway/proxy/observe"
	"gateway/upstream"
)

// Status is what a running gateway says of itself.
type Status struct {
	Started   time.Time        `json:"started"`
	Files     []string         `json:"files"` // of the configuration that is served
	Listen    []string         `json:"listen"`
	Sites     []SiteStatus     `json:"sites"`
	Upstreams []UpstreamStatus `json:"upstreams"`
	Tunnels   int              `json:"tunnels"` // open upgraded connections

	Certificates []certs.HostStatus `json:"certificates,omitempty"` // none without an https listener
}

// SiteStatus is one site as it is configured.
type SiteStatus struct {
	Hosts []string       `json:"hosts"`
	Root  string         `json:"root"`
	App   string         `json:"app"`
	Split []VariantShare `json:"split,omitempty"`
}

// VariantShare is the share of users that a variant has, in percent.
type VariantShare struct {
	Upstream string  `json:"upstream"`
	Percent  float64 `json:"percent"`
}

// UpstreamStatus is one upstream at this moment.
type UpstreamStatus struct {
	Name     string                   `json:"name"`
	Queued   int                      `json:"queued"`
	Backends []upstream.BackendStatus `json:"backends"`
}

// Status returns the state of the gateway. It is the zero value after Shutdown.
func (g *Gateway) Status() Status {
	s := g.acquire()
	if s == nil {
		return Status{}
	}
	defer s.release()
	status := Status{Started: g.started, Files: s.value.cfg.Files, Tunnels: g.tunnels.count()}
	for _, at := range s.value.cfg.Listen {
		status.Listen = append(status.Listen, at.String())
	}
	for _, site := range s.value.cfg.Sites {
		status.Sites = append(status.Sites, siteStatus(site))
	}
	if s.value.certs != nil {
		status.Certificates = s.value.certs.value.Status()
	}
	for _, name := range slices.Sorted(maps.Keys(s.value.groups)) {
		group := s.value.groups[name].value
		status.Upstreams = append(status.Upstreams, UpstreamStatus{Name: name, Queued: group.Queued(), Backends: group.Status()})
	}
	return status
}

func siteStatus(site conf.Site) SiteStatus {
	status := SiteStatus{Hosts: site.Hosts, Root: site.Root, App: site.App}
	for _, w := range site.Split.Weights {
		status.Split = append(status.Split, VariantShare{Upstream: w.Upstream, Percent: float64(w.Share) / 100})
	}
	return status
}

// Metrics serves what has been counted since the start, in Prometheus' text format.
func (g *Gateway) Metrics() http.Handler {
	return promhttp.HandlerFor(g.registry, promhttp.HandlerOpts{Registry: g.registry})
}

// groupStatus is what the gauges of upstreams are read from at each scrape.
func (g *Gateway) groupStatus() []observe.GroupStatus {
	s := g.acquire()
	if s == nil {
		return nil
	}
	defer s.release()
	var all []observe.GroupStatus
	for name, group := range s.value.groups {
		one := observe.GroupStatus{Name: name, Queued: group.value.Queued(), QueueLength: s.value.cfg.Upstreams[name].Queue}
		for _, b := range group.value.Status() {
			// The last backend is tried even when it is down, but it is not up.
			one.Backends = append(one.Backends, observe.BackendStatus{
				Addr: b.Addr, InFlight: b.InFlight, MaxInFlight: b.MaxInFlight, Ejected: !b.Ejected.IsZero() || !b.Down.IsZero(),
			})
		}
		all = append(all, one)
	}
	return all
}
