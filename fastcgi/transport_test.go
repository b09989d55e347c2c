package fastcgi

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gateway/fastcgi/fcgitest"
	"github.com/yookoala/gofast"
)

func TestAnswer(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout("Status: 201 Made\r\nX-A: 1\r\nX-A: 2\r\n"+textHead+"hello"), fcgitest.End(0, 0))
	resp, body := fetch(t, newTransport(t, r))
	if resp.StatusCode != 201 || resp.Status != "201 Made" || body != "hello" {
		t.Errorf("answer = %q %q, want 201 Made, hello", resp.Status, body)
	}
	if got := strings.Join(resp.Header["X-A"], ","); got != "1,2" {
		t.Errorf("X-A = %q, want both lines", got)
	}
	if resp.ContentLength != -1 {
		t.Errorf("length = %d, want -1", resp.ContentLength)
	}
}

// A reader that learns of the end at once need not prepare for a pause.
func TestEndComesWithTheLastBytes(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page [10]byte
	if n, err := resp.Body.Read(page[:]); string(page[:n]) != "hello" || err != io.EOF {
		t.Errorf("first read = %q, %v, want hello and io.EOF", page[:n], err)
	}
}

func TestAnswerOverTCP(t *testing.T) {
	r := fcgitest.NewTCP(t, fcgitest.Reply(200, "over tcp"))
	if _, body := fetch(t, newTransport(t, r)); body != "over tcp" {
		t.Errorf("body = %q", body)
	}
}

func TestHeaderInPieces(t *testing.T) {
	var steps []fcgitest.Step
	for _, c := range "Status: 404 Not Found\r\n" + textHead + "gone" {
		steps = append(steps, fcgitest.Stdout(string(c)), fcgitest.Stderr("e"))
	}
	r := fcgitest.New(t, append(steps, fcgitest.End(0, 0))...)
	env := newEnv()
	resp, body := send(t, newTransport(t, r), newRequestEnv(t, env, "GET", ""))
	if resp.StatusCode != 404 || body != "gone" {
		t.Errorf("answer = %d %q, want 404 gone", resp.StatusCode, body)
	}
	if want := strings.Repeat("e", len(steps)/2); len(env.Stderr()) != 1 || env.Stderr()[0] != want {
		t.Errorf("stderr = %q, want one line of %d e", env.Stderr(), len(want))
	}
}

func TestStderrAtAnyPlace(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stderr("before\n"), fcgitest.Stdout(textHead+"a"), fcgitest.Stderr("be"),
		fcgitest.Stderr("tween\r\n\n"), fcgitest.Stdout("b"), fcgitest.Stderr("last"), fcgitest.End(0, 0))
	env := newEnv()
	_, body := send(t, newTransport(t, r), newRequestEnv(t, env, "GET", ""))
	if body != "ab" {
		t.Errorf("body = %q, want ab", body)
	}
	if got := strings.Join(env.Stderr(), "|"); got != "before|between|last" {
		t.Errorf("stderr = %q", got)
	}
}

func TestStderrIsBounded(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stderr(strings.Repeat("x", 100_000)+"\n"+strings.Repeat("line\n", 500)),
		fcgitest.Reply(200, ""))
	env := newEnv()
	send(t, newTransport(t, r), newRequestEnv(t, env, "GET", ""))
	lines := env.Stderr()
	if len(lines) != maxStderrLines || len(lines[0]) != maxStderrLine {
		t.Errorf("%d lines, the first of %d bytes, want %d and %d", len(lines), len(lines[0]), maxStderrLines, maxStderrLine)
	}
}

func TestHeaderLineOfAnyLength(t *testing.T) {
	for _, n := range []int{900, 1100, 6000, 20_000, 60_000} {
		link := strings.Repeat("l", n)
		r := fcgitest.New(t, fcgitest.Stdout("Link: "+link+"\r\n"+textHead+"ok"), fcgitest.End(0, 0))
		resp, body := fetch(t, newTransport(t, r))
		if resp.Header.Get("Link") != link || body != "ok" {
			t.Errorf("line of %d bytes: got %d bytes and body %q", n, len(resp.Header.Get("Link")), body)
		}
	}
}

