package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// visits is what the part called handshakes is asked to do: clients that come, ask once, and leave, over and over.
type visits struct {
	Addr        string        `json:"addr"`
	Host        string        `json:"host"`
	Path        string        `json:"path"`
	Want        string        `json:"want"`        // the body of every answer
	Certificate string        `json:"certificate"` // PEM file
	Resume      bool          `json:"resume"`      // with the ticket of the visit before; otherwise anew each time
	Clients     int           `json:"clients"`
	Duration    time.Duration `json:"duration_ns"`
}

// runHandshakes starts this program in the part of the clients.
func runHandshakes(f *front, r row, seconds, connections int) (load, time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return load{}, 0, err
	}
	asked, err := json.Marshal(visits{
		Addr: f.addr, Host: r.Host, Path: r.Path, Want: r.want, Certificate: f.certificate.File,
		Resume: r.Client == resumed, Clients: connections, Duration: time.Duration(seconds) * time.Second,
	})
	if err != nil {
		return load{}, 0, err
	}
	out, cpu, err := runClient(seconds, self, "handshakes", string(asked))
	if err != nil {
		return load{}, 0, err
	}
	var l load
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		return load{}, 0, fmt.Errorf("handshakes: %w: %q", err, out)
	}
	return l, cpu, nil
}

// shakeHands is the part itself. It writes a load, as JSON.
func shakeHands(out io.Writer, asked string) error {
	var v visits
	if err := json.Unmarshal([]byte(asked), &v); err != nil {
		return err
	}
	l, err := v.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(l)
}

// run lets all clients come and go until the time is over.
func (v visits) run() (load, error) {
	shown, err := os.ReadFile(v.Certificate)
	if err != nil {
		return load{}, err
	}
	leaf, _ := pem.Decode(shown)
	if leaf == nil {
		return load{}, fmt.Errorf("%s holds no PEM", v.Certificate)
	}
	clients := make([]*visitor, v.Clients)
	for i := range clients {
		clients[i] = v.visitor(leaf.Bytes)
		if err := clients[i].prepare(); err != nil {
			return load{Bad: err.Error()}, nil
		}
	}
	start := time.Now()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { c.repeat(start.Add(v.Duration)) })
	}
	all.Wait()
	return sum(clients, time.Since(start)), nil
}

// visitor is one of the clients, and what it has seen.
type visitor struct {
	visits
	config  *tls.Config
	request []byte
	reader  *bufio.Reader
	tls     string // what was negotiated last
	took    []time.Duration
	bad     int
	first   error // of the bad ones
}

// visitor makes a client that knows the certificate by its bytes: a chain to verify would keep the clients' core
// busy, and the checks before and after have done that. The proof that the peer has the key is verified as ever.
func (v visits) visitor(leaf []byte) *visitor {
	c := &visitor{visits: v, request: v.request(), reader: bufio.NewReader(nil)}
	c.config = &tls.Config{
		ServerName: v.Host, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS13,
		// Go's own servers would take a post-quantum group if it were offered, which nginx with OpenSSL 3.0 has not.
		CurvePreferences:   []tls.CurveID{tls.X25519},
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, leaf) {
				return errors.New("another certificate")
			}
			return nil
		},
	}
	if v.Resume {
		c.config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	return c
}

func (v visits) request() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", v.Path, v.Host)
	for _, h := range browser {
		fmt.Fprintf(&b, "%s: %s\r\n", h.name, h.value)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// prepare fetches the first ticket of a client that resumes.
func (c *visitor) prepare() error {
	if !c.Resume {
		return nil
	}
	_, err := c.visit()
	return err
}

func (c *visitor) repeat(end time.Time) {
	for time.Now().Before(end) {
		took, err := c.visit()
		if err != nil {
			c.bad++
			c.first = cmp.Or(c.first, err)
			continue
		}
		c.took = append(c.took, took)
	}
}

// visit connects, asks, and leaves. It returns the time from the first packet to the last byte of the answer.
func (c *visitor) visit() (time.Duration, error) {
	start := time.Now()
	raw, err := net.DialTimeout("tcp", c.Addr, 10*time.Second)
	if err != nil {
		return 0, err
	}
	defer raw.Close()
	if err := raw.SetDeadline(start.Add(10 * time.Second)); err != nil {
		return 0, err
	}
	conn := tls.Client(raw, c.config)
	if _, err := conn.Write(c.request); err != nil {
		return 0, err
	}
	c.reader.Reset(conn)
	if err := c.readAnswer(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	// The peer closes, so that the ports of this side are free at once.
	if n, err := c.reader.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return 0, fmt.Errorf("%d bytes and %v after the answer, instead of the end", n, err)
	}
	return took, c.judge(conn.ConnectionState())
}

func (c *visitor) readAnswer() error {
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || string(body) != c.Want {
		return fmt.Errorf("%s and %.40q", resp.Status, body)
	}
	return nil
}

// judge says whether the handshake was of the kind that is measured, and like the one before.
// The first of a client that resumes has nothing to resume yet.
func (c *visitor) judge(s tls.ConnectionState) error {
	if want := c.Resume && c.tls != ""; s.DidResume != want {
		return fmt.Errorf("resumed: %v, want %v", s.DidResume, want)
	}
	said := terms(tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite), s.CurveID.String())
	if c.tls != "" && c.tls != said {
		return fmt.Errorf("negotiated %s after %s", said, c.tls)
	}
	c.tls = said
	return nil
}

// sum puts together what the clients have seen.
func sum(clients []*visitor, duration time.Duration) load {
	l := load{Duration: duration}
	var all []time.Duration
	var bad []string
	for _, c := range clients {
		all = append(all, c.took...)
		if c.bad > 0 {
			bad = append(bad, fmt.Sprintf("%d failed: %v", c.bad, c.first))
		}
		if l.TLS != "" && c.tls != "" && l.TLS != c.tls {
			bad = append(bad, "negotiated "+c.tls+" and "+l.TLS)
		}
		l.TLS = cmp.Or(c.tls, l.TLS)
	}
	l.Requests, l.PerSecond = len(all), float64(len(all))/duration.Seconds()
	l.latencies(all)
	if len(all) == 0 && len(bad) == 0 {
		bad = append(bad, "no answer")
	}
	l.Bad = strings.Join(bad, "; ")
	return l
}
