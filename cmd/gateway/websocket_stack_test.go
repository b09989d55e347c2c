//go:build stack

package main_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// socketPage says on itself what comes over a WebSocket, and says "seen" then. It counts as loaded once /loaded has come.
const socketPage = `<!doctype html><title>socket</title><p id="said">nothing</p><script>
const socket = new WebSocket("wss://" + location.host + "/app");
socket.onopen = () => socket.send("hello");
socket.onmessage = m => { document.getElementById("said").textContent = m.data; socket.send("seen"); };
</script><img src="/loaded">`

// socketApp sends back the first message of a WebSocket (RFC 6455), and answers /loaded after the second one.
func socketApp(t *testing.T) (addr string) {
	seen := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/app" {
			select {
			case <-seen:
			case <-time.After(20 * time.Second):
			}
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		accept := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(accept[:]))
		text := shortMessage(buffered.Reader)
		fmt.Fprintf(conn, "\x81%c%s", len(text), text)
		if shortMessage(buffered.Reader) == "seen" {
			close(seen)
		}
		_, _ = io.Copy(io.Discard, buffered) // until the browser leaves
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// shortMessage reads a message of less than 126 bytes from a client, which masks it.
func shortMessage(in *bufio.Reader) string {
	var head [6]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return ""
	}
	text := make([]byte, head[1]&0x7f)
	if _, err := io.ReadFull(in, text); err != nil {
		return ""
	}
	for i := range text {
		text[i] ^= head[2+i%4]
	}
	return string(text)
}

// Once extended CONNECT is announced, browsers open their WebSockets on the connection that they have.
func TestChromiumOpensAWebSocketOverHTTP2(t *testing.T) {
	g := newSecureGateway(t)
	public := filepath.Join(g.dir, "public")
	if err := os.WriteFile(filepath.Join(public, "socket.html"), []byte(socketPage), 0o644); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("listen = [\"https://%s\"]\nadmin = \"unix:%s/admin.sock\"\nstorage = \"%s/storage\"\n", g.secure, g.dir, g.dir) +
		fmt.Sprintf("[[site]]\nhosts = [\"shop.test\"]\nroot = %q\napp = \"app\"\n[upstream.app]\nhttp = [%q]\n", public, socketApp(t))
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t)
	if page := g.chromium(t, g.trustingHome(t), "/socket.html"); !strings.Contains(page, `<p id="said">hello</p>`) {
		t.Errorf("the page is %s", page)
	}
	if e := g.access(t, "/app", 1)[0]; e.Method != "CONNECT" || e.Proto != "websocket" || e.Status != 200 {
		t.Errorf("the WebSocket came as %s over %s with %d, want an extended CONNECT", e.Method, e.Proto, e.Status)
	}
}
