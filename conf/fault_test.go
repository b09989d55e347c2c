package conf

import (
	"errors"
	"strings"
	"testing"
)

// rest completes a text that is about something else.
const rest = "\n[[site]]\nhosts = [\"rest.example\"]\nroot = \"/srv\"\napp = \"rest\"\n" +
	"[upstream.rest]\nfastcgi = [\"127.0.0.1:9000\"]\n"

func TestFaultsOfKeysAndValues(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key with a near one", `«lisen = []`, `lisen: unknown key; did you mean "listen"?`},
		{"swapped letters", `[log]` + "\n" + `«fomrat = "json"`, `log.fomrat: unknown key; did you mean "format"?`},
		{"wrong case", `«Listen = ["http://:80"]`, `Listen: unknown key; did you mean "listen"?`},
		{"key of another table", `«header_bytes = "1KiB"`, `header_bytes: unknown key; did you mean limits.header_bytes?`},
		{"key like no other", "[tls]\n" + `«xyzzy = 1`, `tls.xyzzy: unknown key; known here: issuer, email, ca, ca_root, eab_id, eab_key, staging`},
		{"unknown table", `[«limit]`, `limit: unknown key; did you mean "limits"?`},
		{"quoted key", `«"a b" = 1`, `"a b": unknown key; known here: listen, admin,`},
		{"unknown key in an inline table", `log = { format = "json", «lvel = "info" }`, `log.lvel: unknown key; did you mean "level"?`},
		{"unknown dotted key", `limits.«bdy = "1KiB"`, `limits.bdy: unknown key; did you mean "body"?`},

		{"number for a string", `storage = «5`, `storage: got 5 without quotes; want a path`},
		{"string for a list", `listen = «"http://:80"`, `listen: got a string; want a list: put it in brackets, ["http://:80"]`},
		{"list for a table", `tls = «[1]`, `tls: got a list; want a table`},
		{"number in a list", `listen = ["http://:80", «443]`, `listen[1]: got 443 without quotes; want an address such as`},
		{"list in a list", "listen = [ # [\n  \"http://:80\",\n  «[\"a\"], # ]\n]", `listen[1]: got a list; want an address`},
		{"string for true or false", "[log]\naccess = «\"yes\"", `log.access: got the string "yes"; want true or false`},
		{"date for a string", "[log]\noutput = «2020-01-01", `log.output: got 2020-01-01 without quotes; want "stdout", "stderr" or a path`},
		{"secret of another type is not shown", `admin_token = «12345`, `admin_token: got a whole number; want a string`},
		{"columns count characters", `log = { output = "größer", «lvel = "" }`, `log.lvel: unknown key; did you mean "level"?`},

		{"number for a duration", "[limits]\ngrace = «30", `limits.grace: got 30 without quotes; want a duration such as "500ms", "30s"`},
		{"duration without a unit", "[limits]\ngrace = «\"30\"", `limits.grace: got "30": no unit; want a duration`},
		{"duration out of range", "[limits]\nheader_timeout = «\"2h\"", `limits.header_timeout: got "2h": out of range; want a duration such as "500ms", "30s", "10m", "1h30m" or "30d", from 100ms to 1h`},
		{"number for a size", "[limits]\nbody = «1024", `limits.body: got 1024 without quotes; want a size such as`},
		{"size in thousands", "[limits]\nbody = «\"10MB\"", `limits.body: got "10MB": unknown unit "MB"; did you mean "MiB"?; want a size`},
		{"size out of range", "[limits]\nheader_bytes = «\"1KiB\"", `limits.header_bytes: got "1KiB": out of range; want a size such as "512B", "64KiB", "128MiB" or "1GiB", from 4KiB to 16MiB`},
		{"empty string", `storage = «""`, `storage: got "": nothing there; want a path`},
		{"choice", "[log]\nlevel = «\"warning\"", `log.level: unknown "warning"; want debug, info, warn or error; did you mean "warn"?`},

		{"unset variable", `storage = «"/var/${GATEWAY_TEST_UNSET}"`, `storage: environment variable GATEWAY_TEST_UNSET is not set; set it`},
		{"unset variable in a list", `listen = ["http://:80", «"http://${GATEWAY_TEST_UNSET}:81"]`, `listen[1]: environment variable GATEWAY_TEST_UNSET is not set`},
		{"open variable", `storage = «"/${HOME"`, `storage: "${" without "}"; want ${NAME}`},
		{"bad name of a variable", `storage = «"/${a b}"`, `storage: ${a b} names no environment variable`},

		{"listen without a scheme", `listen = [«":80"]`, `listen[0]: got ":80": no scheme; want an address such as "https://:443"`},
		{"HTTP/3 without TLS", "listen = [\"http://:80\"]\nhttp3 = «true", `http3: no address for it; want an https address in listen`},
		{"listen on a star", `listen = [«"http://*:80"]`, `listen[0]: got "http://*:80": every address is written "http://:80"`},
		{"listen with a path", `listen = [«"http://:80/"]`, `listen[0]: got "http://:80/": a path, query or user has no place here`},
		{"listen without a port", `listen = [«"http://127.0.0.1"]`, `listen[0]: got "http://127.0.0.1": no host:port`},
		{"listen on a port too high", `listen = [«"http://:70000"]`, `listen[0]: got "http://:70000": the port is not a number from 0 to 65535`},
		{"listen on ftp", `listen = [«"ftp://:21"]`, `listen[0]: got "ftp://:21": unknown scheme "ftp"`},
		{"listen nowhere", `listen = «[]`, `listen: empty; want at least one address`},
		{"listen twice", `listen = ["http://:80", «"https://:80"]`, `listen[1]: "https://:80" has the address of listen[0] already`},

		{"admin on HTTP without a token", `admin = «"http://127.0.0.1:9180"`, `admin_token: missing; an admin address of HTTP wants a token`},
		{"admin without a scheme", `admin = «"127.0.0.1:9180"`, `admin: got "127.0.0.1:9180": neither "unix:" nor "http://"; want "unix:/run`},
		{"admin on a relative socket", `admin = «"unix:admin.sock"`, `admin: got "unix:admin.sock": the path of a socket is absolute`},
		{"files without a key", "[tls]\nissuer = «\"files\"\ncert = \"a.pem\"", `tls.key: missing; issuer "files" wants a PEM file here`},
		{"cert without files", "[tls]\ncert = «\"a.pem\"", `tls.cert: is read with issuer "files" only; the issuer is "acme"`},
		{"ca without https", "[tls]\nca = «\"ca.example\"", `tls.ca: got "ca.example": no such URL; want a URL that begins with https://`},
		{"include that matches nothing", `include = ["gateway.toml", «"more/*.toml"]`, `include[1]: "more/*.toml" matches no file; want`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, c.text+rest, c.want) })
	}
}

