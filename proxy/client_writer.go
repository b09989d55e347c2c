package proxy

import (
	"net/http"
	"strconv"
	"time"
)

// clientWriter is the client's side of one answer: the head is written before the first byte, each write
// has a deadline of its own, and giving up ends the backend's side.
type clientWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	status  int
	timeout time.Duration // of one write; zero means none
	giveUp  func()        // called when the client takes no more
	started bool          // the head has been written
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
	c.extend()
	c.start()
	_, err := c.w.Write(p)
	return err
}

func (c *clientWriter) flush() error {
	c.extend()
	c.start()
	return c.control.Flush()
}

// extend gives the client the whole time again. A connection without deadlines has none to extend.
func (c *clientWriter) extend() {
	if c.timeout > 0 {
		_ = c.control.SetWriteDeadline(time.Now().Add(c.timeout))
	}
}
