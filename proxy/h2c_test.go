package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

// h2c returns a gateway whose application says over what it was asked, and a client with prior knowledge.
func h2c(t *testing.T, top string) (*fixture, *http.Client, *fcgitest.Responder) {
	t.Helper()
	responder := fcgitest.New(t, fcgitest.Echo(func(r fcgitest.Request) string {
		for _, p := range r.Params {
			if p.Name == "SERVER_PROTOCOL" {
				return "Content-Type: text/plain\r\n\r\n" + p.Value
			}
		}
		return "Content-Type: text/plain\r\n\r\nnone"
	}), fcgitest.End(0, 0))
	f := serve(t, top+"\n"+fpmSite(responder, ""))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return f, &http.Client{Transport: transport, Timeout: 10 * time.Second}, responder
}

func TestTrustedProxySpeaksHTTP2WithoutTLS(t *testing.T) {
	f, client, responder := h2c(t, "trusted_proxies = [\"loopback\"]\nh2c = true")
	r, _ := http.NewRequest("GET", f.url("/"), nil)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	r.Header.Set("X-Forwarded-Proto", "https")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "HTTP/2.0" || resp.ProtoMajor != 2 {
		t.Errorf("%q over %s", body, resp.Proto)
	}
	want := map[string]string{"REMOTE_ADDR": "203.0.113.9", "HTTPS": "on"}
	for _, p := range responder.Requests()[0].Params {
		if want[p.Name] == p.Value {
			delete(want, p.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("the application was not told %v", want)
	}
	// HTTP/1 goes on at the same address, also by methods that begin as the preface does.
	for _, method := range []string{"GET", "POST", "PROPFIND", "PRI"} {
		answer := f.raw(method + " / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.HasSuffix(answer, "HTTP/1.1") {
			t.Errorf("%s: %q", method, answer)
		}
	}
}

func TestOthersDoNotSpeakHTTP2WithoutTLS(t *testing.T) {
	for name, top := range map[string]string{
		"not trusted": "trusted_proxies = [\"10.0.0.0/8\"]\nh2c = true",
		"not wanted":  "trusted_proxies = [\"loopback\"]",
		"as it comes": "",
	} {
		f, client, _ := h2c(t, top)
		if resp, err := client.Get(f.url("/")); err == nil {
			resp.Body.Close()
			t.Errorf("%s: %s over %s", name, resp.Status, resp.Proto)
		}
	}
}

func TestHTTP2BehindTheProxyProtocol(t *testing.T) {
	f, _, responder := h2c(t, "trusted_proxies = [\"loopback\"]\nproxy_protocol = [\"http://@ADDR@\"]\nh2c = true")
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, Dial: func(network, addr string) (net.Conn, error) {
		conn, err := net.Dial(network, addr)
		if err == nil {
			fmt.Fprint(conn, "PROXY TCP4 203.0.113.9 127.0.0.1 12345 80\r\n")
		}
		return conn, err
	}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get(f.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for _, p := range responder.Requests()[0].Params {
		if p.Name == "REMOTE_ADDR" && p.Value != "203.0.113.9" {
			t.Errorf("REMOTE_ADDR = %s", p.Value)
		}
	}
}

func TestSilentProxyIsGivenUp(t *testing.T) {
	f, _, _ := h2c(t, "trusted_proxies = [\"loopback\"]\nh2c = true\nlimits = { header_timeout = \"200ms\" }")
	for _, first := range []string{"", "P", "PRI * HTTP/2.0\r\n"} {
		begun := time.Now()
		if answer := f.raw(first); answer != "" || time.Since(begun) > 5*time.Second {
			t.Errorf("%q: %q after %v", first, answer, time.Since(begun))
		}
	}
}