func TestHeaderTooLarge(t *testing.T) {
	for _, steps := range [][]fcgitest.Step{
		{fcgitest.Stdout("X: " + strings.Repeat("l", 64<<10)), fcgitest.Hang(nil)},
		{fcgitest.Stdout("X: " + strings.Repeat("l", 64<<10) + "\r\n\r\n"), fcgitest.End(0, 0)},
	} {
		e := refusal(t, newTransport(t, fcgitest.New(t, steps...)), newRequest(t, "GET", ""))
		if !errors.Is(e, ErrHeaderTooLarge) || e.SafeToRetry() {
			t.Errorf("error = %v, safe %t; want ErrHeaderTooLarge, false", e, e.SafeToRetry())
		}
	}
}

func TestTextInPlaceOfHeader(t *testing.T) {
	for _, text := range []string{"Oops, no header here", "Fatal error: x in y on line 3\n\nmore", "", "A: b\r\nC: d\r\n"} {
		r := fcgitest.New(t, fcgitest.Stdout(text), fcgitest.End(0, 0))
		e := refusal(t, newTransport(t, r), newRequest(t, "GET", ""))
		if !errors.Is(e, ErrMalformedHeader) || !strings.Contains(e.Error(), text[:min(len(text), 4)]) {
			t.Errorf("error = %v, want ErrMalformedHeader with %q", e, text)
		}
	}
}

func TestNoBody(t *testing.T) {
	for _, c := range []struct {
		method, head string
		length       int64
	}{
		{"HEAD", "Content-Length: 5\r\n", 5},
		{"HEAD", "", -1},
		{"GET", "Status: 204 No Content\r\n", 0},
		{"GET", "Status: 304 Not Modified\r\n", 0},
	} {
		r := fcgitest.New(t, fcgitest.Stdout(c.head+textHead+"stray"), fcgitest.Stderr("late"), fcgitest.End(0, 0))
		env := newEnv()
		resp, body := send(t, newTransport(t, r), newRequestEnv(t, env, c.method, ""))
		if body != "" || resp.ContentLength != c.length {
			t.Errorf("%s %q: body %q, length %d, want none, %d", c.method, c.head, body, resp.ContentLength, c.length)
		}
		if len(env.Stderr()) != 1 {
			t.Errorf("%s %q: the rest was not read: stderr %q", c.method, c.head, env.Stderr())
		}
	}
}

func TestBodyMustMatchItsLength(t *testing.T) {
	for _, c := range []struct{ body, want string }{{"1234", "1234"}, {"123456", "12345"}} {
		r := fcgitest.New(t, fcgitest.Stdout("Content-Length: 5\r\n\r\n"+c.body), fcgitest.End(0, 0))
		resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if string(b) != c.want || !errors.Is(err, ErrBodyLength) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("body %q: read %q, error %v, want %q and ErrBodyLength", c.body, b, err, c.want)
		}
	}
}

func TestTruncation(t *testing.T) {
	whole := fcgitest.Record{Type: fcgitest.TypeStdout, ID: 1, Content: []byte(textHead + strings.Repeat("x", 20_000)), Padding: 7}
	bytes := whole.Append(nil)
	for name, step := range map[string]fcgitest.Step{
		"after a record":    fcgitest.Raw(bytes),
		"inside padding":    fcgitest.Raw(bytes[:len(bytes)-3]),
		"inside content":    fcgitest.Raw(bytes[:len(bytes)-1000]),
		"inside a header":   fcgitest.Raw(append(bytes[:len(bytes):len(bytes)], 1, 6, 0)),
		"inside the ending": fcgitest.Raw(append(bytes[:len(bytes):len(bytes)], 1, 3, 0, 1, 0, 8, 0, 0, 0)),
	} {
		for how, cut := range map[string]fcgitest.Step{"cut": fcgitest.Cut(), "reset": fcgitest.Reset()} {
			t.Run(name+" "+how, func(t *testing.T) {
				r := fcgitest.NewTCP(t, step, cut)
				resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
				}
				if !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("error = %v, want ErrTruncated", err)
				}
			})
		}
	}
}

