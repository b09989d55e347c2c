package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

// wireCase is one of testdata/smuggling.txt, which says what its parts are.
type wireCase struct {
	id      int
	name    string
	status  string // of the answer that refuses, "closed" for an end without one; empty when nothing is refused
	bodies  []int  // of the requests that the backend sees
	request string
}

func readWireCases(t *testing.T) (cases []wireCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/smuggling.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n\n"))
	for i, part := range strings.Split(string(text), "\n== ")[1:] {
		head, raw, _ := strings.Cut(part, "\n")
		raw, _, _ = strings.Cut(raw, "\n# ") // the heading of the next kind
		name, want, ok := strings.Cut(head, " | ")
		if !ok {
			t.Fatalf("%q has no want", head)
		}
		c := wireCase{id: i, name: name, request: strings.ReplaceAll(unescape(t, raw), "{id}", "c"+strconv.Itoa(i)+"c")}
		c.want(t, want)
		cases = append(cases, c)
	}
	return cases
}

func (c *wireCase) want(t *testing.T, want string) {
	seen, then, _ := strings.Cut(want, " then ")
	count, bodies, ok := strings.Cut(seen, " body=")
	if !ok {
		c.status = want
		return
	}
	c.status = then
	for _, body := range strings.Split(bodies, ",") {
		n, err := strconv.Atoi(body)
		if err != nil {
			t.Fatalf("%s: %q", c.name, want)
		}
		c.bodies = append(c.bodies, n)
	}
	if count != strconv.Itoa(len(c.bodies)) {
		t.Fatalf("%s: %q", c.name, want)
	}
}

