package identity

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// asked is a request from peer with header lines "Name: value".
func asked(peer string, lines ...string) *http.Request {
	r := httptest.NewRequest("GET", "http://shop.example/", nil)
	r.RemoteAddr = peer
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func TestWalkStopsAtTheFirstAddressThatIsNotTrusted(t *testing.T) {
	v := New(Config{Trusted: networks("10.0.0.0/8", "2001:db8::/32", "::ffff:192.168.0.0/112")})
	for _, c := range []struct{ peer, chain, want string }{
		{"10.0.0.1:5", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"},
		{"10.0.0.1:5", "6.6.6.6,1.2.3.4", "1.2.3.4"},
		{"10.0.0.1:5", "1.2.3.4:5678", "1.2.3.4 5678"},
		{"10.0.0.1:5", "1.2.3.4|10.0.0.2, 10.0.0.3", "1.2.3.4"},
		{"10.0.0.1:5", "10.0.0.9, 10.0.0.2", "10.0.0.9"},
		{"10.0.0.1:5", "unknown, 10.0.0.2", "10.0.0.2"},
		{"10.0.0.1:5", "1.2.3.4, _hidden", "10.0.0.1 5"},
		{"10.0.0.1:5", "1.2.3.4, ", "10.0.0.1 5"},
		{"10.0.0.1:5", "1.2.3.4, 6.6.6.6 7.7.7.7", "10.0.0.1 5"},
		{"10.0.0.1:5", "[2001:db9::1]:99", "2001:db9::1 99"},
		{"10.0.0.1:5", "2001:db9::1, 2001:db8::7", "2001:db9::1"},
		{"10.0.0.1:5", "1.2.3.4, ::ffff:10.0.0.2, fe80::1%eth0", "fe80::1"},
		{"10.0.0.1:5", "1.2.3.4, ::ffff:10.0.0.2", "1.2.3.4"},
		{"[2001:db8::2]:5", "1.2.3.4", "1.2.3.4"},
		{"192.168.0.77:5", "1.2.3.4", "1.2.3.4"},
		{"[::ffff:10.1.1.1]:5", "1.2.3.4", "1.2.3.4"},
		{"9.9.9.9:5", "1.2.3.4", ""},
		{"@", "1.2.3.4", ""},
		{"10.0.0.1:5", "", ""},
	} {
		r := asked(c.peer)
		if c.chain != "" {
			r.Header["X-Forwarded-For"] = strings.Split(c.chain, "|")
		}
		r.Header.Set("Forwarded", "for=7.7.7.7") // is not looked at
		if got := resolved(v, r); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.peer, c.chain, got, c.want)
		}
	}
}

// resolved is the address and, where it is known, the port.
func resolved(v *Resolver, r *http.Request) string {
	c, ok := v.Resolve(r)
	if !ok {
		return ""
	}
	return strings.TrimSpace(c.Addr + " " + c.Port)
}

