package http1

import (
	"net/http"
	"net/url"
	"strings"
)

// message is the head of a request, parsed.
type message struct {
	method, target, proto string
	minor                 int // of the version
	url                   *url.URL
	host                  string
	header                http.Header
	length                int64 // of the body; -1 when it is chunked
	close                 bool  // the client wants no other request on this connection
	expect                bool  // the body comes once 100 Continue was sent
}

// parse reads a head whose lines end at ends, each with CRLF, and which has no LF elsewhere.
func parse(head string, ends []int) (*message, *Error) {
	m := new(message)
	if err := m.parseLine(head[:ends[0]]); err != nil {
		return nil, err
	}
	if err := m.parseFields(head, ends); err != nil {
		return nil, err
	}
	for _, step := range []func(*message) *Error{(*message).frame, (*message).findHost, (*message).persist} {
		if err := step(m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *message) parseLine(line string) *Error {
	method, rest, _ := strings.Cut(line, " ")
	target, proto, ok := strings.Cut(rest, " ")
	if !ok || !isTokenString(method) || target == "" {
		return errRequestLine
	}
	if len(proto) != len("HTTP/1.1") || proto[:5] != "HTTP/" || !isDigit(proto[5]) || proto[6] != '.' || !isDigit(proto[7]) {
		return errRequestLine
	}
	if proto[5] != '1' {
		return errVersion
	}
	m.minor = int(proto[7] - '0') // one that is yet to come is answered as HTTP/1.1 (RFC 9110, 2.5)
	m.method, m.target, m.proto = method, target, proto
	return m.findTarget()
}

func isTokenString(s string) bool {
	for i := range len(s) {
		if !isToken[s[i]] {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseFields makes the header of the lines behind the first. All values are parts of head and of one slice.
func (m *message) parseFields(head string, ends []int) *Error {
	m.header = make(http.Header, len(ends)-1)
	values := make([]string, len(ends)-1)
	begin := ends[0] + 2
	for i, end := range ends[1:] {
		line := head[begin:end]
		begin = end + 2
		colon := strings.IndexByte(line, ':')
		if colon < 0 {
			return malformed("a line of the head has no colon")
		}
		// A name with white space before the colon, and a folded line, have no token for a name.
		name, ok := canonical(line[:colon])
		if !ok {
			return malformed("the name of a field has a byte that no name may have")
		}
		value := trim(line[colon+1:])
		if !isFieldValue(value) {
			return malformed("the value of a field has a control byte")
		}
		if before := m.header[name]; before != nil {
			m.header[name] = append(before, value)
			continue
		}
		values[i] = value
		m.header[name] = values[i : i+1 : i+1]
	}
	return nil
}

func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

func isFieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// frame finds out where the body ends (RFC 9112, 6.3). There is one way to say that, and it is said once.
func (m *message) frame() *Error {
	lengths, codings := m.header["Content-Length"], m.header["Transfer-Encoding"]
	switch {
	case len(codings) > 0 && len(lengths) > 0:
		return malformed("Content-Length beside Transfer-Encoding")
	case len(codings) > 0 && m.minor == 0:
		return malformed("Transfer-Encoding in HTTP/1.0")
	case len(codings) > 1 || len(codings) == 1 && !strings.EqualFold(codings[0], "chunked"):
		return errCoding
	case len(codings) == 1:
		delete(m.header, "Transfer-Encoding")
		m.length = -1
	case len(lengths) > 1:
		return malformed("Content-Length is repeated")
	case len(lengths) == 1:
		var ok bool
		if m.length, ok = parseLength(lengths[0]); !ok {
			return malformed("Content-Length is not a number")
		}
	}
	delete(m.header, "Trailer") // they are dropped
	return nil
}

// parseLength reads digits alone, as far as an int64 goes.
func parseLength(s string) (n int64, ok bool) {
	if s == "" || len(s) > 19 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(s[i]-'0')
	}
	return n, n >= 0
}

// persist reads what the client wants of the connection.
func (m *message) persist() *Error {
	connection := m.header["Connection"]
	if m.minor > 0 {
		m.close = hasToken(connection, "close")
	} else {
		m.close = !hasToken(connection, "keep-alive")
	}
	// To whoever stands before us, what follows CONNECT may be no HTTP any more.
	m.close = m.close || m.method == http.MethodConnect
	expect := m.header["Expect"]
	if len(expect) == 0 || m.minor == 0 {
		return nil
	}
	if len(expect) > 1 || !strings.EqualFold(expect[0], "100-continue") {
		return errExpectation
	}
	m.expect = m.length != 0
	return nil
}

// hasToken says whether one of the comma-separated elements of lines is token, in any case.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(trim(part), token) {
				return true
			}
		}
	}
	return false
}
