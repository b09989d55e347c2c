package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"gateway/fastcgi/fcgitest"
)

// What HTTP/2 can say and HTTP/1.1 cannot must not come out as something else on the way down. Each case is a stream of
// its own connection: fields as name and value, and the pieces of a body. sent says that it is a good request.
var downgrades = []struct {
	name   string
	fields []string
	body   []string
	sent   bool
}{
	{"plain", nil, nil, true},
	{"a body", []string{":method", "POST"}, []string{"hel", "lo"}, true},
	{"a body with its length", []string{":method", "POST", "content-length", "5"}, []string{"hello"}, true},
	{"te: trailers", []string{"te", "trailers"}, nil, true},
	{"a body that looks like a request", []string{":method", "POST"}, []string{"0\r\n\r\nGET /smuggled{id} HTTP/1.1\r\nHost: x\r\n\r\n"}, true},

	{"transfer-encoding", []string{":method", "POST", "transfer-encoding", "chunked"}, []string{"0\r\n\r\nGET /smuggled{id} HTTP/1.1\r\n\r\n"}, false},
	{"connection", []string{"connection", "content-length"}, nil, false},
	{"keep-alive", []string{"keep-alive", "timeout=5"}, nil, false},
	{"proxy-connection", []string{"proxy-connection", "close"}, nil, false},
	{"upgrade", []string{"upgrade", "h2c"}, nil, false},
	{"te: gzip", []string{"te", "gzip"}, nil, false},
	{"a length that is too short", []string{":method", "POST", "content-length", "3"}, []string{"hello"}, false},
	{"a length that is too long", []string{":method", "POST", "content-length", "50"}, []string{"hello"}, false},
	{"a length without a body", []string{":method", "POST", "content-length", "5"}, nil, false},
	{"a length with a plus", []string{":method", "POST", "content-length", "+5"}, []string{"hello"}, false},
	{"two lengths", []string{":method", "POST", "content-length", "5", "content-length", "0"}, []string{"hello"}, false},
	{"CRLF in a value", []string{"x", "a\r\ncontent-length: 9"}, nil, false},
	{"LF in a value", []string{"x", "a\ntransfer-encoding: chunked"}, nil, false},
	{"NUL in a value", []string{"x", "a\x00b"}, nil, false},
	{"CRLF in a name", []string{"x: y\r\nz", "a"}, nil, false},
	{"a colon in a name", []string{"transfer-encoding: chunked\r\nx", "a"}, nil, false},
	{"capitals in a name", []string{"Transfer-Encoding", "chunked"}, nil, false},
	{"a space in a name", []string{"transfer-encoding ", "chunked"}, nil, false},
	{"CRLF in the path", []string{":path", "/{id} HTTP/1.1\r\nHost: x\r\n\r\nGET /smuggled{id}"}, nil, false},
	{"a space in the path", []string{":path", "/{id} HTTP/1.1"}, nil, false},
	{"no slash in the path", []string{":path", "{id}"}, nil, false},
	{"an empty path", []string{":path", ""}, nil, false},
	{"a URL for a path", []string{":path", "http://x/{id}"}, nil, false},
	{"CRLF in the authority", []string{":authority", "x\r\nX: y"}, nil, false},
	{"a user in the authority", []string{":authority", "u@shop.test"}, nil, false},
	{"a path in the authority", []string{":authority", "shop.test/x"}, nil, false},
	{"a space in the method", []string{":method", "GET /smuggled{id} HTTP/1.1\r\n"}, nil, false},
	{"a method twice", []string{":method", "GET", ":method", "POST"}, nil, false},
	{"an unknown pseudo field", []string{":x", "y"}, nil, false},
	{"a pseudo field behind others", []string{"x", "y", ":path", "/smuggled{id}"}, nil, false},
}

func TestNothingIsSmuggledByHTTP2(t *testing.T) {
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
			f := serve(t, "limits = { header_timeout = \"400ms\", idle_timeout = \"400ms\", body_timeout = \"400ms\" }\n"+overTLS(backend.site))
			for i, c := range downgrades {
				f.frames().stream(fmt.Sprintf("c%dc", i), c.fields, c.body)
			}
			seen := byCase(t, backend.seen())
			for i, c := range downgrades {
				if len(seen[i]) > 1 || c.sent != (len(seen[i]) == 1) {
					t.Errorf("%s: the backend saw %+v", c.name, seen[i])
				}
				for _, s := range seen[i] {
					if len(s.faults) > 0 && !(name == "fpm" && s.faults[0] == "HTTPS is on") || strings.Contains(s.target, "smuggled") {
						t.Errorf("%s: the backend saw %+v", c.name, s)
					}
				}
			}
		})
	}
}

// stream sends a request whose pseudo fields are as usual, but for those in fields, and waits for the end of whatever comes
// of it.
func (c *frames) stream(id string, fields, body []string) {
	c.t.Helper()
	pseudo := map[string]string{":method": "GET", ":scheme": "https", ":authority": "shop.test", ":path": "/" + id}
	var more []string
	inOrder := true
	for i := 0; i < len(fields); i += 2 {
		value := strings.ReplaceAll(fields[i+1], "{id}", id)
		if _, known := pseudo[fields[i]]; known && inOrder {
			pseudo[fields[i]] = value
			inOrder = i+2 < len(fields) && fields[i+2] != fields[i]
			continue
		}
		inOrder = false
		more = append(more, fields[i], value)
	}
	c.head.Reset()
	encoder := hpack.NewEncoder(&c.head)
	for _, name := range []string{":method", ":scheme", ":authority", ":path"} {
		c.must(encoder.WriteField(hpack.HeaderField{Name: name, Value: pseudo[name], Sensitive: true}))
	}
	for i := 0; i < len(more); i += 2 {
		c.must(encoder.WriteField(hpack.HeaderField{Name: more[i], Value: more[i+1], Sensitive: true}))
	}
	// The server may end the connection while this is sent; what counts is what the backend saw.
	_ = c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: c.head.Bytes(), EndStream: len(body) == 0, EndHeaders: true,
	})
	for i, piece := range body {
		_ = c.WriteData(1, i == len(body)-1, []byte(strings.ReplaceAll(piece, "{id}", id)))
	}
	c.must(c.conn.SetReadDeadline(time.Now().Add(10 * time.Second)))
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return
		case *http2.HeadersFrame:
			if frame.StreamEnded() {
				return
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				return
			}
		}
	}
}