func TestFaultsOfSites(t *testing.T) {
	const head = "[[site]]\nhosts = [\"a.example\"]\nroot = \"/srv\"\napp = \"rest\"\n"
	for _, c := range []struct{ name, text, want string }{
		{"host with a port", "hosts = [\"a.example\", «\"A.example:8080\"]", `site[0].hosts[1]: got "A.example:8080": a host has no port; write "A.example" here and :8080 in listen; want a name`},
		{"host with a scheme", "hosts = [«\"https://a.example\"]", `site[0].hosts[0]: got "https://a.example": a host has no scheme and no path`},
		{"host outside ASCII", "hosts = [«\"bücher.example\"]", `site[0].hosts[0]: got "bücher.example": letters outside ASCII are written in their "xn--" form`},
		{"wildcard in the middle", "hosts = [«\"a.*.example\"]", `site[0].hosts[0]: got "a.*.example": a wildcard is the whole first label`},
		{"host with an empty label", "hosts = [«\"a..example\"]", `site[0].hosts[0]: got "a..example": "" is no label of a name`},
		{"host with a dot at the end", "hosts = [«\"a.example.\"]", `site[0].hosts[0]: got "a.example.": the dot at the end is left out`},
		{"empty host", "hosts = [«\"\"]", `site[0].hosts[0]: got "": nothing there`},
		{"no host", "hosts = «[]", `site[0].hosts: empty; want at least one host`},
		{"host of the same site", "hosts = [\"a.example\", «\"A.EXAMPLE\"]", `site[0].hosts[1]: "a.example" is a host of a site already, in `},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFaults(t, "[[site]]\n"+c.text+"\nroot = \"/srv\"\napp = \"rest\"\n"+rest, c.want)
		})
	}
	for _, c := range []struct{ name, text, want string }{
		{"index above root", "index = «\"../index.php\"", `site[0].index: got "../index.php": not below root; want a file below root`},
		{"limits of all sites", "limits = { «grace = \"1s\" }", `site[0].limits.grace: unknown key; did you mean limits.grace?`},
		{"params that is no table", "params = «[]", `site[0].params: got a list; want a table of strings`},
		{"param that is no string", "params = { A = «1 }", `site[0].params.A: got a whole number; want a string`},
		{"param with a dash", "params = { «A-B = \"\" }", `site[0].params.A-B: want a name of letters, digits and _`},
		{"header with an underscore", "headers = { «X_A = \"\" }", `site[0].headers.X_A: want a name of letters, digits and -`},
		{"header with a line break", `headers = { A = «"a\nb" }`, `site[0].headers.A: the value holds a control character`},
		{"param with a NUL", `params = { A = «"\u0000" }`, `site[0].params.A: the value holds a NUL`},
		{"split to nowhere", "split = { «rset = 5 }", `site[0].split.rset: no upstream "rset"; want rest; did you mean "rest"?`},
		{"split to the app", "split = { «rest = 5 }", `site[0].split.rest: is the app of the site, which gets what the others leave`},
		{"split as a string", "split = { rest2 = «\"5%\" }", `site[0].split.rest2: got a string; want a percentage from 0 to 100 without quotes`},
		{"slip in a key of split", "split = { cokie = «\"a\" }", `site[0].split.cokie: got a string; want a percentage from 0 to 100 without quotes, or one of the keys cookie, cookie_max_age, override_header, override_cookie or secret; did you mean "cookie"?`},
		{"weight over 100", "split = { x = «100.01 }", `site[0].split.x: got 100.01: out of range; want a percentage`},
		{"weight below 0", "split = { x = «-1 }", `site[0].split.x: got -1: out of range`},
		{"weight that is no number", "split = { x = «nan }", `site[0].split.x: got nan: out of range`},
		{"weight too fine", "split = { x = «0.001 }", `site[0].split.x: got 0.001: finer than a hundredth`},
		{"cookie with a space", "split = { cookie = «\"a b\" }", `site[0].split.cookie: got "a b": ' ' has no place in a name`},
		{"one cookie for two things", "split = «{ cookie = \"gateway_variant\" }", `site[0].split.override_cookie: is the name of the split's own cookie`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, head+c.text+"\n"+rest, c.want) })
	}
}

