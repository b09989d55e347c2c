package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// frontOf is a peer that answers with the host, the protocol and whether TLS is on.
func frontOf(t *testing.T, c *certificate) *front {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.Host, " ", r.Proto, " ", r.TLS != nil)
	}))
	t.Cleanup(server.Close)
	f := &front{certificate: c, addr: server.Listener.Addr().String()}
	if c == nil {
		server.Start()
		return f
	}
	pair, err := tls.LoadX509KeyPair(c.File, c.Key)
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.EnableHTTP2 = true
	server.StartTLS()
	return f
}

func TestFrontIsAskedAsTheClientsOfARowWill(t *testing.T) {
	plain, secure := frontOf(t, nil), frontOf(t, someCertificate(t))
	for _, c := range []struct {
		f            *front
		client, want string
	}{
		{plain, "", "hello.bench HTTP/1.1 false"},
		{secure, full, "hello.bench HTTP/1.1 true"},
		{secure, http1, "hello.bench HTTP/1.1 true"},
		{secure, http2, "hello.bench HTTP/2.0 true"},
	} {
		got, err := c.f.get(row{Host: helloHost, Path: "/", Client: c.client})
		if err != nil || got != c.want {
			t.Errorf("%s: get = %q, %v; want %q", c.client, got, err, c.want)
		}
	}
}

func TestFrontWithAnotherAnswerOrCertificateIsFound(t *testing.T) {
	f := frontOf(t, someCertificate(t))
	if got, err := f.get(row{Host: helloHost, Path: "/none"}); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("get = %q, %v; want the status of the redirect", got, err)
	}
	f.certificate = someCertificate(t)
	if got, err := f.get(row{Host: helloHost, Path: "/"}); err == nil {
		t.Errorf("with another root get = %q, %v; want an error", got, err)
	}
}