func TestCutBeforeAnyByte(t *testing.T) {
	e := refusal(t, newTransport(t, fcgitest.New(t, fcgitest.Cut())), newRequest(t, "GET", ""))
	if !errors.Is(e, ErrTruncated) || e.SafeToRetry() || e.Reused() || e.Busy() || e.Timeout() {
		t.Errorf("error = %v: safe %t, reused %t, busy %t, timeout %t; want ErrTruncated and none of these",
			e, e.SafeToRetry(), e.Reused(), e.Busy(), e.Timeout())
	}
}

func TestUnexpectedRecords(t *testing.T) {
	for name, rec := range map[string]fcgitest.Record{
		"version":    {Version: 2, Type: fcgitest.TypeStdout, Content: []byte("x")},
		"type":       {Type: 99},
		"other id":   {Type: fcgitest.TypeStdout, ID: 77, Content: []byte("of another")},
		"short end":  {Type: fcgitest.TypeEnd, Content: []byte{0}},
		"stdin back": {Type: fcgitest.TypeStdin, Content: []byte("x")},
	} {
		r := fcgitest.New(t, fcgitest.Stdout(textHead+"a"), fcgitest.Send(rec), fcgitest.End(0, 0))
		resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		if !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: error = %v, want ErrProtocol", name, err)
		}
	}
}

func TestManagementRecordsAreSkipped(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Send(fcgitest.Record{Type: 11, Management: true, Content: make([]byte, 8), Padding: 200}),
		fcgitest.Reply(200, "fine"))
	if _, body := fetch(t, newTransport(t, r)); body != "fine" {
		t.Errorf("body = %q", body)
	}
}

func TestRefusedByResponder(t *testing.T) {
	for _, c := range []struct {
		status byte
		want   error
		busy   bool
	}{{1, ErrOverloaded, true}, {2, ErrOverloaded, true}, {3, ErrRefused, false}} {
		e := refusal(t, newTransport(t, fcgitest.New(t, fcgitest.End(0, c.status))), newRequest(t, "POST", "x"))
		if !errors.Is(e, c.want) || e.Busy() != c.busy || !e.SafeToRetry() {
			t.Errorf("status %d: %v, busy %t, safe %t", c.status, e, e.Busy(), e.SafeToRetry())
		}
	}
}

func TestRecordsOfEveryShape(t *testing.T) {
	page := strings.Repeat("0123456789abcdef", 40_000)
	for name, n := range map[string]int{"tiny": 7, "buffer": bufferSize - headerSize, "buffer and one": bufferSize + 1, "largest": 65535} {
		t.Run(name, func(t *testing.T) {
			sent := page[:min(len(page), n*3000)]
			steps := []fcgitest.Step{fcgitest.Stdout(textHead)}
			for i := 0; i < len(sent); i += n {
				rec := fcgitest.Record{Type: fcgitest.TypeStdout, Content: []byte(sent[i:min(i+n, len(sent))]), Padding: byte(i)}
				steps = append(steps, fcgitest.Send(rec))
			}
			r := fcgitest.New(t, append(steps, fcgitest.End(0, 0))...)
			if _, body := fetch(t, newTransport(t, r)); body != sent {
				t.Errorf("got %d bytes, want the %d that were sent", len(body), len(sent))
			}
		})
	}
}

func TestReaderMayTakeOneByteAtATime(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"slow"), fcgitest.Stdout("ly"), fcgitest.End(0, 0))
	resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(iotest.OneByteReader(resp.Body))
	if string(b) != "slowly" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestRequestWithoutEnvOrLength(t *testing.T) {
	tr := newTransport(t, fcgitest.New(t))
	bare, _ := http.NewRequest("GET", "http://shop.example/", nil)
	if e := refusal(t, tr, bare); !errors.Is(e, ErrNoEnv) {
		t.Errorf("error = %v, want ErrNoEnv", e)
	}
	r := newRequest(t, "POST", "abc")
	r.ContentLength = -1
	if e := refusal(t, tr, r); !errors.Is(e, ErrLengthRequired) {
		t.Errorf("error = %v, want ErrLengthRequired", e)
	}
	r.ContentLength, r.Body = 3, nil
	if e := refusal(t, tr, r); !errors.Is(e, ErrRequestBody) {
		t.Errorf("error = %v, want ErrRequestBody", e)
	}
}