func TestWeightsTogetherAreAtMost100(t *testing.T) {
	const text = short + "[upstream.a]\nhttp = [\"127.0.0.1:1\"]\n[upstream.b]\nhttp = [\"127.0.0.1:2\"]\n"
	loaded(t, text+"[site.split]\na = 40\nb = 60.0\n")
	wantFaults(t, text+"[site.«split]\na = 40.01\nb = 60\n", "site[0].split: the percentages add up to 100.01; want 100 at most")
}

func TestFaultsOfUpstreams(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"both protocols", "fastcgi = [\"a:1\"]\nhttp = «[\"a:1\"]", `upstream.u.http: stands beside fastcgi; want one of them`},
		{"no address", "fastcgi = «[]", `upstream.u.fastcgi: empty; want at least one address`},
		{"one backend twice", "http = [\"a:1\", «\"http://a:1\"]", `upstream.u.http[1]: "a:1" is upstream.u.http[0] already`},
		{"bare path", "fastcgi = [«\"/run/a.sock\"]", `upstream.u.fastcgi[0]: got "/run/a.sock": a socket is written "unix:/run/a.sock"`},
		{"three slashes", "fastcgi = [«\"unix:///run/a.sock\"]", `upstream.u.fastcgi[0]: got "unix:///run/a.sock": a socket is written "unix:/run/a.sock"`},
		{"HTTP in fastcgi", "fastcgi = [«\"http://a:1\"]", `upstream.u.fastcgi[0]: got "http://a:1": this address speaks HTTP and belongs in the key "http"`},
		{"no host", "http = [«\":8000\"]", `upstream.u.http[0]: got ":8000": a backend has a host, such as "127.0.0.1:8000"`},
		{"port 0", "http = [«\"a:0\"]", `upstream.u.http[0]: got "a:0": the port is not a number from 1 to 65535`},
		{"TLS to a backend", "http = [«\"https://a:1\"]", `upstream.u.http[0]: got "https://a:1": backends are spoken to without TLS`},
		{"policy", "http = [\"a:1\"]\npolicy = «\"leastcon\"", `upstream.u.policy: unknown "leastcon"; want round_robin, least_in_flight, power_of_two or hash`},
		{"hash key without a name", "http = [\"a:1\"]\nhash_key = «\"header\"", `upstream.u.hash_key: got "header": header needs a name, such as "header:X-Tenant"; want "client", "uri"`},
		{"hash key with a name too many", "http = [\"a:1\"]\nhash_key = «\"uri:a\"", `upstream.u.hash_key: got "uri:a": uri takes no name`},
		{"unknown hash key", "http = [\"a:1\"]\nhash_key = «\"ip\"", `upstream.u.hash_key: got "ip": unknown; want "client"`},
		{"negative number", "http = [\"a:1\"]\nmax_in_flight = «-1", `upstream.u.max_in_flight: got -1: out of range; want a whole number, from 0 to 1000000`},
		{"string for a number", "http = [\"a:1\"]\nqueue = «\"5\"", `upstream.u.queue: got the string "5"; want a whole number`},
		{"nested duration", "http = [\"a:1\"]\ntimeouts = { dial = «\"3 s\" }", `upstream.u.timeouts.dial: got "3 s": unknown unit " s"`},
		{"tunnels over FastCGI", "fastcgi = [\"a:1\"]\ntunnel_idle = «\"1m\"", `upstream.u.tunnel_idle: is for http only; FastCGI has no tunnels`},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, "[upstream.u]\n"+c.text+"\n"+rest, c.want) })
	}
}

