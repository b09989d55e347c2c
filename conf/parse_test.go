package conf

import "testing"

func TestSyntaxErrorStandsBesideTheOthers(t *testing.T) {
	wantFaults(t, "«lisen = 1\n[[site]]\nroot = \"/srv\"\n[log]\nlevel = «\"loud\"\nformat = «json\n",
		`lisen: unknown key; did you mean "listen"?`,
		`log.level: unknown "loud"; want debug, info, warn or error`,
		`: not TOML: unexpected character U+006A 'j' at start of value`)
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"end of input", "listen = [\"a\"«,", ": not TOML: array is incomplete"},
		{"end of a header", "[lo«g", ": not TOML: expected ']' to close table name"},
		{"no equals sign", "[log]\nformat «\"json\"", ": not TOML: expected '=' after key"},
		{"number with a leading zero", "[upstream.a]\nhttp = [\"a:1\"]\nqueue = «010", ": not TOML: "},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, c.text, c.want) })
	}
}

func TestValuesThatTheSyntaxTreeLetsPass(t *testing.T) {
	wantFaults(t, "[log]\noutput = «2020-«13-01\n"+rest,
		`log.output: got 2020-13-01 without quotes; want "stdout"`, ": not TOML: impossible date")
}

func TestKeysDefinedTwice(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"key", "storage = \"/a\"\n«storage = \"/b\"", "storage: defined twice; the first is in line 1"},
		{"key of an inline table", "log = { level = \"info\", «level = \"info\" }", "log.level: defined twice; the first is in line 1"},
		{"table", "[log]\nlevel = \"info\"\n[«log]\nformat = \"json\"", "log: defined twice; the first is in line 1"},
		{"header of a dotted key's table", "log.format = \"json\"\n[«log]\nlevel = \"info\"", "log: defined twice; the first is in line 1"},
		{"addition to an inline table", "log = { level = \"info\" }\n[«log]\nformat = \"json\"", "log: defined twice; the first is in line 1"},
		{"table below an inline one", "log = { level = \"info\" }\n[«log.more]\nformat = \"json\"", "log: defined twice; the first is in line 1"},
		{"dotted key into a value", "storage = \"/a\"\n«storage.more = 1", "storage: defined twice; the first is in line 1"},
		{"element of a plain list", "listen = [\"http://:80\"]\n[[«listen]]", "listen: defined twice; the first is in line 1"},
		{"array of tables opened as a table", "[[site]]\nhosts = [\"a\"]\nroot = \"/a\"\napp = \"rest\"\n[«site]", "site: defined twice; the first is in line 1"},
	} {
		t.Run(c.name, func(t *testing.T) { wantFaults(t, c.text+rest, c.want) })
	}
}

func TestTableBelowAnArrayBelongsToItsLast(t *testing.T) {
	cfg := loaded(t, `
[[site]]
hosts = ["a.example"]
root = "/a"
app = "fpm"
[[site]]
hosts = ["b.example"]
root = "/b"
app = "fpm"
[upstream.fpm]
fastcgi = ["127.0.0.1:9000"]
[upstream.octane]
http = ["127.0.0.1:8000"]
[site.split]
octane = 7
[upstream.fpm.timeouts]
dial = "1s"
`)
	if a, b := cfg.Sites[0].Split.Weights, cfg.Sites[1].Split.Weights; len(a) != 0 || len(b) != 1 || b[0].Share != 700 {
		t.Errorf("weights = %v and %v", a, b)
	}
}

func TestPlacesInNestedValues(t *testing.T) {
	wantFaults(t, `site = [ # all of them [
  { hosts = ["a.example"], root = "/a", app = "u", limits = { body = «"1" } },
  {
    hosts = [ # "x"
      'b.example', «"b.example:1", # ]
    ], root = """
/b""", app = "u", split = { v = «101 }, «lmits = {} # }
  }, «7,
]
upstream = { u = { fastcgi = [ "a:1" , «[[], {}] , «{ a = 1 } ] }, v = «{} }
`, `site[0].limits.body: got "1": no unit`,
		`site[1].hosts[1]: got "b.example:1": a host has no port`,
		`site[1].split.v: got 101: out of range`,
		`site[1].lmits: unknown key; did you mean "limits"?`,
		`site[2]: got a whole number; want a table`,
		`upstream.u.fastcgi[1]: got a list`, `upstream.u.fastcgi[2]: got a table`,
		`upstream.v: no backends`)
}
