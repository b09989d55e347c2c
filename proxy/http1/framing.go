package http1

import (
	"net/http"
	"strconv"
)

// decide makes the head when more of the body is to come.
func (w *response) decide() error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.measure()
	return w.decideWith(w.length)
}

// decideWith chooses the framing, writes the head into the buffer and what was held behind it. length is the body's, or
// -1 when that is not known.
func (w *response) decideWith(length int64) error {
	w.length = length
	shown := length >= 0
	switch {
	case !hasBody(w.status):
		w.framing, shown = bodyless, false
		if w.status == http.StatusNotModified {
			delete(w.header, "Content-Type") // the client has one (RFC 9110, 15.4.5)
		}
	case w.toHead:
		w.framing = bodyless
	case length >= 0:
		w.framing = counted
	case w.minor > 0:
		w.framing = chunks
	default:
		w.framing = toTheEnd
	}
	w.close = w.closes()
	w.makeHead(shown)
	if w.held == nil {
		return nil
	}
	held := w.held
	w.held = nil
	defer held.free()
	return w.emit(held.buf[:held.n])
}

// closes says whether the connection ends behind this answer.
func (w *response) closes() bool {
	asked := hasToken(w.header["Connection"], "close")
	return asked || !w.keep || w.framing == toTheEnd || w.status == http.StatusSwitchingProtocols ||
		w.body != nil && !w.body.answered() || w.conn.server.draining.Load()
}

func (w *response) makeHead(length bool) {
	out := &w.out
	out.statusLine(w.minor, w.status)
	out.fields(w.header)
	if w.header["Date"] == nil {
		out.text("Date: ")
		out.text(date())
		out.text("\r\n")
	}
	if length {
		out.text("Content-Length: ")
		out.number(w.length, 10)
		out.text("\r\n")
	}
	if w.framing == chunks {
		out.text("Transfer-Encoding: chunked\r\n")
	}
	switch {
	case w.close && w.minor > 0:
		out.text("Connection: close\r\n")
	case !w.close && w.minor == 0:
		out.text("Connection: keep-alive\r\n")
	}
	out.text("\r\n")
}

// isOurs says whether a field is about the connection, which is not for the handler to say.
func isOurs(name string) bool {
	switch name {
	case "Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive", "Trailer":
		return true
	}
	return false
}

var statusLines = func() (lines [1000]string) {
	for status := range lines {
		text := http.StatusText(status)
		if text == "" {
			text = "status code " + strconv.Itoa(status) // as net/http says it; Laravel's 419 is one of these
		}
		lines[status] = strconv.Itoa(status) + " " + text + "\r\n"
	}
	return lines
}()
