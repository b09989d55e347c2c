package fastcgi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestParseHead(t *testing.T) {
	for _, c := range []struct {
		block, status string
		header        http.Header
		length        int64
	}{
		{"\r\n", "200 OK", http.Header{}, -1},
		{"\n", "200 OK", http.Header{}, -1},
		{"Content-type: text/html\n\n", "200 OK", http.Header{"Content-Type": {"text/html"}}, -1},
		{"Location: /x\r\n\r\n", "302 Found", http.Header{"Location": {"/x"}}, -1},
		{"Location: /x\r\nStatus: 201 Created\r\n\r\n", "201 Created", http.Header{"Location": {"/x"}}, -1},
		{"status: 404\r\n\r\n", "404 Not Found", http.Header{}, -1},
		{"Status: 599 Own words here\r\n\r\n", "599 Own words here", http.Header{}, -1},
		{"Status: 404 \r\nStatus: 200 OK\r\n\r\n", "404 Not Found", http.Header{}, -1},
		{"Content-Length: 12\r\ncontent-length:12\r\n\r\n", "200 OK", http.Header{"Content-Length": {"12"}}, 12},
		{"A:\r\nA:  b \t\r\n\r\n", "200 OK", http.Header{"A": {"", "b"}}, -1},
		{"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", "200 OK", http.Header{}, -1},
	} {
		h, err := parseHead(c.block)
		if err != nil {
			t.Errorf("%q: %v", c.block, err)
			continue
		}
		if h.status != c.status || h.length != c.length || !maps.EqualFunc(h.header, c.header, slices.Equal) {
			t.Errorf("%q = %q %v %d, want %q %v %d", c.block, h.status, h.header, h.length, c.status, c.header, c.length)
		}
	}
}

func TestParseHeadRefuses(t *testing.T) {
	for _, block := range []string{
		"no colon\r\n\r\n", ": no name\r\n\r\n", "Fatal error: x\r\n\r\n", "A: b\r\n continued\r\n\r\n",
		"A: b\x00c\r\n\r\n", "A: b\rC: d\r\n\r\n", "Status: OK\r\n\r\n", "Status: 99\r\n\r\n", "Status: 2000 x\r\n\r\n",
		"Status: 103 Early Hints\r\n\r\n", "Status: -20\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 1x\r\n\r\n",
		"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "\xff: b\r\n\r\n",
	} {
		if h, err := parseHead(block); err == nil {
			t.Errorf("%q = %q %v, want an error", block, h.status, h.header)
		}
	}
}

func TestHeaderEnd(t *testing.T) {
	for block, want := range map[string]int{
		"": 0, "\n": 1, "\r\n": 2, "\r": 0, "A: b\n\nrest": 6, "A: b\r\n\r\nrest": 8, "A: b\r\n\nrest": 7, "A: b\r\n\r": 0, "A: b\n": 0,
	} {
		if got := headerEnd([]byte(block), 0); got != want {
			t.Errorf("headerEnd(%q) = %d, want %d", block, got, want)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	for _, block := range []string{
		"Status: 404 Not Found\r\nContent-Type: a\r\n\r\n", "Location: /\n\n", "\n", "A\r\n\r\n", "A: b\r\n c\r\n\r\n",
		"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 7\r\n\r\nand a body",
	} {
		f.Add([]byte(block), 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, split int) {
		end := headerEnd(b, 0)
		if split = min(max(split, 0), len(b)); headerEnd(b[:split], 0) == 0 {
			if again := headerEnd(b, max(0, split-2)); again != end && split >= 2 {
				t.Fatalf("the end is at %d, or at %d when looked for from %d on", end, again, split)
			}
		}
		h, err := parseHead(string(b[:end]))
		if err != nil {
			return
		}
		if h.code < 200 || h.code > 999 || !strings.HasPrefix(h.status, h.status[:3]+" ") {
			t.Errorf("status = %d %q", h.code, h.status)
		}
		for name, values := range h.header {
			if name != http.CanonicalHeaderKey(name) || len(values) == 0 {
				t.Errorf("header %q = %q", name, values)
			}
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("header %q holds a line break: %q", name, values)
			}
		}
	})
}
