package upstream

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// sentAtOnce is the longest body that is sent before the response is looked at: it fits into what the system
// holds for a connection. With a longer one the backend may answer in the middle, and even want that answer
// to be read before it takes the rest.
const sentAtOnce = 16 << 10

// hopHeaders concern one connection, or are written from elsewhere. These maps are never changed.
var (
	hopHeaders = map[string]bool{
		"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Trailer": true, "Expect": true,
		"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Upgrade": true,
	}
	hopHeadersAndAgent = withAgent(hopHeaders)
)

func withAgent(names map[string]bool) map[string]bool {
	names = maps.Clone(names)
	names["User-Agent"] = true
	return names
}

// send writes the request. How that ends is for sentAll and why: a backend that takes no more may still answer.
func (x *exchange) send() {
	x.c.wrote.Store(false)
	x.writeHead(x.c.w)
	if x.r.ContentLength <= sentAtOnce {
		x.unsent = x.sendBody()
		return
	}
	// It ends with the body, or once the connection is closed.
	x.sending = make(chan struct{})
	go func() {
		defer close(x.sending)
		x.unsent = x.sendBody()
	}()
}

// writeHead leaves errors to the writer, which keeps the first of them for Flush.
func (x *exchange) writeHead(w *bufio.Writer) {
	r := x.r
	w.WriteString(r.Method)
	w.WriteByte(' ')
	w.WriteString(target(r))
	// Host comes first: some servers choose by it while they are still reading.
	w.WriteString(" HTTP/1.1\r\nHost: ")
	w.WriteString(host(r))
	w.WriteString("\r\n")
	// A POST without a body says so, or some servers answer 411.
	if hasBody(r) || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		w.WriteString("Content-Length: ")
		w.Write(strconv.AppendInt(w.AvailableBuffer(), max(0, r.ContentLength), 10))
		w.WriteString("\r\n")
	}
	if x.upgrade {
		w.WriteString("Connection: Upgrade\r\n")
		// Through a Header, since that takes line ends out of values.
		_ = http.Header{"Upgrade": r.Header["Upgrade"]}.Write(w)
	}
	omit := hopHeaders
	if agent := r.Header["User-Agent"]; len(agent) == 1 && agent[0] == "" {
		omit = hopHeadersAndAgent // as net/http takes it: say nothing
	}
	writeHeader(w, r.Header, omit)
	w.WriteString("\r\n")
}

// writeHeader writes what http.Header.WriteSubset would, which takes three times as long: it makes a list of all names and
// values, and looks for line ends with a table.
func writeHeader(w *bufio.Writer, h http.Header, omit map[string]bool) {
	var room [32]string
	names := room[:0]
	for name := range h {
		if !omit[name] && isToken(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			w.WriteString(name)
			w.WriteString(": ")
			w.WriteString(oneLine(textproto.TrimString(value)))
			w.WriteString("\r\n")
		}
	}
}

// isToken reports whether s can be the name of a field (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

var tokenBytes = func() (is [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		is[c] = strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
	}
	return is
}()

// oneLine puts spaces in the place of line ends, which would begin another field.
func oneLine(value string) string {
	if strings.IndexByte(value, '\n') < 0 && strings.IndexByte(value, '\r') < 0 {
		return value
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
}

func (x *exchange) sendBody() error {
	defer x.closeRequest()
	err := x.copyBody()
	if err == nil {
		err = x.c.w.Flush()
	}
	if x.trace.WroteRequest != nil {
		x.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	return err
}

func (x *exchange) copyBody() error {
	if !hasBody(x.r) {
		return nil
	}
	w := exactWriter{w: x.c.w, left: x.r.ContentLength}
	_, err := io.Copy(&w, x.r.Body)
	if err == nil && w.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && w.failed == nil {
		// The fault is the body's. The backend would wait for the rest of it.
		x.c.closeNow()
		return &Error{Op: "read request body", Backend: x.h.cfg.Address, Blame: Gateway, Err: err}
	}
	return err
}

var errLongBody = errors.New("request body is longer than its length")

// exactWriter passes on as many bytes as were announced, since any more would be taken for the next request.
type exactWriter struct {
	w      io.Writer
	left   int64
	failed error // of w
}

func (e *exactWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > e.left {
		return 0, errLongBody
	}
	n, err := e.w.Write(p)
	e.left -= int64(n)
	e.failed = err
	return n, err
}

// sentAll reports whether the request has gone out whole.
func (x *exchange) sentAll() bool { return x.isSent() && x.unsent == nil }

func (x *exchange) isSent() bool {
	if x.sending == nil {
		return true
	}
	select {
	case <-x.sending:
		return true
	default:
		return false
	}
}

// why returns the cause of a failed exchange: when sending failed, what came of reading is a consequence.
func (x *exchange) why(err error) error {
	if x.sending != nil && errors.Is(err, net.ErrClosed) && x.r.Context().Err() == nil {
		<-x.sending // it was the sender that closed, and it is just about to say why
	}
	if x.isSent() && x.unsent != nil {
		return x.unsent
	}
	return err
}

func (x *exchange) closeRequest() {
	if x.r.Body != nil {
		x.r.Body.Close()
	}
}

// hasBody takes a length of zero for no body, as a server does, not for an unknown one, as net/http's client does.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// target prefers the bytes of the client: what a URL makes of them again may differ from them, and applications
// that sign or route by the raw target notice.
func target(r *http.Request) string {
	if r.RequestURI != "" && (r.RequestURI[0] == '/' || r.RequestURI == "*") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

func host(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	return r.URL.Host
}
