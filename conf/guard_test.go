package conf

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// aHash is bcrypt's of "secret", at the least cost there is.
const aHash = "$2y$04$1oJ3GjOeRkIqPcWTmhfSAOVCPTjTGpo2h3hbbAlUmP8wt3dSBW7XK"

const head = "[[site]]\nhosts = [\"a.example\"]\nroot = \"/srv\"\napp = \"rest\"\n"

func TestGuardsAreRead(t *testing.T) {
	dir := write(t, map[string]string{"down.html": "<p>soon", "gateway.toml": head + `
hsts = { max_age = "730d", subdomains = true, preload = true }
access = { allow = ["private"], deny = ["10.0.0.0/8"] }
forward_auth = { url = "https://auth.example/verify", copy = ["remote-user"], timeout = "1s" }
maintenance = { enabled = true, retry_after = "2m", page = "down.html", secret = "let-me-in", allow = ["::1"], artisan = false }
[site.auth]
realm = "Shop staff"
users = { bob = "` + aHash + `", alice = "` + aHash + `" }
[[site.rate]]
rate = "300/m"
key = "header:x-api-key"
delay = "500ms"
[[site.rate]]
rate = "10/s"
key = "site"
burst = 1
` + rest})
	cfg, err := Load(filepath.Join(dir, "gateway.toml"))
	must(t, err)
	site := cfg.Sites[0]
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"hsts", site.HSTS, HSTS{730 * 24 * time.Hour, true, true}},
		{"allow", len(Networks(site.Access.Allow)), 8},
		{"deny", fmt.Sprint(Networks(site.Access.Deny)), "[10.0.0.0/8]"},
		{"auth", site.Auth, Auth{"Shop staff", []User{{"alice", aHash}, {"bob", aHash}}}},
		{"forward_auth", site.ForwardAuth, ForwardAuth{"https://auth.example/verify", []string{"Remote-User"}, time.Second}},
		{"rates", site.Rates, []Rate{
			{Rate: Frequency{300, time.Minute}, Key: RateKey{"header", "X-Api-Key"}, Burst: 300, Delay: 500 * time.Millisecond},
			{Rate: Frequency{10, time.Second}, Key: RateKey{From: "site"}, Burst: 1},
		}},
		{"maintenance", site.Maintenance.Page, filepath.Join(dir, "down.html")},
		{"files", cfg.Files[1], filepath.Join(dir, "down.html")},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestFaultsOfGuards(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"preload without the rest", "hsts = { max_age = \"1d\", preload = «true }", `site[0].hsts.preload: is for names that have subdomains = true`},
		{"a network that is none", "access = { deny = [«\"a\"] }", `site[0].access.deny[0]: got "a": no network`},
		{"a list that is not there", "access = { allow = [«\"file:/nowhere\"] }", `site[0].access.allow[0]: nowhere cannot be read`},
		{"password in clear", "auth.users = { bob = «\"secret\" }", `site[0].auth.users.bob: is no bcrypt hash; want a bcrypt hash, as htpasswd -nbB`},
		{"hash of another kind", "auth.users = { bob = «\"$apr1$04$1oJ3GjOeRkIqPcWTmhfSAOVCPTjTGpo2h3hbbAlUmP8wt3dSBW7XK\" }", `site[0].auth.users.bob: is no bcrypt hash`},
		{"hash that takes too long", "auth.users = { bob = «\"$2y$15$1oJ3GjOeRkIqPcWTmhfSAOVCPTjTGpo2h3hbbAlUmP8wt3dSBW7XK\" }", `site[0].auth.users.bob: has a cost that is not from 4 to 14`},
		{"name with a colon", "auth.users = { «\"a:b\" = \"x\" }", `site[0].auth.users."a:b": want a name without :`},
		{"realm with a quotation mark", "auth.realm = «'a\"b'", `site[0].auth.realm: got "a\"b": a control character, " or \ has no place here`},
		{"url without a scheme", "forward_auth.url = «\"auth:9091\"", `site[0].forward_auth.url: got "auth:9091": neither "http://" nor "https://"`},
		{"url with a user", "forward_auth.url = «\"http://a:b@c\"", `site[0].forward_auth.url: got "http://a:b@c": want a host, and no user`},
		{"header with _", "forward_auth.copy = [«\"Remote_User\"]", `site[0].forward_auth.copy[0]: got "Remote_User": no name of a header`},
		{"no rate", "[[site.«rate]]\nburst = 1", `site[0].rate[0].rate: missing; want a rate such as "10/s"`},
		{"rate without a unit", "[[site.rate]]\nrate = «\"10\"", `site[0].rate[0].rate: got "10": no unit of time; want a rate`},
		{"rate of nothing", "[[site.rate]]\nrate = «\"0/s\"", `site[0].rate[0].rate: got "0/s": no whole number from 1`},
		{"rate by the day", "[[site.rate]]\nrate = «\"10/d\"", `site[0].rate[0].rate: got "10/d": unknown unit "d"`},
		{"key without a name", "[[site.rate]]\nrate = \"1/s\"\nkey = «\"header:\"", `site[0].rate[0].key: got "header:": no name of a header`},
		{"key with a name", "[[site.rate]]\nrate = \"1/s\"\nkey = «\"client:a\"", `site[0].rate[0].key: got "client:a": client takes no name`},
		{"page that is not there", "maintenance.page = «\"/nowhere.html\"", `site[0].maintenance.page: nowhere.html cannot be read`},
		{"secret that is no path", "maintenance.secret = «\"a/b\"", `site[0].maintenance.secret: is the path that lets its visitor pass`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, head+c.text+"\n"+rest, c.want) })
	}
}

// FuzzGuards looks for panics and for values that break their promises.
func FuzzGuards(f *testing.F) {
	for _, seed := range []string{"10/s", "1/", "header:x-a", "client", "site:", aHash, "http://a/b?c", "https://[::1]:1", "$2a$10$", "////"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if rate, err := parseFrequency(text); err == nil && (rate.Count < 1 || rate.Per < time.Second) {
			t.Errorf("%q = %v", text, rate)
		}
		if key, err := parseRateKey(text); err == nil && (key.From == "header") != (key.Name != "") {
			t.Errorf("%q = %v", text, key)
		}
		if checkHash(text) == nil && len(text) != len(aHash) {
			t.Errorf("%q is no hash", text)
		}
		checkURL(text)
	})
}
