package conf

import "testing"

func TestFaultsOfTLS(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"staging beside ca", "[tls]\nstaging = true\nca = «\"https://ca.example/dir\"", `tls.ca: is another authority than that of tls.staging`},
		{"half an external account", "[tls]\neab_id = «\"x\"", `tls.eab_key: missing; it is given out together with eab_id`},
		{"the other half", "[tls]\neab_key = «\"x\"", `tls.eab_id: missing; it is given out together with eab_key`},
		{"half an account of a fallback", "[tls]\nfallback = [{ ca = \"https://ca.example\", eab_id = «\"x\" }]", `tls.fallback[0].eab_key: missing`},
		{"fallback without ca", "[tls]\nfallback = [«{ ca_root = \"x\" }]", `tls.fallback[0].ca: missing; want a URL that begins with https://`},
		{"curve", "[tls]\ncurves = [\"p256\", «\"x448\"]", `tls.curves[1]: unknown "x448"; want x25519mlkem768, x25519, p256, p384 or p521`},
		{"no curve", "[tls]\ncurves = «[]", `tls.curves: empty; want at least one`},
		{"kind of key", "[tls]\nkey_type = «\"rsa\"", `tls.key_type: unknown "rsa"; want p256, p384 or rsa2048`},

		{"provider", "[tls.dns]\nprovider = «\"cloudflair\"", `tls.dns.provider: unknown "cloudflair"; want acmedns, cloudflare, digitalocean, exec, hetzner, rfc2136 or route53; did you mean "cloudflare"?`},
		{"option of the provider", "[tls.dns]\nprovider = \"cloudflare\"\n«api_tokn = \"x\"", `tls.dns.api_tokn: unknown key; did you mean "api_token"?; cloudflare has api_token, zone_token`},
		{"option of another provider", "[tls.dns]\nprovider = \"exec\"\n«auth_token = \"x\"", `tls.dns.auth_token: unknown key; exec has command`},
		{"option that is no string", "[tls.dns]\nprovider = \"exec\"\ncommand = «5", `tls.dns.command: got a whole number; want a string`},
		{"options of nobody", "[tls.«dns]\napi_token = \"x\"", `tls.dns.provider: missing; want acmedns,`},
		{"resolver", "[tls.dns]\nresolvers = [«\"udp://1.1.1.1\"]", `tls.dns.resolvers[0]: got "udp://1.1.1.1":`},

		{"on demand without permission", "[tls.«on_demand]\nper_minute = 5", `tls.on_demand.permission: missing; want the URL`},
		{"permission", "[tls.on_demand]\npermission = «\"localhost:8000\"", `tls.on_demand.permission: got "localhost:8000": neither "http://" nor "https://"`},
		{"no certificate a minute", "[tls.on_demand]\npermission = \"\"\nper_minute = «0", `tls.on_demand.per_minute: got 0: out of range`},

		{"dns without acme", "[tls]\nissuer = \"internal\"\n[tls.dns]\nprovider = «\"route53\"", `tls.dns.provider: is used with issuer "acme" only; the issuer is "internal"`},
		{"on demand without acme", "[tls]\nissuer = \"internal\"\n[tls.on_demand]\npermission = «\"http://a\"", `tls.on_demand.permission: is used with issuer "acme" only`},

		{"redis without an address", "[tls.«redis]\ndatabase = 1", `tls.redis.address: missing`},
		{"redis as a URL", "[tls.redis]\naddress = «\"redis://127.0.0.1:6379\"", `tls.redis.address: got "redis://127.0.0.1:6379": a user, a password and TLS are keys of their own`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, c.text+rest, c.want) })
	}
}

func TestFaultsOfClientCertificates(t *testing.T) {
	wantFaults(t, rest+"\n[site.«client_certificates]\nmode = \"verify\"", `site[0].client_certificates.ca: missing; want a PEM file`)
	wantFaults(t, rest+"\n[site.client_certificates]\nca = \"a\"\nmode = «\"ask\"", `site[0].client_certificates.mode: unknown "ask"; want require or verify`)
}
