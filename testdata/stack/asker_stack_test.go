//go:build stack

package stack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// asker is a browser on one way to the application: it keeps cookies, and follows no redirect.
type asker struct {
	t      *testing.T
	url    string
	client *http.Client
}

type reply struct {
	*http.Response
	body string
}

func newAsker(t *testing.T, base string) *asker {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &asker{t: t, url: base, client: &http.Client{
		Jar: jar, Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (a *asker) open(method, path string, header http.Header, body io.Reader) *http.Response {
	a.t.Helper()
	r, err := http.NewRequest(method, a.url+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	resp, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

func (a *asker) do(method, path string, header http.Header, body io.Reader) reply {
	a.t.Helper()
	resp := a.open(method, path, header, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Errorf("%s %s: %v", method, path, err)
	}
	return reply{resp, string(b)}
}

func (a *asker) status(method, path string, want int) reply {
	a.t.Helper()
	r := a.do(method, path, nil, nil)
	if r.StatusCode != want {
		a.t.Errorf("%s %s: status = %d, want %d", method, path, r.StatusCode, want)
	}
	return r
}

func (a *asker) body(method, path, want string) {
	a.t.Helper()
	if r := a.status(method, path, http.StatusOK); r.body != want {
		a.t.Errorf("%s %s: body = %.200q, want %q", method, path, r.body, want)
	}
}

func (a *asker) decode(what, body string, into any) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		a.t.Errorf("%s: %v in %.200q", what, err, body)
	}
}

func (a *asker) json(method, path string, into any) {
	a.t.Helper()
	a.decode(method+" "+path, a.status(method, path, http.StatusOK).body, into)
}

// equal compares what can be printed.
func (a *asker) equal(what string, got, want any) {
	a.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		a.t.Errorf("%s = %.200v, want %v", what, got, want)
	}
}

func (a *asker) answers() {
	a.body("GET", "/api/ping", `{"pong":true}`)
	a.equal("HEAD", a.status("HEAD", "/api/ping", 200).body, "")
	a.status("GET", "/nowhere", 404)
	a.status("GET", "/api/users/5001", 404)
	a.status("GET", "/redirect", 302)
	a.status("GET", "/api/status/503", 503)
	a.status("GET", "/api/status/204", 204)
	a.status("GET", "/api/status/304", 304)
	a.equal("cookies", len(a.status("GET", "/cookies", 200).Header["Set-Cookie"]), 6)

	var users struct{ Data []struct{ ID int } }
	a.json("GET", "/api/users?page=250", &users)
	a.equal("users on page 250", len(users.Data), 20)
	var echo struct{ Query map[string]string }
	a.json("GET", "/api/echo/x?q=a%20b", &echo)
	a.equal("query", echo.Query["q"], "a b")
	var server struct{ Server map[string]any }
	a.json("GET", "/api/server/x%20y?q=1", &server)
	a.equal("REQUEST_URI", server.Server["REQUEST_URI"], "/api/server/x%20y?q=1")

	etag := a.status("GET", "/api/conditional", 200).Header.Get("ETag")
	a.equal("conditional", a.do("GET", "/api/conditional", http.Header{"If-None-Match": {etag}}, nil).StatusCode, 304)
	a.equal("large", len(a.status("GET", "/api/large/1024", 200).body), 1<<20)
	download := a.status("GET", "/download/php", 200)
	file, err := os.ReadFile(filepath.Join(app.Storage, "app/download.bin"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.equal("download is the file", download.body == string(file), true)
}

func (a *asker) bodies() {
	content := bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
	sum := sha256.Sum256(content)
	want := hex.EncodeToString(sum[:])
	typed := http.Header{"Content-Type": {"application/octet-stream"}}
	var echo struct {
		Method, SHA256 string
		Length         int
	}
	a.decode("PUT", a.do("PUT", "/api/echo", typed, bytes.NewReader(content)).body, &echo)
	a.equal("sha256 of a PUT", echo.SHA256, want)
	// An io.Reader of no known length is sent chunked.
	a.decode("chunked", a.do("POST", "/api/sink", typed, io.MultiReader(bytes.NewReader(content))).body, &echo)
	a.equal("sha256 of a chunked POST", echo.SHA256, want)
	a.json("DELETE", "/api/echo", &echo)
	a.equal("method", echo.Method, "DELETE")

	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	var item struct {
		Method string
		Input  map[string]string
	}
	a.decode("PATCH", a.do("PATCH", "/api/items/7", form, strings.NewReader("a=1&b=2")).body, &item)
	a.equal("PATCH", item, struct {
		Method string
		Input  map[string]string
	}{"PATCH", map[string]string{"a": "1", "b": "2"}})
	a.upload(content, want)
	a.counts()
}

func (a *asker) upload(content []byte, sum string) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	field, err := form.CreateFormField("a")
	if err == nil {
		_, err = io.WriteString(field, "1")
	}
	file, err2 := form.CreateFormFile("file", "upload.bin")
	if err2 == nil {
		_, err2 = file.Write(content)
	}
	if err != nil || err2 != nil || form.Close() != nil {
		a.t.Fatal("multipart form:", err, err2)
	}
	var answer struct {
		Fields map[string]string
		Files  map[string]struct{ SHA256 string }
	}
	r := a.do("POST", "/api/upload", http.Header{"Content-Type": {form.FormDataContentType()}}, &b)
	a.decode("upload", r.body, &answer)
	a.equal("sha256 of the upload", answer.Files["file"].SHA256, sum)
	a.equal("field of the upload", answer.Fields["a"], "1")
}

func (a *asker) counts() {
	name := fmt.Sprintf("c%d", time.Now().UnixNano())
	var count struct{ Count int }
	a.json("POST", "/api/count/"+name, &count)
	a.status("GET", "/api/ping?count="+name, 200)
	a.json("GET", "/api/count/"+name, &count)
	a.equal("count", count.Count, 2)
	a.equal("Application.Count", app.Count(name), 2)
}

var tokenInput = regexp.MustCompile(`name="_token" value="([^"]+)"`)

func (a *asker) forms() {
	visits := regexp.MustCompile(`id="visits">(\d+)<`)
	for want := 1; want <= 2; want++ {
		m := visits.FindStringSubmatch(a.status("GET", "/benchmark", 200).body)
		a.equal("visits", strings.Join(m, " "), fmt.Sprintf(`id="visits">%d< %d`, want, want))
	}
	m := tokenInput.FindStringSubmatch(a.status("GET", "/form", 200).body)
	if m == nil {
		a.t.Error("form without a token")
		return
	}
	post := func(values url.Values) int {
		header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		return a.do("POST", "/form", header, strings.NewReader(values.Encode())).StatusCode
	}
	a.equal("form", post(url.Values{"_token": {m[1]}, "name": {"Ada"}}), 302)
	a.equal("flash message", strings.Contains(a.status("GET", "/form", 200).body, "Thank you, Ada"), true)
	a.equal("form that does not validate", post(url.Values{"_token": {m[1]}}), 302)
	a.equal("validation error", strings.Contains(a.status("GET", "/form", 200).body, `class="error"`), true)
	a.equal("form without token", post(url.Values{"name": {"Ada"}}), 419)
}

func (a *asker) streams() {
	a.body("GET", "/api/stream/3/20", "line 1\nline 2\nline 3\n")
	a.equal("download", len(a.status("GET", "/api/download/2", 200).body), 2<<20)
	events := a.do("GET", "/api/sse/2/10", http.Header{"Last-Event-Id": {"6"}}, nil)
	a.equal("type of events", events.Header.Get("Content-Type"), "text/event-stream; charset=UTF-8")
	a.equal("first event is 7", strings.Contains(events.body, "id: 7\nevent: tick\ndata: {\"n\":7,\"at\":"), true)
	a.endless()
}

// endless reads the first line of a stream that never ends, leaves, and waits until PHP has noticed. That the line
// can be read at all shows that it was not held back.
func (a *asker) endless() {
	name := fmt.Sprintf("e%d", time.Now().UnixNano())
	resp := a.open("GET", "/api/endless/"+name, nil, nil)
	line := make([]byte, 7)
	_, err := io.ReadFull(resp.Body, line)
	resp.Body.Close()
	a.equal("first line", string(line), "line 1\n")
	a.equal("error", err, nil)
	poll(a.t, "end of the stream", func() bool { return app.Ended(name) != "" })
	a.equal("aborted", strings.HasPrefix(app.Ended(name), "aborted "), true)
}

func (a *asker) failures() {
	plain := a.status("GET", "/boom", 500)
	a.equal("exception page without details", strings.Contains(plain.body, "RuntimeException"), false)
	debug := a.status("GET", "/boom/debug", 500)
	a.equal("exception page with details", strings.Contains(debug.body, "RuntimeException"), true)
	plain = a.status("GET", "/boom", 500)
	a.equal("exception page afterwards", strings.Contains(plain.body, "RuntimeException"), false)
}

func (a *asker) longLink() {
	a.t.Helper()
	links := a.status("GET", "/api/link/20", 200).Header["Link"]
	if len(links) != 1 || len(links[0]) < 20<<10 {
		a.t.Errorf("%s: %d Link lines of %d bytes, want one of 20 KiB", a.url, len(links), len(strings.Join(links, "")))
	}
}