func unescape(t *testing.T, text string) string {
	t.Helper()
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", ""), `"`, `\x22`)
	bytes, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return bytes
}

// sighting is a request as a backend saw it.
type sighting struct {
	target string
	length int      // of its body
	faults []string // what is not as it should be
}

// strictBackend speaks HTTP/1.1 and forgives nothing. It notes every request, and every byte that belongs to none.
type strictBackend struct {
	addr string
	mu   sync.Mutex // guards seen
	seen []sighting
}

func newStrictBackend(t *testing.T) *strictBackend {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	b := &strictBackend{addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
	return b
}

func (b *strictBackend) note(s sighting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, s)
}

// sightings is all that was seen so far.
func (b *strictBackend) sightings() []sighting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func (b *strictBackend) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		s, err := b.read(in)
		if err != nil {
			return
		}
		b.note(s)
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil || len(s.faults) > 0 {
			return
		}
	}
}

// read reads one request. Its error is the end of the connection between two.
func (b *strictBackend) read(in *bufio.Reader) (s sighting, err error) {
	fault := func(format string, args ...any) { s.faults = append(s.faults, fmt.Sprintf(format, args...)) }
	line, err := in.ReadString('\n')
	if err != nil && line == "" {
		return s, err
	}
	parts := strings.Split(strings.TrimSuffix(line, "\r\n"), " ")
	if len(parts) != 3 || parts[2] != "HTTP/1.1" || !strings.HasSuffix(line, "\r\n") {
		fault("request line %q", line)
		return s, nil
	}
	s.target = parts[1]
	fields := map[string][]string{}
	for {
		line, err := in.ReadString('\n')
		if err != nil || !strings.HasSuffix(line, "\r\n") {
			fault("line %q, %v", line, err)
			return s, nil
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ": ")
		if !ok || strings.ContainsAny(line, "\r\x00") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			fault("field %q", line)
		}
		fields[strings.ToLower(name)] = append(fields[strings.ToLower(name)], value)
	}
	for _, name := range []string{"transfer-encoding", "te", "trailer", "connection", "keep-alive", "proxy-connection", "http2-settings", "upgrade", "expect", "proxy", "forwarded", "x-forwarded-prefix"} {
		if fields[name] != nil {
			fault("%s is passed on: %q", name, fields[name])
		}
	}
	for _, name := range []string{"host", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "scheme", "remote_addr", "server_port"} {
		if len(fields[name]) != 1 || strings.Contains(fields[name][0], "6.6.6.6") || strings.Contains(fields[name][0], "evil") {
			fault("%s is %q", name, fields[name])
		}
	}
	lengths := fields["content-length"]
	if len(lengths) > 1 {
		fault("lengths %q", lengths)
	} else if len(lengths) == 1 {
		if s.length, err = strconv.Atoi(lengths[0]); err != nil {
			fault("length %q", lengths[0])
		}
		if _, err := io.CopyN(io.Discard, in, int64(s.length)); err != nil {
			fault("body: %v", err)
		}
	}
	return s, nil
}

// byCase sorts what was seen by the case that it is of; what is of none is a fault.
func byCase(t *testing.T, seen []sighting) map[int][]sighting {
	t.Helper()
	sorted := map[int][]sighting{}
	for _, s := range seen {
		var id int
		at := strings.Index(s.target, "c")
		if strings.Contains(s.target, "smuggled") {
			at = strings.LastIndex(strings.TrimSuffix(s.target, "c"), "c")
		}
		if at < 0 {
			t.Errorf("of no case: %+v", s)
			continue
		}
		if _, err := fmt.Sscanf(s.target[at:], "c%dc", &id); err != nil {
			if s.target != "/" && s.target != "*" {
				t.Errorf("of no case: %+v", s)
			}
			continue
		}
		sorted[id] = append(sorted[id], s)
	}
	return sorted
}

func sightings(requests []fcgitest.Request) (seen []sighting) {
	for _, r := range requests {
		s := sighting{target: r.Param("REQUEST_URI"), length: len(r.Stdin)}
		if length := r.Param("CONTENT_LENGTH"); length != strconv.Itoa(len(r.Stdin)) && !(length == "" && len(r.Stdin) == 0) {
			s.faults = append(s.faults, fmt.Sprintf("CONTENT_LENGTH %q with %d bytes", length, len(r.Stdin)))
		}
		names := map[string]bool{}
		for _, p := range r.Params {
			if names[p.Name] {
				s.faults = append(s.faults, p.Name+" twice")
			}
			names[p.Name] = true
			if strings.Contains(p.Value, "6.6.6.6") || strings.Contains(p.Value, "evil") {
				s.faults = append(s.faults, fmt.Sprintf("%s is %q", p.Name, p.Value))
			}
		}
		for _, name := range []string{"HTTP_PROXY", "HTTP_TRANSFER_ENCODING", "HTTP_CONTENT_LENGTH", "HTTP_CONNECTION", "HTTP_TE", "HTTP_UPGRADE", "HTTP_REMOTE_ADDR", "HTTP_X_FORWARDED_FOR", "HTTPS"} {
			if names[name] {
				s.faults = append(s.faults, name+" is "+r.Param(name))
			}
		}
		seen = append(seen, s)
	}
	return seen
}

// impatient ends what a case leaves unfinished.
const impatient = "limits = { header_timeout = \"400ms\", idle_timeout = \"400ms\", body_timeout = \"400ms\" }\n"

// TestNothingIsSmuggled sends every case to both kinds of backend. A backend must see nothing, or exactly the well-formed
// requests that were meant, whatever it would make of the client's bytes itself.
func TestNothingIsSmuggled(t *testing.T) {
	cases := readWireCases(t)
	if len(cases) < 300 {
		t.Errorf("%d cases, want at least 300", len(cases))
	}
	strict := newStrictBackend(t)
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	for name, backend := range map[string]struct {
		site string
		seen func() []sighting
	}{
		"octane": {octaneSite(strict.addr, ""), strict.sightings},
		"fpm":    {fpmSite(responder, "max_in_flight = 64"), func() []sighting { return sightings(responder.Requests()) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, impatient+backend.site)
			answers := f.exchangeAll(cases)
			seen := byCase(t, backend.seen())
			for i, c := range cases {
				c.judge(t, answers[i], seen[c.id])
			}
		})
	}
}

// exchangeAll sends all cases, some at a time, and returns what came back for each.
func (f *fixture) exchangeAll(cases []wireCase) []string {
	answers := make([]string, len(cases))
	var all sync.WaitGroup
	turns := make(chan struct{}, 32)
	for i, c := range cases {
		turns <- struct{}{}
		all.Go(func() {
			answers[i] = f.exchange(c.request)
			<-turns
		})
	}
	all.Wait()
	return answers
}

// exchange sends what a client would and returns all that comes back.
func (f *fixture) exchange(request string) string {
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // it is new, and takes one
	go io.WriteString(conn, request)                       // an answer may come before all is read
	answer, _ := io.ReadAll(conn)                          // a reset after the answer is an end as well
	return string(answer)
}

func (c *wireCase) judge(t *testing.T, answer string, seen []sighting) {
	t.Helper()
	c.judgeSeen(t, answer, seen)
	statuses := statusesOf(answer)
	want := slices.Repeat([]string{"200"}, len(c.bodies))
	if c.status != "" && c.status != "closed" {
		want = append(want, c.status)
	}
	if !slices.Equal(statuses, want) {
		t.Errorf("%s: answers %v, want %v\n%.300q", c.name, statuses, want, answer)
	}
}

// judgeSeen judges what the backend saw, whatever it answered.
func (c *wireCase) judgeSeen(t *testing.T, answer string, seen []sighting) {
	t.Helper()
	var bodies []int
	for _, s := range seen {
		bodies = append(bodies, s.length)
		if len(s.faults) > 0 {
			t.Errorf("%s: the backend saw %+v", c.name, s)
		}
	}
	if !slices.Equal(bodies, c.bodies) {
		t.Errorf("%s: the backend saw bodies of %v, want %v\nanswer %.300q\nseen %+v", c.name, bodies, c.bodies, answer, seen)
	}
}

// statusesOf reads the final answers on a connection.
func statusesOf(answer string) (statuses []string) {
	in := bufio.NewReader(strings.NewReader(answer))
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses
		}
		_, _ = io.Copy(io.Discard, resp.Body) // one that breaks off is the last
		if resp.StatusCode >= 200 {
			statuses = append(statuses, strconv.Itoa(resp.StatusCode))
		}
	}
}