func TestSchemePortAndHostFollowTheWalk(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string // scheme, port, named port, host
	}{
		{"nothing but the address", []string{"X-Forwarded-For: 1.2.3.4"}, "http 80  "},
		{"proto alone", []string{"X-Forwarded-Proto: https"}, "https 443  "},
		{"proto", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: HTTPS"}, "https 443  "},
		{"proto of a WebSocket", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: wss"}, "https 443  "},
		{"proto that is none", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: gopher"}, "http 80  "},
		{"port", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Port: 8443"}, "https 8443 8443 "},
		{"port that is none", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Port: 0x50"}, "http 80  "},
		{"host", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: www.example:444"}, "https 444  www.example:444"},
		{"host that is none", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: a/b"}, "http 80  "},
		// A client writes https in front of what its proxy adds.
		{"one value each", []string{"X-Forwarded-For: 6.6.6.6, 1.2.3.4", "X-Forwarded-Proto: https, http"}, "http 80  "},
		{"two hops, two values", []string{"X-Forwarded-For: 1.2.3.4, 10.0.0.2", "X-Forwarded-Proto: https, http"}, "https 443  "},
		{"two hops, one value", []string{"X-Forwarded-For: 1.2.3.4, 10.0.0.2", "X-Forwarded-Proto: https"}, "https 443  "},
		{"one hop, value of nobody", []string{"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https, gopher"}, "http 80  "},
	} {
		v := New(Config{Trusted: networks("10.0.0.0/8"), Host: true})
		got, ok := v.Resolve(asked("10.0.0.1:5", c.lines...))
		if !ok {
			t.Errorf("%s: nothing", c.name)
			continue
		}
		if all := strings.Join([]string{got.Scheme, got.ServerPort, got.ForwardedPort, got.Host}, " "); all != c.want {
			t.Errorf("%s: %q, want %q", c.name, all, c.want)
		}
	}
}

func TestHostIsBelievedOnlyWhereThatIsSaid(t *testing.T) {
	r := asked("10.0.0.1:5", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: evil.example")
	if c, _ := New(Config{Trusted: networks("10.0.0.0/8")}).Resolve(r); c == nil || c.Host != "" {
		t.Errorf("client = %+v, want one without a host", c)
	}
}

func TestForwarded(t *testing.T) {
	v := New(Config{Trusted: networks("10.0.0.0/8"), Header: Forwarded, Host: true})
	for _, c := range []struct{ lines, want string }{
		{"for=1.2.3.4", "1.2.3.4  http "},
		{`For="1.2.3.4:567";Proto=https;by=10.0.0.1`, "1.2.3.4 567 https "},
		{`for="[2001:db8::1]:99"`, "2001:db8::1 99 http "},
		{`for=6.6.6.6, for=1.2.3.4;proto=https;host="www.example:444", for=10.0.0.2;proto=http`, "1.2.3.4  https www.example:444"},
		{"for=6.6.6.6, for=1.2.3.4|for=10.0.0.2", "1.2.3.4  http "},
		{"for=unknown;proto=https", "10.0.0.1 5 https "},
		{"for=1.2.3.4, for=_secret", "10.0.0.1 5 http "},
		// Whatever a client writes in front, the part of the proxy is read in the same way.
		{`for=", for=1.2.3.4`, "1.2.3.4  http "},
		{`for="x\, for="1.2.3.4:5"`, "1.2.3.4 5 http "},
		{`"""", for=1.2.3.4`, "1.2.3.4  http "},
		// A quoted comma or semicolon is none.
		{`for=1.2.3.4;ext="a,b;c\"d"`, "1.2.3.4  http "},
		// Elements that are none say nothing.
		{"for=1.2.3.4;for=6.6.6.6", "10.0.0.1 5 http "},
		{"1.2.3.4", "10.0.0.1 5 http "},
		{`for="1.2.3.4`, "10.0.0.1 5 http "},
		{"for=1.2.3.4;;proto=https;", "1.2.3.4  https "},
	} {
		r := asked("10.0.0.1:5", "X-Forwarded-For: 7.7.7.7", "X-Forwarded-Proto: https")
		r.Header["Forwarded"] = strings.Split(c.lines, "|")
		got, ok := v.Resolve(r)
		if !ok {
			t.Errorf("%s: nothing", c.lines)
			continue
		}
		if all := got.Addr + " " + got.Port + " " + got.Scheme + " " + got.Host; all != c.want {
			t.Errorf("%s: %q, want %q", c.lines, all, c.want)
		}
	}
}

// FuzzResolve looks for panics and for what a client writes and thereby changes how its proxy is read.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"", "1.2.3.4", "a, b", `for="`, `"\`, `for=1;for="2,`, ";;,,", `a="\"`, "1.2.3.4:5, [::1]:6", "\\"} {
		f.Add(seed)
	}
	x := New(Config{Trusted: networks("10.0.0.0/8"), Host: true})
	rfc := New(Config{Trusted: networks("10.0.0.0/8"), Header: Forwarded, Host: true})
	f.Fuzz(func(t *testing.T, written string) {
		r := asked("10.0.0.1:5")
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "Forwarded"} {
			r.Header[name] = []string{written}
		}
		x.Resolve(r)
		rfc.Resolve(r)
		r.Header["X-Forwarded-For"] = []string{written + ", 1.2.3.4"}
		r.Header["Forwarded"] = []string{written + `, for="1.2.3.4";proto=https`}
		r.Header["X-Forwarded-Proto"] = []string{written + ", https"}
		for _, v := range []*Resolver{x, rfc} {
			if c, ok := v.Resolve(r); !ok || c.Addr != "1.2.3.4" || c.Scheme != "https" {
				t.Errorf("behind %q: %+v", written, c)
			}
		}
	})
}
