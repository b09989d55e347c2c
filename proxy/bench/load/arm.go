package load

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// TransportArm sends by way of an http.RoundTripper, which must not retry.
type TransportArm struct {
	// Transport sends.
	Transport http.RoundTripper
	// Prepare makes of a request what Transport takes, such as one with the variables of FastCGI. It must not change the
	// header that it is given. Nil leaves the request as it is.
	Prepare func(*http.Request) (*http.Request, error)
	// Attend has Transport tell of the connections of requests that are sent one after the other. Nil means by httptrace.
	Attend func(context.Context, *Attendant) context.Context
	// Scheme and Address go into the URL of a request, for a Transport that dials by it. Zero means http and the host.
	Scheme, Address string

	conns connIDs
	urls  urlCache
}

var seed = maphash.MakeSeed()

// errResent is a transport that sent a request again when a kept connection had ended. Nobody asked it to.
var errResent = fmt.Errorf("a kept connection ended under the request: %w", syscall.ECONNRESET)

// Send sends r and reads the whole answer.
func (t *TransportArm) Send(ctx context.Context, r *Request, a *Answer) error {
	ctx, attendant := t.attend(ctx, a)
	out, err := t.request(ctx, r)
	if err == nil && t.Prepare != nil {
		out, err = t.Prepare(out)
	}
	if err != nil {
		return err
	}
	resp, err := t.Transport.RoundTrip(out)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if attendant.connected > 1 {
		return errResent
	}
	a.FirstByte = time.Now()
	a.Status, a.Header = resp.StatusCode, resp.Header
	return a.readBody(resp.Body)
}

// attended is the context of the requests that one client sends one after the other, with who attends them. To make both
// anew for each of them takes a good part of what a request costs.
type attended struct {
	arm        *TransportArm
	base, done context.Context
	by         *Attendant
}

func (t *TransportArm) attend(ctx context.Context, a *Answer) (context.Context, *Attendant) {
	kept := &a.attended
	if kept.arm != t || kept.base != ctx {
		attend := t.Attend
		if attend == nil {
			attend = byTrace
		}
		by := &Attendant{conns: &t.conns}
		*kept = attended{t, ctx, attend(ctx, by), by}
	}
	kept.by.answer, kept.by.connected = a, 0
	return kept.done, kept.by
}

// blank is what all requests have in common. It is only copied.
var blank = http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}

func (t *TransportArm) request(ctx context.Context, r *Request) (*http.Request, error) {
	u, err := t.urls.of(t.Scheme, t.Address, r)
	if err != nil {
		return nil, err
	}
	out := blank.WithContext(ctx)
	out.Method, out.Host, out.Header, out.RequestURI, out.URL = r.Method, r.Host, r.Header, r.Target, u
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if len(r.Body) > 0 {
		out.ContentLength = int64(len(r.Body))
		out.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	return out, nil
}

// urlCache keeps the URLs of targets, which nobody changes.
type urlCache struct {
	known sync.Map // target to *url.URL
	count atomic.Int64
}

const mostURLs = 10_000

func (c *urlCache) of(scheme, address string, r *Request) (*url.URL, error) {
	if address == "" {
		address = r.Host
	}
	key := address + r.Target
	if u, ok := c.known.Load(key); ok {
		return u.(*url.URL), nil
	}
	u, err := url.ParseRequestURI(r.Target)
	if err != nil {
		return nil, err
	}
	if u.Scheme = scheme; scheme == "" {
		u.Scheme = "http"
	}
	u.Host = address
	if c.count.Add(1) <= mostURLs {
		c.known.Store(key, u)
	}
	return u, nil
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

// Attendant notes what a transport says of the connection of one request.
type Attendant struct {
	answer    *Answer
	conns     *connIDs
	connected int // how often
}

// Connected says that the request goes over nc, which has carried others before or not, and is written to it now.
func (t *Attendant) Connected(nc net.Conn, reused bool) {
	t.connected++
	t.answer.Reused, t.answer.Wrote = reused, time.Now()
	if reused {
		t.answer.Conn = t.conns.of(nc) // what carries one request has no habits to compare
	}
}

func byTrace(ctx context.Context, t *Attendant) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { t.Connected(info.Conn, info.Reused) },
	})
}

// connIDs numbers connections.
type connIDs struct {
	mu   sync.Mutex // guards what follows
	ids  map[net.Conn]uint64
	last uint64
}

// of returns the number of nc, 0 for none. When there are too many, all get new ones: most of those are closed by then.
func (c *connIDs) of(nc net.Conn) uint64 {
	if nc == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, known := c.ids[nc]
	if !known {
		if c.ids == nil || len(c.ids) >= mostConns {
			c.ids = map[net.Conn]uint64{}
		}
		c.last++
		id = c.last
		c.ids[nc] = id
	}
	return id
}
