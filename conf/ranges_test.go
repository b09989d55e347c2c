package conf

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestNetworksAreReadFromEveryForm(t *testing.T) {
	dir := write(t, map[string]string{
		"gateway.toml": "trusted_proxies = [\"10.0.0.0/8\", \"1.2.3.4\", \"::ffff:1.2.3.5\", \"loopback\", \"file:cdn.txt\"]\n" + short,
		"cdn.txt":      "# of a CDN\n\n 192.0.2.0/24 # one\r\n2001:db8::/32\n",
	})
	cfg, err := Load(filepath.Join(dir, "gateway.toml"))
	must(t, err)
	const want = "[10.0.0.0/8 1.2.3.4/32 1.2.3.5/32 127.0.0.0/8 ::1/128 192.0.2.0/24 2001:db8::/32]"
	if got := fmt.Sprint(Networks(cfg.TrustedProxies)); got != want {
		t.Errorf("networks = %s, want %s", got, want)
	}
	if list := filepath.Join(dir, "cdn.txt"); !strings.Contains(strings.Join(cfg.Files, " "), list) {
		t.Errorf("files = %v, want the list too", cfg.Files)
	}
}

func TestFaultsOfNetworks(t *testing.T) {
	const want = `; want a network such as "10.0.0.0/8", an address, "private", "loopback" or "file:`
	for _, c := range []struct{ name, text, want string }{
		{"a name", `trusted_proxies = [«"cdn.example"]`, `trusted_proxies[0]: got "cdn.example": no network` + want},
		{"bits behind the network's", `trusted_proxies = [«"10.1.2.3/8"]`, `trusted_proxies[0]: got "10.1.2.3/8": the network is 10.0.0.0/8` + want},
		{"a preset in capitals", `trusted_proxies = [«"Private"]`, `trusted_proxies[0]: got "Private": no network`},
		{"no preset", `trusted_proxies = [«" "]`, `trusted_proxies[0]: got " ": nothing there`},
		{"no file", `trusted_proxies = [«"file:"]`, `trusted_proxies[0]: got "file:": no path`},
		{"a file that is not there", `trusted_proxies = ["::1", «"file:/nowhere/a.txt"]`, `trusted_proxies[1]: a.txt cannot be read: no such file`},
		{"a string", `trusted_proxies = «"private"`, `trusted_proxies: got a string; want a list: put it in brackets, ["private"]`},
		{"another header", `forwarded_header = «"X-Real-IP"`, `forwarded_header: unknown "X-Real-IP"; want X-Forwarded-For or Forwarded`},
		{"a listener that is none", "trusted_proxies = [\"::1\"]\nproxy_protocol = [«\"http://:81\"]", `proxy_protocol[0]: "http://:81" is not listened on; want one of listen`},
		{"h2c of nobody", `h2c = «true`, `trusted_proxies: missing; h2c wants the addresses of the proxies`},
		{"headers of nobody", `proxy_protocol = «["http://:80"]`, `trusted_proxies: missing; proxy_protocol wants the addresses of the proxies`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, c.text+"\n"+rest, c.want) })
	}
}

func TestFaultsOfLists(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8\ncdn.example\n": "cdn.txt: line 2: no network; want a network such as",
		"# nothing\n":               "cdn.txt: holds no network",
		"":                          "cdn.txt: holds no network",
	} {
		dir := write(t, map[string]string{"gateway.toml": "trusted_proxies = [\"file:cdn.txt\"]\n" + short, "cdn.txt": text})
		_, err := Load(filepath.Join(dir, "gateway.toml"))
		if faults := faultsOf(t, err); len(faults) != 1 || !strings.HasPrefix(faults[0].Msg, want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzNetworks looks for panics and for networks that are none.
func FuzzNetworks(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8", "private", "file:a", "::1\n1.2.3.4 # x", "fe80::1%eth0", "::ffff:1.2.3.4/97", "0.0.0.0/0", "/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := parseRange(&source{dir: "/"}, text); err == nil {
			if r := parsed.(Range); (len(r.Networks) == 0) == (r.File == "") {
				t.Errorf("%q = %v", text, r)
			}
		}
		all, err := parseList([]byte(text))
		if (len(all) == 0) == (err == nil) {
			t.Errorf("%q = %v, %v", text, all, err)
		}
		for _, network := range all {
			if !network.IsValid() || network != network.Masked() {
				t.Errorf("%q holds %v", text, network)
			}
		}
	})
}