func TestFaultsOfUpstreamNames(t *testing.T) {
	wantFaults(t, "[upstream.«none]\n"+rest, `upstream.none: no backends; want fastcgi = ["unix:/run/php/php8.2-fpm.sock"] or http`)
	wantFaults(t, "[upstream.«cookie]\nhttp = [\"a:1\"]\n"+rest, `upstream.cookie: want a name of letters, digits, - and _ that is no key of a split`)
	wantFaults(t, "[upstream.«\"a b\"]\nhttp = [\"a:1\"]\n"+rest, `upstream."a b": want a name of letters`)
	wantFaults(t, "[upstream]\nfastcgi = «[\"a:1\"]\n"+rest, `upstream.fastcgi: got a list; want a table, headed [upstream.NAME]`)
}

func TestFaultsOfShape(t *testing.T) {
	wantFaults(t, "[«site]\n", `site: got a table; want tables, each headed [[site]]`)
	wantFaults(t, "site = [«1]\n", `site[0]: got a whole number; want a table`)
	wantFaults(t, "upstream = «[]\n[[site]]\nhosts = [\"a\"]\nroot = \"/srv\"\napp = «\"a\"\n",
		`upstream: got a list; want tables, each headed [upstream.NAME]`, `site[0].app: no upstream "a"; there is none yet: want [upstream.a]`)
}

func TestWrongAddressesAreNotTwiceTheSame(t *testing.T) {
	wantFaults(t, `listen = [«":80", «"8080"]`+rest, `listen[0]: got ":80": no scheme`, `listen[1]: got "8080": no scheme`)
}

