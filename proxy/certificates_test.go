package proxy

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientAuthority makes an authority for clients that is its own client.
func clientAuthority(t *testing.T) (file string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "clients.pem")
	write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return file, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// asks sends a request for host on a connection that named sni, or none, and returns the status, or "none" when there is no
// answer at all.
func asks(t *testing.T, addr, sni, host string, own ...tls.Certificate) string {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: sni, InsecureSkipVerify: true, Certificates: own})
	if err != nil {
		return "none"
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "GET /a.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "none"
	}
	defer resp.Body.Close()
	return resp.Status[:3]
}

func TestSiteWithClientCertificatesIsReachedWithOneAlone(t *testing.T) {
	file, ours := clientAuthority(t)
	site := strings.Replace(fpmSite(okApp(t), ""), `"*"`, `"admin.test"`, 1)
	open := "[[site]]\nhosts = [\"a.test\"]\nroot = \"@PUBLIC@\"\napp = \"fpm\"\n"
	guard := fmt.Sprintf("[site.client_certificates]\nca = %q\n", file)
	f, addr := tlsPorts(t, "trusted_proxies = [\"loopback\"]", open+strings.Replace(site, "[upstream", guard+"[upstream", 1))
	write(t, f.public+"/a.txt", "a")
	for _, c := range []struct {
		sni, host string
		own       []tls.Certificate
		want      string
	}{
		{"admin.test", "admin.test", []tls.Certificate{ours}, "200"},
		{"admin.test", "admin.test", nil, "none"},
		{"a.test", "a.test", nil, "200"},
		{"a.test", "admin.test", nil, "421"},
		{"", "admin.test", nil, "421"},
		{"", "a.test", nil, "200"},
	} {
		if got := asks(t, addr, c.sni, c.host, c.own...); got != c.want {
			t.Errorf("%s over %q with %d certificates: %s, want %s", c.host, c.sni, len(c.own), got, c.want)
		}
	}
	plain := f.raw("GET /a.txt HTTP/1.1\r\nHost: admin.test\r\nConnection: close\r\nX-Forwarded-Proto: https\r\n\r\n")
	if !strings.HasPrefix(plain, "HTTP/1.1 421 ") {
		t.Errorf("from a proxy that has ended TLS: %.40q, want 421", plain)
	}
}
