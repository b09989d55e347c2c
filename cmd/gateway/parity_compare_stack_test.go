//go:build stack

package main_test

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// received is the answer in text, as a client at 127.0.0.1:5000 has it from 127.0.0.1:81.
func received(text string) answer {
	var a answer
	a.read(bufio.NewReader(strings.NewReader(text)), false)
	quieten(&a, "127.0.0.1:81", "127.0.0.1:5000", false)
	return a
}

func TestCompareFindsWhatDiffers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
	for _, c := range []struct{ name, nginx, ours, want string }{
		{"nothing", ok, ok, ""},
		{"status", ok, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "status"},
		{"reason", ok, "HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n\r\nabc", "status line"},
		{"interim", ok, "HTTP/1.1 103 Early Hints\r\n\r\n" + ok, "interim"},
		{"header", ok, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nA: 1\r\n\r\nabc", "header a"},
		{"repeated header", "HTTP/1.1 204 No\r\nA: 1\r\nA: 2\r\n\r\n", "HTTP/1.1 204 No\r\nA: 1\r\n\r\n", "header a"},
		{"case of a name", "HTTP/1.1 204 No\r\nETag: 1\r\n\r\n", "HTTP/1.1 204 No\r\nEtag: 1\r\n\r\n", ""},
		{"body", ok, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabd", "body"},
		{"cut", ok, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", "failure"},
		{"length lost", ok, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "framing"},
		{"length won", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ok, ""},
		{"chunk not ended", "HTTP/1.1 200 OK\r\n\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "failure framing"},
		{"JSON", "HTTP/1.1 200 OK\r\n\r\n{\"a\":[1,{\"b\":2}]}", "HTTP/1.1 200 OK\r\n\r\n{\"a\":[1,{}],\"c\":3}", "json a.1.b json c"},
	} {
		var names []string
		for _, d := range compare("fpm/x", received(c.nginx), received(c.ours)) {
			names = append(names, d.name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: differences %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNoiseHidesOnlyWhatIsMeant(t *testing.T) {
	for text, want := range map[string]string{
		"Location: http://localhost:81/a":          "http://localhost:PORT/a",
		"Location: http://localhost:8181/a":        "http://localhost:8181/a",
		"Set-Cookie: laravel_session=a1; path=/":   "laravel_session=ENCRYPTED; path=/",
		"Set-Cookie: gateway_split=a1; path=/":     "gateway_split=a1; path=/",
		"Set-Cookie: a=1; Max-Age=7199":            "a=1; Max-Age=7200",
		"Date: Mon, 01 Jan 2024 00:00:00 GMT":      "NOW",
		"Date: yesterday":                          "yesterday",
		"Last-Modified: Mon, 01 Jan 2024 00:00:00": "Mon, 01 Jan 2024 00:00:00",
	} {
		a := received("HTTP/1.1 204 No\r\n" + text + "\r\n\r\n")
		for _, values := range a.header {
			if values[0] != want {
				t.Errorf("%s became %s, want %s", text, values[0], want)
			}
		}
	}
	a := received("HTTP/1.1 200 OK\r\n\r\n" + `{"REMOTE_PORT":"5000","SERVER_PORT":"81","pid":7,"n":{"REMOTE_PORT":"5001"}}`)
	want := map[string]string{"REMOTE_PORT": "CLIENT", "SERVER_PORT": "PORT", "pid": "PID", "n.REMOTE_PORT": "5001"}
	if !maps.Equal(a.leaves, want) {
		t.Errorf("leaves %v, want %v", a.leaves, want)
	}
}

func TestTableAllowsWhatItNamesAndNoticesTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.toml")
	text := "[[difference]]\nwhere = [\"*/a\", \"fpm/b*\"]\nname = \"header x\"\nnginx = \"1*\"\nours = \"(none)\"\nwhy = \"so\"\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	known := readTable(t, path)
	allowed := difference{"resident/a", "header x", "12", absent}
	others := []difference{
		{"resident/b", "header x", "12", absent},
		{"resident/x/a", "header x", "12", absent},
		{"resident/a", "header y", "12", absent},
		{"resident/a", "header x", "2", absent},
		{"resident/a", "header x", "12", ""},
	}
	if got := known.unexplained(append(slices.Clone(others), allowed)); !slices.Equal(got, others) {
		t.Errorf("unexplained: %v, want %v", got, others)
	}
	if got := known.stale(); len(got) != 1 || !strings.HasPrefix(got[0], "fpm/b*: header x") {
		t.Errorf("stale: %q, want that of fpm/b* alone", got)
	}
}