func TestHostOfAnotherSite(t *testing.T) {
	wantFaults(t, short+"[[site]]\nhosts = [\"a.example\", «\"WWW.shop.example\"]\nroot = \"/srv\"\napp = \"fpm\"\n",
		`site[1].hosts[1]: "www.shop.example" is a host of a site already, in `)
}

func TestWhatIsRequired(t *testing.T) {
	wantFaults(t, "«# nothing\n", `site: missing; want at least one [[site]] with hosts, root and app`)
	wantFaults(t, "[upstream.rest]\nhttp = [\"a:1\"]\n[[«««site]]\n",
		`site[0].hosts: missing; want a list in brackets, each a name such as "shop.example"`,
		`site[0].root: missing; want a path`, `site[0].app: missing; want the name of an upstream`)
	wantFaults(t, "[[site]]\nhosts = [\"a\"]\nroot = «\"\"\napp = «\"fmp\"\n[upstream.fpm]\nhttp = [\"a:1\"]\n",
		`site[0].root: got "": nothing there`, `site[0].app: no upstream "fmp"; want fpm; did you mean "fpm"?`)
}

func TestFaultsOfAddressesAndNames(t *testing.T) {
	label := strings.Repeat("a", 64)
	for _, c := range []struct{ form, in, want string }{
		{"host", label + ".example", "is no label of a name"},
		{"host", "-a.example", "is no label of a name"},
		{"host", "a b.example", "is no label of a name"},
		{"host", strings.Repeat("a.", 127) + "example", "longer than 253 bytes"},
		{"host", "*.", "nothing there"},
		{"host", "fe80::1%eth0", "is no label of a name"},
		{"name", "a*", "a wildcard is the whole first label"},
		{"token", "a\x7f", "has no place in a name"},
		{"token", "größe", "has no place in a name"},
		{"path", "a\x00", "the path holds a NUL"},
		{"file", "a\x00", "not below root"},
		{"file", ".", "not below root"},
		{"file", "/index.php", "not below root"},
		{"fastcgi", "unix:" + strings.Repeat("/a", 54), "at most 107 bytes"},
		{"fastcgi", "unix:/a\x00", "the path holds a NUL"},
		{"fastcgi", "unix:", "the path of a socket is absolute"},
		{"fastcgi", "::1:9000", "no host:port; an IPv6 address stands in brackets"},
		{"fastcgi", "a:+1", "the port is not a number from 1"},
		{"fastcgi", "a:01", "the port is not a number from 1"},
		{"fastcgi", "user@a:1", "a path, query or user has no place here"},
		{"http", "http://a:1/x", "a path, query or user has no place here"},
		{"http", "a_b..c:1", "is no label of a name"},
		{"listen", "http://[::1:80", "no host:port"},
		{"admin", "https://127.0.0.1:1", `neither "unix:" nor "http://"`},
		{"hash_key", "cookie:a b", "cookie needs a name"},
	} {
		_, err := forms[c.form].parse(&source{dir: "/"}, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: error = %v, want %s", c.form, c.in, err, c.want)
		}
	}
}

func TestLongValuesAreCutInMessages(t *testing.T) {
	wantFaults(t, "listen = [«\""+strings.Repeat("x", 500)+"\"]\n"+rest,
		`listen[0]: got "`+strings.Repeat("x", 80)+`...": no scheme; want an address`)
}

func TestOneFaultCanBeAskedFor(t *testing.T) {
	_, err := loadText(t, "lisen = 1\n")
	var fault *Error
	if !errors.As(err, &fault) || fault.Key != "lisen" || fault.Line != 1 {
		t.Errorf("fault = %v", fault)
	}
}

func TestSecretsAreNotInMessages(t *testing.T) {
	t.Setenv("GATEWAY_TEST_TOKEN", "hunter2")
	_, err := loadText(t, "admin_token = [\"hunter2\"]\nadmin = \"http://127.0.0.1:1\"\n[site.split]\nsecret = { a = \"hunter2\" }\n")
	if faultsOf(t, err); strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error tells the secret:\n%v", err)
	}
}
