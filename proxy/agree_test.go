package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// over sends a request for host on a connection whose handshake named sni.
func over(t *testing.T, addr, sni, host string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: sni, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /a.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	return resp.Status[:3]
}

func TestHostAndNameOfTheConnectionAgree(t *testing.T) {
	app := strings.Replace(fpmSite(okApp(t), ""), `"*"`, `"a.test", "b.test"`, 1)
	other := "[[site]]\nhosts = [\"c.test\"]\nroot = \"@PUBLIC@\"\napp = \"fpm\"\n"
	f, addr := tlsPorts(t, "", other+app)
	write(t, f.public+"/a.txt", "a")
	_, port, _ := net.SplitHostPort(addr)
	for _, c := range []struct{ sni, host, want string }{
		{"a.test", "a.test", "200"}, {"a.test", "A.test.:" + port, "200"}, {"a.test", "b.test", "200"},
		{"a.test", "c.test", "421"}, {"c.test", "a.test", "421"},
	} {
		if got := over(t, addr, c.sni, c.host); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.host, c.sni, got, c.want)
		}
	}
}
