package load

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"
)

// TransportArm sends by way of an http.RoundTripper, which must not retry.
type TransportArm struct {
	// Transport sends.
	Transport http.RoundTripper
	// Prepare makes of a request what Transport takes, such as one with the variables of FastCGI. Nil leaves it as it is.
	Prepare func(*http.Request) (*http.Request, error)
	// Scheme and Address go into the URL of a request, for a Transport that dials by it. Zero means http and the host.
	Scheme, Address string

	conns connIDs
}

var seed = maphash.MakeSeed()

// Send sends r and reads the whole answer.
func (t *TransportArm) Send(ctx context.Context, r *Request, a *Answer) error {
	trace := tracing{answer: a, conns: &t.conns}
	out := t.request(httptrace.WithClientTrace(ctx, trace.hooks()), r)
	if t.Prepare != nil {
		var err error
		if out, err = t.Prepare(out); err != nil {
			return err
		}
	}
	resp, err := t.Transport.RoundTrip(out)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.Status, a.Header = resp.StatusCode, resp.Header
	return a.readBody(resp.Body)
}

func (t *TransportArm) request(ctx context.Context, r *Request) *http.Request {
	scheme, address := t.Scheme, t.Address
	if scheme == "" {
		scheme = "http"
	}
	if address == "" {
		address = r.Host
	}
	path, query, _ := bytes.Cut([]byte(r.Target), []byte("?"))
	out := (&http.Request{
		Method: r.Method, Host: r.Host, Header: r.Header.Clone(), RequestURI: r.Target,
		URL:   &url.URL{Scheme: scheme, Host: address, Opaque: "", Path: string(path), RawQuery: string(query)},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody,
	}).WithContext(ctx)
	if len(r.Body) > 0 {
		out.ContentLength = int64(len(r.Body))
		out.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	return out
}

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// readBody reads to the end, and keeps what is to be kept.
func (a *Answer) readBody(body io.Reader) error {
	buffer := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buffer)
	var sum maphash.Hash
	sum.SetSeed(seed)
	for {
		n, err := body.Read(buffer[:])
		a.Size += int64(n)
		sum.Write(buffer[:n])
		if room := bodyKept - len(a.Body); a.KeepBody && room > 0 {
			a.Body = append(a.Body, buffer[:min(n, room)]...)
		}
		if err == io.EOF {
			a.End, a.Sum = time.Now(), sum.Sum64()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tracing notes what a transport says of a request under way.
type tracing struct {
	answer *Answer
	conns  *connIDs
}

func (t tracing) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			t.answer.Reused, t.answer.Conn = info.Reused, t.conns.of(info.Conn)
			t.answer.Wrote = time.Now() // it is written at once
		},
		GotFirstResponseByte: func() { t.answer.FirstByte = time.Now() },
	}
}

// connIDs numbers connections.
type connIDs struct {
	mu   sync.Mutex // guards what follows
	ids  map[net.Conn]uint64
	last uint64
}

// of returns the number of nc, 0 for none. Only so many are told apart as anybody asks for.
func (c *connIDs) of(nc net.Conn) uint64 {
	if nc == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, known := c.ids[nc]
	if !known {
		if len(c.ids) >= mostConns {
			return 0
		}
		if c.ids == nil {
			c.ids = map[net.Conn]uint64{}
		}
		c.last++
		id = c.last
		c.ids[nc] = id
	}
	return id
}
