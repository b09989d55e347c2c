package identity

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

func TestConnectionSaysWhoAsksWhenNobodyElseDoes(t *testing.T) {
	r := asked("[::1]:12345", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https")
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 8080}))
	if got, want := Of(r), (Client{Addr: "::1", Port: "12345", Scheme: "http", ServerPort: "8080"}); got != want {
		t.Errorf("client = %+v, want %+v", got, want)
	}
	r.TLS = new(tls.ConnectionState)
	if Scheme(r) != "https" || IP(r) != netip.MustParseAddr("::1") {
		t.Errorf("scheme %s, address %s", Scheme(r), IP(r))
	}
}

func TestWhatWasResolvedIsTheAnswer(t *testing.T) {
	r := With(asked("10.0.0.1:5"), &Client{Addr: "1.2.3.4", Scheme: "https"})
	if Of(r).Addr != "1.2.3.4" || Scheme(r) != "https" || IP(r) != netip.MustParseAddr("1.2.3.4") {
		t.Errorf("client %+v, scheme %s, address %s", Of(r), Scheme(r), IP(r))
	}
}

func TestAddressesHaveOneSpelling(t *testing.T) {
	for in, want := range map[string]string{"[::ffff:1.2.3.4]:5": "1.2.3.4", "[fe80::1%eth0]:5": "fe80::1", "@": "invalid IP"} {
		if got := IP(asked(in)).String(); got != want {
			t.Errorf("%s = %s, want %s", in, got, want)
		}
	}
}

func TestPortOfAHost(t *testing.T) {
	for host, want := range map[string]string{"a": "443", "a:81": "81", "a:": "443", "a:0": "443", "[::1]": "443", "[::1]:82": "82", "81": "443"} {
		if got := PortOf(host, "https"); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// What nobody has set up must not cost anything on the way of a request.
func TestNothingIsAllocatedForAClientWithoutProxies(t *testing.T) {
	r, v := asked("1.2.3.4:5"), New(Config{})
	allocations := testing.AllocsPerRun(100, func() {
		if _, ok := v.Resolve(r); ok || Scheme(r) != "http" || !IP(r).IsValid() {
			t.Error("resolved")
		}
	})
	if allocations != 0 {
		t.Errorf("%g allocations, want none", allocations)
	}
}

func BenchmarkResolve(b *testing.B) {
	v := New(Config{Trusted: networks("10.0.0.0/8", "192.168.0.0/16")})
	r := asked("10.0.0.1:5", "X-Forwarded-For: 1.2.3.4, 10.0.0.2", "X-Forwarded-Proto: https")
	b.ReportAllocs()
	for b.Loop() {
		v.Resolve(r)
	}
}
