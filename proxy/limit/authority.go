package limit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// AuthorityConfig is what an Authority is made with.
type AuthorityConfig struct {
	// URL is what is asked, with GET.
	URL string
	// Copy are the headers of its answer that a request is given, in canonical form.
	Copy []string
	// Timeout bounds the wait for the whole answer.
	Timeout time.Duration
}

// mostAnswer is how much is read of an answer that is passed on to a client.
const mostAnswer = 1 << 20

// Authority is another service that says whether a request may pass. It may be used concurrently.
type Authority struct {
	url       *url.URL
	copy      []string
	timeout   time.Duration
	transport *http.Transport
}

// Question is what an Authority must know of a request beside its headers.
type Question struct {
	Method, Scheme, Host, URI, Client string
}

// Answer is what an Authority says to a request that may not pass, for its client.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NewAuthority returns the Authority of cfg. Close lets go of its connections.
func NewAuthority(cfg AuthorityConfig) (*Authority, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	return &Authority{url: u, copy: cfg.Copy, timeout: cfg.Timeout, transport: &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}}, nil
}

// Close closes the connections that are idle.
func (a *Authority) Close() { a.transport.CloseIdleConnections() }

// Ask sends the headers of a request, without those of its body and connection. It returns nil when the request may
// pass: header then has the headers to copy as the Authority has them, and none that the client sent under their names.
// An error means that no answer came, so that nobody may pass.
func (a *Authority) Ask(ctx context.Context, header http.Header, q Question) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	r := (&http.Request{Method: http.MethodGet, URL: a.url, Host: a.url.Host, Header: headerFor(header, q)}).WithContext(ctx)
	resp, err := a.transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", a.url.Redacted(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		// Only a body that is read to its end leaves the connection for the next question.
		_, _ = io.CopyN(io.Discard, resp.Body, mostAnswer)
		for _, name := range a.copy {
			delete(header, name)
			if values := resp.Header[name]; len(values) > 0 {
				header[name] = values
			}
		}
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", a.url.Redacted(), err)
	}
	return &Answer{resp.StatusCode, resp.Header, body}, nil
}

// ofTheBody are headers that would tell of a body or a protocol that the question does not have.
var ofTheBody = []string{
	"Content-Length", "Content-Encoding", "Content-Type", "Expect", "Connection", "Keep-Alive", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Range", "If-Range",
	"If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since",
}

// headerFor adds what services for nginx (X-Original-) and for other proxies (X-Forwarded-) look at.
func headerFor(header http.Header, q Question) http.Header {
	h := header.Clone()
	for _, name := range ofTheBody {
		delete(h, name)
	}
	h["X-Forwarded-Method"], h["X-Original-Method"] = []string{q.Method}, []string{q.Method}
	h["X-Forwarded-Uri"], h["X-Original-Uri"] = []string{q.URI}, []string{q.URI}
	h["X-Original-Url"] = []string{q.Scheme + "://" + q.Host + q.URI}
	h["X-Forwarded-Proto"], h["X-Forwarded-Host"], h["X-Forwarded-For"] = []string{q.Scheme}, []string{q.Host}, []string{q.Client}
	return h
}
