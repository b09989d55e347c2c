//go:build stack

package proxy

import (
	"encoding/xml"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const h2specVersion = "v2.2.1+incompatible"

// deviations are the cases of h2spec that fail, by section and title, with the reason. All are net/http's answers, given
// before or below any handler; a case that passes again has to leave the list.
var deviations = map[string]string{
	"http2/6.5.3: Sends multiple values of SETTINGS_INITIAL_WINDOW_SIZE": "net/http ends the connection of a client that names" +
		" a setting twice in one frame, so that none can make it work through thousands; nobody but a test does so",
	"http2/8.1.2.2: Sends a HEADERS frame that contains the connection-specific header field":                       refusedBy400,
	"http2/8.1.2.2: Sends a HEADERS frame that contains the TE header field with any value other than \"trailers\"": refusedBy400,
}

// cleartextDeviations are further ones where HTTP/1.1 is spoken at the same address.
var cleartextDeviations = map[string]string{
	"http2/3.5: Sends invalid connection preface": "what does not begin as HTTP/2 is HTTP/1.1 there, and gets its 400 before the end",
}

const refusedBy400 = "net/http answers 400 and ends the stream well instead of resetting it; RFC 9113, 8.1.1 allows the answer," +
	" and no handler is asked"

func TestH2spec(t *testing.T) {
	h2spec := buildH2spec(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("a page of the app")) }))
	t.Cleanup(app.Close)
	site := octaneSite(app.Listener.Addr().String(), "")
	t.Run("TLS", func(t *testing.T) {
		// With a site for the address that it asks for: an answer before the body would race with the fault in it.
		f := serve(t, strings.Replace(overTLS(site), `"shop.test"`, `"shop.test", "127.0.0.1"`, 1))
		wantOnly(t, again(t, h2spec, f.addr, "-t", "-k"), deviations)
	})
	t.Run("h2c", func(t *testing.T) {
		f := serve(t, "trusted_proxies = [\"loopback\"]\nh2c = true\n"+site)
		wantOnly(t, again(t, h2spec, f.addr), deviations, cleartextDeviations)
	})
}

func buildH2spec(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install", "github.com/summerwind/h2spec/cmd/h2spec@"+h2specVersion)
	build.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build h2spec: %v\n%s", err, out)
	}
	return filepath.Join(bin, "h2spec")
}

// again runs all cases twice and returns the faults that occur both times: some cases look at the last frame that comes
// before they get tired, which on a busy machine is another one now and then.
func again(t *testing.T, h2spec, addr string, args ...string) map[string]string {
	t.Helper()
	first, second := runH2spec(t, h2spec, addr, args...), runH2spec(t, h2spec, addr, args...)
	for title := range first {
		if second[title] == "" {
			first[title] = ""
		}
	}
	return first
}

// runH2spec runs all cases, those that the RFC only recommends too, and returns what became of each: "" for well.
func runH2spec(t *testing.T, h2spec, addr string, args ...string) map[string]string {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	file := filepath.Join(t.TempDir(), "report.xml")
	// It exits with 1 when a case fails, which the report tells too.
	out, _ := exec.CommandContext(t.Context(), h2spec, append(args, "-S", "-h", host, "-p", port, "-j", file)...).CombinedOutput()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var report struct {
		Cases []struct {
			Package string  `xml:"package,attr"`
			Title   string  `xml:"classname,attr"`
			Error   *string `xml:"error"`
			Failure *string `xml:"failure"`
			Skipped *string `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	for _, c := range report.Cases {
		name := c.Package + ": " + c.Title
		for _, fault := range []*string{c.Error, c.Failure, c.Skipped} {
			if fault != nil {
				results[name] += "not so: " + *fault
			}
		}
		if results[name] == "" {
			results[name] = ""
		}
	}
	return results
}

// wantOnly fails for each case that fails and is in no table, and for each row of a table that is stale.
func wantOnly(t *testing.T, results map[string]string, tables ...map[string]string) {
	t.Helper()
	reasons := map[string]string{}
	for _, table := range tables {
		for name, reason := range table {
			reasons[name] = reason
		}
	}
	failed := 0
	for name, fault := range results {
		if fault != "" {
			failed++
		}
		if fault != "" && reasons[name] == "" {
			t.Errorf("%s\n%s", name, fault)
		}
	}
	for name := range reasons {
		if fault, ran := results[name]; !ran || fault == "" {
			t.Errorf("%q is in the table and did not fail (ran: %v)", name, ran)
		}
	}
	t.Logf("%d cases, %d of them fail as the table says", len(results), failed)
	if len(results) < 140 {
		t.Errorf("only %d cases", len(results))
	}
}
