package upstream

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// Whatever stands in a header, it is written as net/http would.
func TestHeadersAreWrittenAsNetHTTPDoes(t *testing.T) {
	for name, h := range map[string]http.Header{
		"nothing":    {},
		"sorted":     {"B": {"2"}, "A": {"1", "3"}, "Cookie": {"a=b; c=d"}, "SERVER_PORT": {"443"}},
		"left out":   {"Host": {"evil"}, "Content-Length": {"5"}, "Connection": {"close"}, "X": {"y"}},
		"line ends":  {"X": {"a\r\nEvil: b", "\n", " padded\t"}},
		"bad names":  {"": {"a"}, "A B": {"b"}, "A:": {"c"}, "A\r\nEvil": {"d"}, "Ä": {"e"}, "A\x7f": {"f"}, "x{": {"g"}, "good-1.~!": {"h"}},
		"no value":   {"X": {}, "Y": {""}, "Z": nil},
		"many names": manyHeaders(100),
	} {
		var want, got bytes.Buffer
		if err := h.WriteSubset(&want, hopHeaders); err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(&got)
		writeHeader(w, h, hopHeaders)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s:\n%q, want\n%q", name, got.String(), want.String())
		}
	}
}

func manyHeaders(n int) http.Header {
	h := http.Header{}
	for i := range n {
		h["X-"+strings.Repeat("a", i)] = []string{"v"}
	}
	return h
}
