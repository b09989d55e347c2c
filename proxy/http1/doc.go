// Package http1 serves HTTP/1.0 and HTTP/1.1 to an http.Handler, in place of net/http's server.
//
// It is strict where net/http is lenient, for what a gateway takes in one way and its backend in another is how
// requests are smuggled: a line that ends in a bare LF, a folded line, a Content-Length beside a Transfer-Encoding or
// beside another Content-Length, a Transfer-Encoding in HTTP/1.0 are all refused (RFC 9112, sections 2.2, 5.2, 6.1 and
// 6.3). And it is cheaper: no goroutine for each request, no buffer for an idle connection, one write for a short
// answer.
//
// Handlers see what they would see of net/http: 100 Continue is sent when the body is first read, the context ends when
// the client leaves, http.ResponseController sets deadlines, flushes and hijacks, and panic(http.ErrAbortHandler) breaks
// the answer off. Left out are what a gateway has no use for: a Content-Type is not guessed, trailers are read and
// dropped, and other panics are not caught.
package http1