func TestMiddlewareSeesAndChangesParams(t *testing.T) {
	add := func(inner gofast.SessionHandler) gofast.SessionHandler {
		return func(c gofast.Client, req *gofast.Request) (*gofast.ResponsePipe, error) {
			req.Params["APP_SEEN"] = req.Params["SCRIPT_NAME"]
			req.Params["APP_ENV"] = "middleware"
			return inner(c, req)
		}
	}
	r := fcgitest.New(t, fcgitest.Reply(200, ""))
	tr := newTransport(t, r, func(c *Config) { c.Middleware = []gofast.Middleware{add} })
	env := newEnv()
	env.Params = []Param{{"APP_ENV", "operator"}}
	send(t, tr, newRequestEnv(t, env, "GET", ""))
	got := r.Requests()[0]
	if got.Param("APP_SEEN") != "/index.php" || got.Param("APP_ENV") != "operator" {
		t.Errorf("APP_SEEN = %q, APP_ENV = %q", got.Param("APP_SEEN"), got.Param("APP_ENV"))
	}
}

// Without a middleware the params never see gofast's map, which must make no difference.
func TestParamsAreTheSameWithAndWithoutMiddleware(t *testing.T) {
	pass := func(inner gofast.SessionHandler) gofast.SessionHandler { return inner }
	var sent [2][]fcgitest.Param
	for i, middleware := range [][]gofast.Middleware{nil, {pass}} {
		r := fcgitest.New(t, fcgitest.Reply(200, ""))
		tr := newTransport(t, r, func(c *Config) { c.Middleware = middleware })
		for _, method := range []string{"GET", "POST"} { // the second on what the first has left in the pool
			env := newEnv()
			env.Params = []Param{{"APP_ENV", "operator"}, {"SERVER_NAME", "other"}, {"HTTP_COOKIE", ""}}
			req := newRequestEnv(t, env, method, "")
			maps.Copy(req.Header, browserHeader)
			req.Header["X-Own"] = []string{"a", "b"}
			send(t, tr, req)
		}
		sent[i] = r.Requests()[1].Params
		slices.SortFunc(sent[i], func(a, b fcgitest.Param) int { return strings.Compare(a.Name, b.Name) })
	}
	if !slices.Equal(sent[0], sent[1]) {
		t.Errorf("params = %v\nwith a middleware %v", sent[0], sent[1])
	}
	for i := range sent[0][1:] {
		if name := sent[0][i].Name; name == sent[0][i+1].Name {
			t.Errorf("%s is sent twice", name)
		}
	}
}

func TestMiddlewareThatMisbehaves(t *testing.T) {
	refused := errors.New("not today")
	for name, m := range map[string]gofast.SessionHandler{
		"refuses":   func(gofast.Client, *gofast.Request) (*gofast.ResponsePipe, error) { return nil, refused },
		"forgets":   func(gofast.Client, *gofast.Request) (*gofast.ResponsePipe, error) { return nil, nil },
		"regrets":   func(c gofast.Client, r *gofast.Request) (*gofast.ResponsePipe, error) { c.Do(r); return nil, refused },
		"does both": func(c gofast.Client, r *gofast.Request) (*gofast.ResponsePipe, error) { c.Do(r); return c.Do(r) },
	} {
		r := fcgitest.New(t, fcgitest.Reply(200, ""))
		tr := newTransport(t, r, func(c *Config) {
			c.Middleware = []gofast.Middleware{func(gofast.SessionHandler) gofast.SessionHandler { return m }}
		})
		req := newRequest(t, "POST", "x")
		closed := &closeNoticer{Reader: req.Body}
		req.Body = closed
		if e := refusal(t, tr, req); e.Op != "params" || !closed.closed {
			t.Errorf("%s: error = %v, body closed %t", name, e, closed.closed)
		}
	}
}

type closeNoticer struct {
	io.Reader
	closed bool
}

func (c *closeNoticer) Close() error {
	c.closed = true
	return nil
}

func TestNewRefusesWhatCannotBeDialled(t *testing.T) {
	for _, cfg := range []Config{{Network: "udp", Address: "127.0.0.1:9000"}, {Network: "tcp", Address: "9000"}, {Network: "unix"}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%q, %q) gave no error", cfg.Network, cfg.Address)
		}
	}
}
