package proxy

import (
	"net/http"
	"strconv"
	"time"
)

// clientWriter is the client's side of one answer: the head is written before the first byte, and giving up
// ends the request. The deadline of each write is pace's.
type clientWriter struct {
	w       http.ResponseWriter
	control http.ResponseController
	status  int
	started bool // the head has been written
}

func (c *clientWriter) start() {
	if c.started {
		return
	}
	c.started = true
	c.w.WriteHeader(c.status)
}

// writeWhole sends the complete body, which gives the client its length.
func (c *clientWriter) writeWhole(body []byte) error {
	if h := c.w.Header(); !c.started && h["Content-Length"] == nil && h["Trailer"] == nil {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	return c.write(body)
}

func (c *clientWriter) write(p []byte) error {
	c.start()
	_, err := c.w.Write(p)
	return err
}

func (c *clientWriter) flush() error {
	c.start()
	return c.control.Flush()
}

// giveUp ends the request's context, and with it the backend's side, when the client takes no more though its
// connection is there: a request ends as soon as reading from its client fails. HTTP/2 does that by itself when
// a write is too slow.
func (c *clientWriter) giveUp() {
	_ = c.control.SetReadDeadline(time.Unix(1, 0))
}
