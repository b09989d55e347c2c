package conf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func site(host, app string) string {
	return "[[site]]\nhosts = [\"" + host + "\"]\nroot = \"public\"\napp = \"" + app + "\"\n"
}

func hostsOf(cfg *Config) string {
	var all []string
	for _, s := range cfg.Sites {
		all = append(all, s.Hosts...)
	}
	return strings.Join(all, " ")
}

func TestSitesBesideTheFileAreIncludedInOrder(t *testing.T) {
	dir := write(t, map[string]string{
		"gateway.toml":   site("main", "up"),
		"sites/b.toml":   site("b", "up"),
		"sites/a.toml":   site("a1", "up") + site("a2", "up"),
		"sites/up.toml":  "[upstream.up]\nhttp = [\"127.0.0.1:1\"]\n",
		"sites/no.tomls": "not read",
	})
	cfg, err := Load(filepath.Join(dir, "gateway.toml"))
	must(t, err)
	if got := hostsOf(cfg); got != "main a1 a2 b" {
		t.Errorf("hosts = %s", got)
	}
	if got, want := cfg.Sites[1].Root, filepath.Join(dir, "sites/public"); got != want {
		t.Errorf("root = %s, want %s: it is counted from its own file", got, want)
	}
	want := []string{"gateway.toml", "sites/a.toml", "sites/b.toml", "sites/up.toml", "sites/*.toml"}
	for i := range want {
		want[i] = filepath.Join(dir, want[i])
	}
	if !slices.Equal(cfg.Files, want) {
		t.Errorf("files = %q, want %q", cfg.Files, want)
	}
}

func TestIncludesAreReadAsListedAndOnce(t *testing.T) {
	other := filepath.Join(write(t, map[string]string{"c.toml": site("c", "u")}), "c.toml")
	dir := write(t, map[string]string{
		"gateway.toml": "include = [\"z/*.toml\", \"a.toml\", \"*.toml\", \"" + other + "\"]\n" + site("main", "u"),
		"a.toml":       site("a", "u"),
		"b.toml":       "[upstream.u]\nhttp = [\"127.0.0.1:1\"]\n" + site("b", "u"),
		"z/z.toml":     site("z", "u"),
	})
	cfg, err := Load(filepath.Join(dir, "gateway.toml"))
	must(t, err)
	if got := hostsOf(cfg); got != "main z a b c" {
		t.Errorf("hosts = %s", got)
	}
}

func TestIncludesOfARelativePathAreNamedLikeIt(t *testing.T) {
	dir := write(t, map[string]string{"etc/gateway.toml": short, "etc/sites/a.toml": "x = 1\n"})
	t.Chdir(dir)
	_, err := Load("etc/gateway.toml")
	if got, want := err.Error(), "etc/sites/a.toml:1:1: x: unknown key; known here: "; !strings.HasPrefix(got, want) {
		t.Errorf("error = %s, want %s", got, want)
	}
}

func TestFolderWithPatternLettersIsMeantAsItIs(t *testing.T) {
	dir := write(t, map[string]string{"[a]*/gateway.toml": short, "[a]*/sites/b.toml": site("b", "fpm")})
	cfg, err := Load(filepath.Join(dir, "[a]*/gateway.toml"))
	must(t, err)
	if got := hostsOf(cfg); got != "shop.example www.shop.example b" {
		t.Errorf("hosts = %s", got)
	}
}

func TestFaultsAmongFilesComeTogether(t *testing.T) {
	dir := write(t, map[string]string{
		"gateway.toml": short + "[upstream.u]\nhttp = [\"127.0.0.1:1\"]\n",
		"sites/a.toml": site("SHOP.example", "fpm") + "[log]\nlevel = \"debug\"\n",
		"sites/b.toml": site("b", "fmp") + "[upstream.u]\nhttp = [\"127.0.0.1:2\"]\n",
	})
	t.Chdir(dir)
	_, err := Load("gateway.toml")
	want := `sites/a.toml:2:10: site[0].hosts[0]: "shop.example" is a host of a site already, in gateway.toml:2; want each host once
sites/a.toml:5:2: log: belongs in the main file; an included one holds sites and upstreams
sites/b.toml:4:7: site[0].app: no upstream "fmp"; want fpm or u; did you mean "fpm"?
sites/b.toml:5:11: upstream.u: defined twice; the first is in gateway.toml:8`
	if got := err.Error(); got != want {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
	faultsOf(t, err)
}

func TestNothingIsMissedThatABrokenFileMayHold(t *testing.T) {
	dir := write(t, map[string]string{
		"gateway.toml": site("a", "elsewhere") + "[tls]\nissuer = \"internal\"\n",
		"sites/a.toml": "[[site]]\nhosts = [\"b\"]\n[upstream.u]\nfastcgi = oops\n[upstream.elsewhere]\n",
	})
	_, err := Load(filepath.Join(dir, "gateway.toml"))
	if list := faultsOf(t, err); len(list) != 1 || list[0].Line != 4 || list[0].Col != 11 {
		t.Errorf("faults:\n%v", err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": short, "sites/b.toml": site("b", "fpm"), "folder/x": ""})
	must(t, os.Mkdir(filepath.Join(dir, "sites/a.toml"), 0o755))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "sites/c.toml")))
	t.Chdir(dir)
	for path, want := range map[string]string{
		"gateway.toml": "sites/a.toml:1:1: cannot be read: it is a folder; want a TOML file\n" +
			"sites/c.toml:1:1: cannot be read: no such file or directory; want a TOML file",
		"missing.toml": "missing.toml:1:1: cannot be read: no such file or directory; want a TOML file",
		"/dev/null":    "/dev/null:1:1: cannot be read: it is no regular file but Dcrw-rw-rw-; want a TOML file",
	} {
		_, err := Load(path)
		faultsOf(t, err)
		if path != "gateway.toml" {
			continue
		}
		if got := err.Error(); got != want {
			t.Errorf("error:\n%s\nwant:\n%s", got, want)
		}
	}
}

func TestFailedLoadTellsWhatToWatch(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": "include = [\"more.toml\"]\n" + short, "more.toml": "x"})
	_, err := Load(filepath.Join(dir, "gateway.toml"))
	faultsOf(t, err)
	all := err.(*Errors)
	if sum, _ := look(all.Files); len(all.Files) != 3 || sum != all.Digest {
		t.Errorf("files = %q, digest %s, the watcher sees %s", all.Files, all.Digest, sum)
	}
}
