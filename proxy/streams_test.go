package proxy

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// http2Client speaks HTTP/2 over one connection to addr, made for the name a.test.
func http2Client(t *testing.T, addr string) *http.Client {
	t.Helper()
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{ServerName: "a.test", InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// askFor sends a request for host on the connection of a.test.
func askFor(t *testing.T, client *http.Client, host string) *http.Response {
	t.Helper()
	r, err := http.NewRequest("GET", "https://a.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Errorf("%s, want HTTP/2", resp.Proto)
	}
	return resp
}

func TestStreamsOfOneConnectionAreOfOneSite(t *testing.T) {
	app := strings.Replace(fpmSite(okApp(t), ""), `"*"`, `"a.test", "b.test"`, 1)
	_, addr := tlsPorts(t, "", "[[site]]\nhosts = [\"c.test\"]\nroot = \"@PUBLIC@\"\napp = \"fpm\"\n"+app)
	client := http2Client(t, addr)
	for host, want := range map[string]int{"a.test": 200, "b.test": 200, "c.test": 421, "A.test:443": 200} {
		if got := askFor(t, client, host).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", host, got, want)
		}
	}
}

func TestStreamsOfAClientAreLimited(t *testing.T) {
	asked, answer := make(chan bool), make(chan bool)
	octane := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- true; <-answer }))
	defer octane.Close()
	_, addr := tlsPorts(t, "limits = { in_flight_per_address = 2 }",
		strings.Replace(octaneSite(octane.Listener.Addr().String(), ""), `"*"`, `"a.test"`, 1))
	client := http2Client(t, addr)
	ended := make(chan int, 2)
	for range 2 {
		go func() { ended <- askFor(t, client, "a.test").StatusCode }()
		<-asked
	}
	if third := askFor(t, client, "a.test"); third.StatusCode != 429 || third.Header.Get("Retry-After") != "1" {
		t.Errorf("the third stream: %s, %v; want 429", third.Status, third.Header)
	}
	for range 2 {
		answer <- true
		if got := <-ended; got != 200 {
			t.Errorf("a stream within the limit: %d, want 200", got)
		}
	}
	go func() { ended <- askFor(t, client, "a.test").StatusCode }()
	select {
	case <-asked:
		answer <- true
		<-ended
	case got := <-ended:
		t.Errorf("after those have ended: %d, want that it is asked for", got)
	}
}

// What a proxy calls the host is not what its connection is made for.
func TestForwardedHostNeedNotAgree(t *testing.T) {
	app := strings.Replace(fpmSite(okApp(t), ""), `"*"`, `"a.test"`, 1)
	_, addr := tlsPorts(t, "trusted_proxies = [\"loopback\"]\nforwarded_host = true",
		"[[site]]\nhosts = [\"c.test\"]\nroot = \"@PUBLIC@\"\napp = \"fpm\"\nrate = [{ rate = \"1/h\", key = \"site\" }]\n"+app)
	r, err := http.NewRequest("GET", "https://a.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-Host", "c.test")
	client := http2Client(t, addr)
	for _, want := range []int{200, 429} { // by the rate of c.test
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("status = %d, want %d", resp.StatusCode, want)
		}
	}
}
