package fastcgi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// maxQuoted limits what an error repeats of a malformed answer.
const maxQuoted = 200

// readHeader reads the CGI header and makes the response of it. The usual header comes in one piece and is parsed
// where it lies.
func (c *call) readHeader() error {
	var block []byte
	for {
		chunk, err := c.next()
		if err == io.EOF {
			return malformed(block)
		}
		if err != nil {
			return err
		}
		seen := len(block)
		if seen > 0 || headerEnd(chunk, 0) == 0 {
			block = append(block, chunk...)
			chunk = block
		}
		end := headerEnd(chunk, max(0, seen-2))
		if end > c.t.cfg.MaxHeaderBytes || end == 0 && len(block) > c.t.cfg.MaxHeaderBytes {
			return ErrHeaderTooLarge
		}
		if end > 0 {
			err := c.setResponse(chunk[:end])
			c.stream.take(end - seen)
			return err
		}
		c.stream.take(len(block) - seen)
	}
}

// headerEnd returns where the blank line in b ends, looking for it from an index on; 0 if there is none.
func headerEnd(b []byte, from int) int {
	if from == 0 {
		if n := lineBreak(b); n > 0 {
			return n
		}
	}
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		if n := lineBreak(b[at:]); n > 0 {
			return at + n
		}
	}
}

// lineBreak returns the length of the line break that b begins with.
func lineBreak(b []byte) int {
	switch {
	case len(b) > 0 && b[0] == '\n':
		return 1
	case len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		return 2
	}
	return 0
}

// setResponse makes the response of a header. An answer without a body keeps the length that a body would have had,
// which HEAD is there to ask for.
func (c *call) setResponse(block []byte) error {
	h, err := parseHead(string(block))
	if err != nil {
		return err
	}
	c.body = body{c: c, left: h.length}
	c.body.none = c.req.Method == http.MethodHead || h.code == http.StatusNoContent || h.code == http.StatusNotModified
	if c.body.none && h.length < 0 && c.req.Method != http.MethodHead {
		h.length = 0
	}
	c.response = http.Response{
		Status: h.status, StatusCode: h.code, Header: h.header, ContentLength: h.length,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: &c.body, Request: c.req,
	}
	return nil
}

// head is a CGI header.
type head struct {
	code   int
	status string
	header http.Header
	length int64 // Content-Length; -1 if there is none
}

// parseHead parses a header with the blank line that ends it. Names and values are parts of block.
func parseHead(block string) (head, error) {
	lines := strings.Count(block, "\n")
	h := head{header: make(http.Header, lines), length: -1}
	values := make([]string, 0, lines)
	for rest := block; ; {
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			break
		}
		name, value, ok := splitLine(line)
		if !ok {
			return h, malformed([]byte(block))
		}
		if name == "Status" {
			ok = h.setStatus(value)
		} else {
			values = append(values, value)
			ok = h.add(name, values[len(values)-1:len(values):len(values)])
		}
		if !ok {
			return h, malformed([]byte(line))
		}
	}
	h.complete()
	return h, nil
}

// splitLine splits a header line and brings its name into canonical form. A line that continues the one before,
// which CGI does not have, is not ok.
func splitLine(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" || strings.IndexByte(value, 0) >= 0 || strings.IndexByte(value, '\r') >= 0 {
		return "", "", false
	}
	for i := range len(name) {
		if !isToken[name[i]] {
			return "", "", false
		}
	}
	return textproto.CanonicalMIMEHeaderKey(name), textproto.TrimString(value), true
}

// isToken is the tchar of RFC 9110, 5.6.2. A space is none, so the text of a PHP error is not taken for a header.
var isToken = func() (set [256]bool) {
	for c := range set {
		set[c] = isAlnum(byte(c)) || strings.IndexByte("!#$%&'*+-.^_`|~", byte(c)) >= 0
	}
	return set
}()

// setStatus takes the first Status line. There are no interim answers in CGI, so 1xx is not ok.
func (h *head) setStatus(value string) bool {
	if h.code != 0 {
		return true
	}
	digits, text, _ := strings.Cut(value, " ")
	code, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 3 || code < 200 {
		return false
	}
	h.code, h.status = code, value
	if text == "" {
		h.status = ""
	}
	return true
}

// add adds a line whose value is the only element of one. Whatever is about a connection is dropped: the script
// has none.
func (h *head) add(name string, one []string) bool {
	if isHop(name) {
		return true
	}
	if name == "Content-Length" {
		return h.setLength(one)
	}
	if there, ok := h.header[name]; ok {
		h.header[name] = append(there, one[0])
		return true
	}
	h.header[name] = one
	return true
}

// setLength takes digits only, and repeated lines only if they agree: a length that is in doubt could make the rest of
// this answer the beginning of another.
func (h *head) setLength(one []string) bool {
	n, err := strconv.ParseUint(one[0], 10, 63)
	if err != nil || h.length >= 0 && h.length != int64(n) {
		return false
	}
	h.length = int64(n)
	h.header["Content-Length"] = one
	return true
}

// complete fills in the status that the script left out.
func (h *head) complete() {
	switch {
	case h.code != 0 && h.status != "":
	case h.code == 0 && h.header["Location"] == nil:
		h.code, h.status = http.StatusOK, "200 OK"
	case h.code == 0:
		h.code, h.status = http.StatusFound, "302 Found"
	default:
		h.status = strconv.Itoa(h.code) + " " + http.StatusText(h.code)
	}
}

// malformed is an ErrMalformedHeader that shows the first bytes of what was there instead.
func malformed(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: the answer is empty", ErrMalformedHeader)
	}
	return fmt.Errorf("%w: %q", ErrMalformedHeader, b[:min(len(b), maxQuoted)])
}
