package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gateway/conf"
	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
	"gateway/upstream"
)

// keptForBench is how many connections an arm keeps: more than any block has under way.
const keptForBench = 4096

// dialForBench is how long a connection may take to be made.
const dialForBench = 3 * time.Second

// openURL adds an arm that is any web server.
func (a *Arms) openURL(name, link string) error {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errArm, err)
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return fmt.Errorf("%w: %q; want such as https://shop.example", errArm, link)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil:
		return fmt.Errorf("%w: %q has more than a host; what is asked for is a route", errArm, link)
	}
	if a.Host == "" {
		a.Host = u.Host
	}
	arm := &load.TransportArm{Scheme: u.Scheme, Address: u.Host, Prepare: plainly}
	if u.Scheme == "http" {
		err = a.ownTransport(arm, u)
	} else {
		a.stdTransport(arm, &tls.Config{}, "")
	}
	if err != nil {
		return err
	}
	facts := bench.ArmFacts{Kind: "url", Address: u.Scheme + "://" + u.Host}
	a.All = append(a.All, bench.Arm{Name: name, ArmFacts: facts, Load: arm})
	return nil
}

// ownTransport has arm ask by our own client, which is the cheaper one.
func (a *Arms) ownTransport(arm *load.TransportArm, u *url.URL) error {
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "80")
	}
	t, err := upstream.NewHTTP(upstream.HTTPConfig{Address: address, MaxIdle: keptForBench, DialTimeout: dialForBench})
	if err != nil {
		return err
	}
	arm.Transport = t
	a.closers = append(a.closers, t.Close)
	return nil
}

// stdTransport has arm ask by net/http, over HTTP/1.1. It dials address where that is not empty.
func (a *Arms) stdTransport(arm *load.TransportArm, config *tls.Config, address string) {
	dialer := &net.Dialer{Timeout: dialForBench}
	t := &http.Transport{
		TLSClientConfig: config, DisableCompression: true, MaxIdleConnsPerHost: keptForBench, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		DialContext: func(ctx context.Context, network, asked string) (net.Conn, error) {
			if address != "" {
				asked = address
			}
			return dialer.DialContext(ctx, network, asked)
		},
	}
	arm.Transport = t
	a.closers = append(a.closers, t.CloseIdleConnections)
}

// plainly asks without what net/http would add.
func plainly(r *http.Request) (*http.Request, error) {
	if r.Header["User-Agent"] == nil {
		r.Header = withHeader(r.Header, "User-Agent", "")
	}
	return r, nil
}

func withHeader(h http.Header, name, value string) http.Header {
	h = h.Clone()
	h.Set(name, value)
	return h
}

var errNoFront = errors.New("cannot be asked through the gateway")

// openFront adds an arm that asks an upstream through the gateway that runs with cfg, by the header for tests.
func (a *Arms) openFront(cfg *conf.Config, site *conf.Site, name string) error {
	at := endpoint(cfg, "https")
	up, known := cfg.Upstreams[name]
	switch {
	case !known:
		return noUpstream(cfg, name)
	case at == nil:
		return fmt.Errorf("%s: %w: it has no https address in listen", name, errNoFront)
	case !slices.Contains(usualArms(site), name):
		return fmt.Errorf("%s: %w: it is neither app nor in the split of %s; give it a share of 0", name, errNoFront, site.Hosts[0])
	case len(site.Split.Weights) > 0 && site.Split.OverrideHeader == "":
		return fmt.Errorf("%s: %w: split.override_header is empty", name, errNoFront)
	}
	arm := &load.TransportArm{Scheme: "https", Address: a.Host, Prepare: override(site, name)}
	// Its certificate may be that of a local authority which this machine does not trust. It is this machine's own
	// address, and nothing secret is sent.
	a.stdTransport(arm, &tls.Config{InsecureSkipVerify: true, ServerName: hostname(a.Host)}, reachable(at.Addr))
	facts, look := factsOf(up)
	facts.Address = at.String()
	a.All = append(a.All, bench.Arm{Name: name, ArmFacts: facts, Look: look, Load: arm})
	return nil
}

// override has the split send a request to one variant.
func override(site *conf.Site, name string) func(*http.Request) (*http.Request, error) {
	return func(r *http.Request) (*http.Request, error) {
		if len(site.Split.Weights) > 0 {
			r.Header = withHeader(r.Header, site.Split.OverrideHeader, name)
		}
		return plainly(r)
	}
}

// reachable is where an address can be dialled that is listened on.
func reachable(listened string) string {
	host, port, err := net.SplitHostPort(listened)
	if err != nil {
		return listened
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
