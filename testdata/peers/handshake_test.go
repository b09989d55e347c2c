package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// shown starts a server with a certificate of its own, and returns visits to it.
func shown(t *testing.T, configure func(*tls.Config), answer http.HandlerFunc) visits {
	t.Helper()
	c := someCertificate(t)
	pair, err := tls.LoadX509KeyPair(c.File, c.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	configure(server.TLS)
	server.StartTLS()
	t.Cleanup(server.Close)
	return visits{
		Addr: server.Listener.Addr().String(), Host: helloHost, Path: "/hello", Want: hello,
		Certificate: c.File, Clients: 2, Duration: 50 * time.Millisecond,
	}
}

func asComes(*tls.Config) {}

func sayHello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, hello) }

func TestVisitsShakeHandsAsAsked(t *testing.T) {
	for name, resume := range map[string]bool{"full": false, "resumed": true} {
		v := shown(t, asComes, func(w http.ResponseWriter, r *http.Request) {
			if r.Host != helloHost || r.TLS.ServerName != helloHost || r.Header.Get("Cookie") == "" || r.TLS.DidResume && !resume {
				http.Error(w, "not as a browser asks", http.StatusBadRequest)
				return
			}
			sayHello(w, r)
		})
		v.Resume = resume
		asked, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := shakeHands(&out, string(asked)); err != nil {
			t.Fatal(err)
		}
		var got load
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Bad != "" || got.Requests < 2 || got.Duration < v.Duration || got.PerSecond <= 0 || got.P50 <= 0 || got.P99 < got.P50 {
			t.Errorf("%s: load = %+v, want visits and nothing bad", name, got)
		}
		if !strings.HasPrefix(got.TLS, "TLS 1.3, TLS_") || !strings.HasSuffix(got.TLS, ", X25519") {
			t.Errorf("%s: negotiated %q", name, got.TLS)
		}
	}
}

func TestVisitsTellWhatIsWrong(t *testing.T) {
	other := someCertificate(t)
	for _, c := range []struct {
		name      string
		configure func(*tls.Config)
		answer    http.HandlerFunc
		change    func(*visits)
		want      string
	}{
		{"another answer", asComes, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "bye") },
			func(*visits) {}, `200 OK and "bye"`},
		{"a failure", asComes, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
			func(*visits) {}, "503 Service Unavailable"},
		{"no tickets", func(c *tls.Config) { c.SessionTicketsDisabled = true }, sayHello,
			func(v *visits) { v.Resume = true }, "resumed: false, want true"},
		{"an old version", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, sayHello,
			func(*visits) {}, "protocol version"},
		{"another certificate", asComes, sayHello,
			func(v *visits) { v.Certificate = other.File }, "another certificate"},
		{"nobody there", asComes, sayHello,
			func(v *visits) { v.Addr, v.Resume = "127.0.0.1:1", true }, "refused"},
	} {
		v := shown(t, c.configure, c.answer)
		c.change(&v)
		got, err := v.run()
		if err != nil || got.Requests != 0 || !strings.Contains(got.Bad, c.want) {
			t.Errorf("%s: load = %+v, %v; want nothing but %q", c.name, got, err, c.want)
		}
	}
}

func TestClientsThatNegotiateDifferentlyAreBad(t *testing.T) {
	got := sum([]*visitor{{tls: "one", took: []time.Duration{1}}, {}, {tls: "other", took: []time.Duration{3}}}, time.Second)
	if got.Requests != 2 || got.Bad != "negotiated other and one" {
		t.Errorf("load = %+v, want two requests and why they are bad", got)
	}
}
