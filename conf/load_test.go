package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestShortFileHasEveryDefault(t *testing.T) {
	cfg := loaded(t, short+`
[upstream.octane]
http = ["127.0.0.1:8000"]
[site.split]
octane = 5
`)
	site := Site{
		Hosts: []string{"shop.example", "www.shop.example"}, Root: "/srv/shop/current/public",
		Index: "index.php", App: "fpm", ServerName: "shop.example",
		Headers: []Header{{"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "SAMEORIGIN"}},
		Limits:  SiteLimits{Body: 128 << 20, BodyTimeout: time.Minute},
		Auth:    Auth{Realm: "Restricted"}, ForwardAuth: ForwardAuth{Timeout: 5 * time.Second},
		Maintenance:        Maintenance{Artisan: true, ArtisanFile: "../storage/framework/down"},
		ClientCertificates: ClientCertificates{Mode: "require"},
		Split: Split{
			Weights: []Weight{{"octane", 500}}, Cookie: "gateway_split", CookieMaxAge: 30 * 24 * time.Hour,
			OverrideHeader: "X-Gateway-Variant", OverrideCookie: "gateway_variant",
		},
	}
	fpm := Upstream{
		Name: "fpm", FastCGI: []Endpoint{{"unix", "/run/php/php8.2-fpm.sock"}},
		Policy: "least_in_flight", HashKey: HashKey{From: "client"},
		MaxInFlight: 5, Queue: 50, QueueWait: 10 * time.Second, TunnelIdle: 10 * time.Minute,
		Timeouts:  Timeouts{Dial: 3 * time.Second, FirstByte: time.Minute, BetweenBytes: time.Minute, Write: time.Minute},
		Keepalive: Keepalive{Idle: 30 * time.Second},
		Health:    Health{Fails: 3, Window: 10 * time.Second, Eject: 10 * time.Second},
	}
	octane := fpm
	octane.Name, octane.FastCGI, octane.HTTP = "octane", nil, []Endpoint{{"tcp", "127.0.0.1:8000"}}
	octane.MaxInFlight, octane.Queue, octane.Keepalive.MaxIdle = 0, 0, 64
	want := &Config{
		Listen:  []Listen{{"https", ":443"}, {"http", ":80"}},
		Admin:   Admin{Endpoint: Endpoint{"unix", "/run/gateway/admin.sock"}},
		Storage: "/var/lib/gateway", Include: []string{"sites/*.toml"},
		ForwardedHeader: "X-Forwarded-For",
		TLS: TLS{
			Issuer: "acme", CA: "https://acme-v02.api.letsencrypt.org/directory", KeyType: "p256",
			Curves: []string{"x25519mlkem768", "x25519", "p256", "p384"}, DNS: DNS{Propagation: 2 * time.Minute},
			OnDemand: OnDemand{Cache: 10 * time.Minute, PerMinute: 10}, Redis: Redis{Prefix: "gateway"},
		},
		Log: Log{Format: "json", Level: "info", Access: true, Output: "stdout"},
		Limits: Limits{
			HeaderBytes: 64 << 10, HeaderLines: 128, URIBytes: 16 << 10, HeaderTimeout: 10 * time.Second, Body: 128 << 20, BodyTimeout: time.Minute,
			IdleTimeout: 75 * time.Second, ResponseSpool: 1 << 30, BodyMinRate: 240, ResponseMinRate: 240, SpoolMemory: 64 << 20, SpoolDisk: 10 << 30, StreamsPerConnection: 128, Grace: 30 * time.Second,
		},
		Sites: []Site{site}, Upstreams: map[string]Upstream{"fpm": fpm, "octane": octane},
		Files: cfg.Files, Digest: cfg.Digest,
	}
	if !reflect.DeepEqual(cfg, want) {
		t.Errorf("config = %+v\n   want %+v", cfg, want)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	cfg := loaded(t, `
listen = ["https://127.0.0.1:8443", "http://[::1]:8080"]
proxy_protocol = ["https://127.0.0.1:8443"]
trusted_proxies = ["10.0.0.0/8", "::1", "loopback"]
forwarded_header = "Forwarded"
forwarded_host = true
http3 = true
h2c = true
admin = "http://127.0.0.1:9180"
admin_token = "open sesame"
storage = "var"
tls = { issuer = "files", cert = "a.pem", key = "/etc/b.pem" }
log = { format = "console", level = "debug", access = false, output = "stderr" }
limits.body = "1GiB"
limits.grace = "0s"
limits.connections_per_address = 100
limits.in_flight_per_address = 20
limits.streams_per_connection = 64
[[site]]
hosts = ["*.Shop.EXAMPLE", "*", "[::1]", "127.0.0.1"]
root = "public"
index = "app/front.php"
app = "o"
symlink_targets = ["media"]
params = { B = "2", A = "1" }
headers = { x-frame-options = "", Referrer-Policy = "same-origin" }
limits = { body_timeout = "1m30s" }
[site.split]
p = 12.34
c = 0
secret = "s"
[upstream]
o.http = ["http://127.0.0.1:8000/", "unix:/run/o.sock", "localhost:1"]
o.policy = "hash"
o.hash_key = "header:X-Tenant"
o.max_in_flight = 1_000
p = { fastcgi = ["127.0.0.1:9000", "[::1]:9000"], max_in_flight = 0x10 }
c = { fastcgi = ["tcp://127.0.0.1:9001"], queue = 7 }
`)
	site, dir := cfg.Sites[0], filepath.Dir(cfg.Files[0])
	o, p := cfg.Upstreams["o"], cfg.Upstreams["p"]
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"listen", cfg.Listen, []Listen{{"https", "127.0.0.1:8443"}, {"http", "[::1]:8080"}}},
		{"proxy_protocol", cfg.ProxyProtocol, []Listen{{"https", "127.0.0.1:8443"}}},
		{"trusted_proxies", fmt.Sprint(Networks(cfg.TrustedProxies)), "[10.0.0.0/8 ::1/128 127.0.0.0/8 ::1/128]"},
		{"forwarded", []any{cfg.ForwardedHeader, cfg.ForwardedHost}, []any{"Forwarded", true}},
		{"per address", []int{cfg.Limits.ConnectionsPerAddress, cfg.Limits.InFlightPerAddress}, []int{100, 20}},
		{"protocols", []any{cfg.HTTP3, cfg.H2C, cfg.Limits.StreamsPerConnection}, []any{true, true, 64}},
		{"admin", cfg.Admin, Admin{Endpoint{"tcp", "127.0.0.1:9180"}, "open sesame"}},
		{"storage", cfg.Storage, filepath.Join(dir, "var")},
		{"cert", cfg.TLS.Cert, filepath.Join(dir, "a.pem")},
		{"key", cfg.TLS.Key, "/etc/b.pem"},
		{"log", cfg.Log, Log{"console", "debug", false, "stderr"}},
		{"body", cfg.Limits.Body, int64(1 << 30)},
		{"grace", cfg.Limits.Grace, time.Duration(0)},
		{"hosts", site.Hosts, []string{"*.shop.example", "*", "::1", "127.0.0.1"}},
		{"server_name", site.ServerName, "::1"},
		{"root", site.Root, filepath.Join(dir, "public")},
		{"index", site.Index, "app/front.php"},
		{"symlink_targets", site.SymlinkTargets, []string{filepath.Join(dir, "media")}},
		{"params", site.Params, []Param{{"A", "1"}, {"B", "2"}}},
		{"headers", site.Headers, []Header{{"Referrer-Policy", "same-origin"}, {"X-Content-Type-Options", "nosniff"}}},
		{"site limits", site.Limits, SiteLimits{1 << 30, 90 * time.Second}},
		{"weights", site.Split.Weights, []Weight{{"c", 0}, {"p", 1234}}},
		{"http", o.HTTP, []Endpoint{{"tcp", "127.0.0.1:8000"}, {"unix", "/run/o.sock"}, {"tcp", "localhost:1"}}},
		{"hash_key", o.HashKey, HashKey{"header", "X-Tenant"}},
		{"queue of three", o.Queue, 30000},
		{"fastcgi", p.FastCGI, []Endpoint{{"tcp", "127.0.0.1:9000"}, {"tcp", "[::1]:9000"}}},
		{"max_in_flight", p.MaxInFlight, 16},
		{"queue", cfg.Upstreams["c"].Queue, 7},
		{"files", cfg.Files[1:3], []string{filepath.Join(dir, "a.pem"), "/etc/b.pem"}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestOneSchemeIsEnough(t *testing.T) {
	for _, listen := range []string{`["http://:80"]`, `["https://:443"]`} {
		if cfg := loaded(t, "listen = "+listen+"\n"+short); len(cfg.Listen) != 1 {
			t.Errorf("listen %s = %v", listen, cfg.Listen)
		}
	}
}

func TestStringsOfAddressesReadBack(t *testing.T) {
	for _, s := range []string{"http://:80", "https://[::1]:8443"} {
		if l, err := parseListen(s); err != nil || l.String() != s {
			t.Errorf("%q = %v, %v", s, l, err)
		}
	}
	for _, s := range []string{"unix:/run/a.sock", "127.0.0.1:9000"} {
		if e, err := parseBackend(s); err != nil || e.String() != s {
			t.Errorf("%q = %v, %v", s, e, err)
		}
	}
}

func TestEnvironmentIsExpandedInStrings(t *testing.T) {
	t.Setenv("GATEWAY_HOST", "shop.example")
	t.Setenv("GATEWAY_EMPTY", "")
	cfg := loaded(t, `
[[site]]
hosts = ["www.${GATEWAY_HOST}"]
root = "/srv/${GATEWAY_HOST}${GATEWAY_EMPTY}/public"
app = "fpm"
params = { PRICE = "5 $$ or $5 or $", NAME = "$${GATEWAY_HOST}" }
[upstream.fpm]
fastcgi = ["127.0.0.1:9000"]
`)
	site := cfg.Sites[0]
	if site.Hosts[0] != "www.shop.example" || site.Root != "/srv/shop.example/public" {
		t.Errorf("host, root = %q, %q", site.Hosts[0], site.Root)
	}
	if want := []Param{{"NAME", "${GATEWAY_HOST}"}, {"PRICE", "5 $ or $5 or $"}}; !reflect.DeepEqual(site.Params, want) {
		t.Errorf("params = %q, want %q", site.Params, want)
	}
}

func TestDigestFollowsContent(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": short})
	path := filepath.Join(dir, "gateway.toml")
	first, err := Load(path)
	must(t, err)
	again, err := Load(path)
	must(t, err)
	put(t, path, short+"# a word\n")
	changed, err := Load(path)
	must(t, err)
	if first.Digest != again.Digest || first.Digest == changed.Digest {
		t.Errorf("digests %s, %s, then %s", first.Digest, again.Digest, changed.Digest)
	}
	if sum, there := look(changed.Files); sum != changed.Digest || !there {
		t.Errorf("the watcher sees %s, %v", sum, there)
	}
	must(t, os.Remove(path))
	if _, there := look(changed.Files); there {
		t.Error("a removed file is seen")
	}
}

func TestAdminIsReadFromAFileWithFaults(t *testing.T) {
	t.Setenv("GATEWAY_TEST_TOKEN", "hunter2")
	tcp := Admin{Endpoint{"tcp", "127.0.0.1:1"}, "hunter2"}
	usual := Admin{Endpoint: Endpoint{"unix", "/run/gateway/admin.sock"}}
	head := "admin = \"http://127.0.0.1:1\"\nadmin_token = \"${GATEWAY_TEST_TOKEN}\"\n"
	for _, c := range []struct {
		name, text string
		want       Admin
	}{
		{"good", head + short, tcp},
		{"faults elsewhere", head + "listn = 1\n[[site]]\nhosts = 1\n", tcp},
		{"not TOML further down", head + "[[site]\n", tcp},
		{"the default", "[[site]]\nhosts = [\n", usual},
	} {
		path := filepath.Join(write(t, map[string]string{"gateway.toml": c.text}), "gateway.toml")
		if got, err := LoadAdmin(path); err != nil || got != c.want {
			t.Errorf("%s: admin = %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestFaultsOfAdminAreReported(t *testing.T) {
	dir := write(t, map[string]string{
		"address.toml": "admin = \"run.sock\"\nlistn = 1\n", "token.toml": "admin = \"http://127.0.0.1:1\"\n",
	})
	for name, key := range map[string]string{"address.toml": "admin", "token.toml": "admin_token", "missing.toml": ""} {
		_, err := LoadAdmin(filepath.Join(dir, name))
		if list := faultsOf(t, err); len(list) != 1 || list[0].Key != key {
			t.Errorf("%s: error = %v, want one fault of %q", name, err, key)
		}
	}
}

func TestEveryKeyOfTLSIsRead(t *testing.T) {
	cfg := loaded(t, short+`
[site.client_certificates]
ca = "clients.pem"
mode = "verify"
[tls]
email = "ops@shop.example"
ca_root = "root.pem"
eab_id = "id"
eab_key = "key"
staging = true
fallback = [{ ca = "https://second.example/dir", ca_root = "second.pem", eab_id = "id2", eab_key = "key2" }]
key_type = "p384"
curves = ["p521"]
[tls.dns]
provider = "cloudflare"
zone_token = "z"
api_token = "a"
resolvers = ["1.1.1.1", "::1", "dns.example:5353"]
propagation = "0s"
[tls.on_demand]
permission = "http://127.0.0.1:8000/allowed?a=b"
cache = "1m"
per_minute = 3
[tls.redis]
address = "unix:/run/redis.sock"
username = "u"
password = "p"
database = 2
prefix = "shop"
tls = true
ca_root = "redis.pem"
`)
	dir := filepath.Dir(cfg.Files[0])
	want := TLS{
		Issuer: "acme", Email: "ops@shop.example", CA: letsEncryptStaging, CARoot: filepath.Join(dir, "root.pem"),
		EABID: "id", EABKey: "key", Staging: true,
		Fallback: []Authority{{"https://second.example/dir", filepath.Join(dir, "second.pem"), "id2", "key2"}},
		KeyType:  "p384", Curves: []string{"p521"},
		DNS: DNS{
			Provider: "cloudflare", Options: []Param{{"api_token", "a"}, {"zone_token", "z"}},
			Resolvers: []string{"1.1.1.1:53", "[::1]:53", "dns.example:5353"},
		},
		OnDemand: OnDemand{"http://127.0.0.1:8000/allowed?a=b", time.Minute, 3},
		Redis:    Redis{Endpoint{"unix", "/run/redis.sock"}, "u", "p", 2, "shop", true, filepath.Join(dir, "redis.pem")},
	}
	if !reflect.DeepEqual(cfg.TLS, want) {
		t.Errorf("tls = %+v\nwant %+v", cfg.TLS, want)
	}
	if got, want := cfg.Sites[0].ClientCertificates, (ClientCertificates{filepath.Join(dir, "clients.pem"), "verify"}); got != want {
		t.Errorf("client_certificates = %v, want %v", got, want)
	}
	for _, name := range []string{"clients.pem", "root.pem", "second.pem", "redis.pem"} {
		if !slices.Contains(cfg.Files, filepath.Join(dir, name)) {
			t.Errorf("%s is not watched", name)
		}
	}
}
