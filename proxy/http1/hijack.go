package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// Hijack gives the connection to the handler, with what the client has sent ahead in the reader. What was written before
// is sent first. The server knows nothing of the connection from then on.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.hijacked {
		return nil, nil, http.ErrHijacked
	}
	if w.status != 0 {
		if err := w.FlushError(); err != nil {
			return nil, nil, err
		}
	}
	c := w.conn
	c.watch.stop()
	w.hijacked = true
	w.release()
	if err := c.nc.SetDeadline(time.Time{}); err != nil {
		return nil, nil, err
	}
	early := bytes.Clone(c.in.waiting())
	c.in.drop()
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), c.nc), max(len(early), 512))
	if _, err := reader.Peek(len(early)); err != nil {
		return nil, nil, err
	}
	return c.nc, bufio.NewReadWriter(reader, bufio.NewWriter(c.nc)), nil
}
