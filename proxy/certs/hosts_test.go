package certs

import "testing"

func TestLocalHosts(t *testing.T) {
	local := []string{
		"localhost", "app.localhost", "shop.test", "*.shop.test", "*.test", "intranet", "printer.local", "db.internal",
		"nas.home.arpa", "127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "fd00::1", "fe80::1", "0.0.0.0",
	}
	public := []string{"shop.example", "test.example", "localhost.example", "8.8.8.8", "2001:db8::1", "172.32.0.1"}
	for _, host := range local {
		if !isLocal(host) {
			t.Errorf("%s is not local", host)
		}
	}
	for _, host := range public {
		if isLocal(host) {
			t.Errorf("%s is local", host)
		}
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"Shop.Example.": "shop.example", "[::1]": "::1", "0:0::1": "::1", "::ffff:10.0.0.1": "10.0.0.1", " a ": "a", "": "",
	} {
		if got := normalize(in); got != want {
			t.Errorf("normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMatches(t *testing.T) {
	cases := []struct {
		pattern, name string
		want          bool
	}{
		{"a.test", "a.test", true},
		{"a.test", "b.test", false},
		{"*.a.test", "b.a.test", true},
		{"*.a.test", "a.test", false},
		{"*.a.test", ".a.test", false},
		{"*.a.test", "c.b.a.test", false},
		{"*.a.test", "ba.test", false},
		{"a.test", "", false},
	}
	for _, c := range cases {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}
