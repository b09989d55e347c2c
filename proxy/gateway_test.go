package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

func TestReloadUnderLoadFailsNoRequest(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := client.Get(f.url("/"))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("status = %d", resp.StatusCode)
				}
			}
		})
	}
	for n := range 30 {
		// Every part changes in turn: the upstream, the limits of the listener, the log.
		more := fmt.Sprintf("queue = %d\n[limits]\nheader_bytes = \"%dKiB\"\n", 20+n%2, 64+n%3)
		if err := f.Reload(f.load(fpmSite(responder, more))); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	clients.Wait()
}

func TestUnchangedUpstreamIsSharedOverAReload(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	before := f.current.Load().value
	if err := f.Reload(f.load(fpmSite(responder, "[limits]\nbody = \"1MiB\"\n"))); err != nil {
		t.Fatal(err)
	}
	if f.current.Load().value.groups["fpm"] != before.groups["fpm"] {
		t.Error("the upstream was opened anew, though it is configured as before")
	}
	<-before.ended
	if resp, _ := f.get("/"); resp.StatusCode != 200 {
		t.Errorf("status = %d after the old state ended", resp.StatusCode)
	}
}

func TestReloadThatCannotBindChangesNothing(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	other := freeAddr(t)
	err = f.Reload(f.load(fmt.Sprintf("listen = [\"http://@ADDR@\", \"http://%s\", \"http://%s\"]\n", other, taken.Addr()) + fpmSite(responder, "")))
	var listen *ListenError
	if !errors.As(err, &listen) || listen.Addr.Addr != taken.Addr().String() || !strings.Contains(listen.Hint, "another process") {
		t.Errorf("err = %v, want one that names %s with a hint", err, taken.Addr())
	}
	if conn, err := net.Dial("tcp", other); err == nil {
		conn.Close()
		t.Error("the address that could be bound is still open")
	}
	if resp, _ := f.get("/"); resp.StatusCode != 200 {
		t.Errorf("status = %d from the old configuration", resp.StatusCode)
	}
}

func TestReloadMovesListeners(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	old, other := f.addr, freeAddr(t)
	f.addr = other
	if err := f.Reload(f.load(fpmSite(responder, ""))); err != nil {
		t.Fatal(err)
	}
	if resp, _ := f.get("/"); resp.StatusCode != 200 {
		t.Errorf("status = %d at the new address", resp.StatusCode)
	}
	eventually(t, "old address closed", func() bool {
		conn, err := net.Dial("tcp", old)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

func TestNewLimitsHoldForNewConnections(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	kept := f.dial()
	reader := bufio.NewReader(kept)
	ask := func(w io.Writer, size int) {
		fmt.Fprintf(w, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", size))
	}
	ask(kept, 20000)
	if resp, err := http.ReadResponse(reader, nil); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v, %v", resp, err)
	} else {
		io.Copy(io.Discard, resp.Body)
	}
	if err := f.Reload(f.load(fpmSite(responder, "[limits]\nheader_bytes = \"8KiB\"\n"))); err != nil {
		t.Fatal(err)
	}
	fresh := f.dial()
	ask(fresh, 20000)
	if resp, err := http.ReadResponse(bufio.NewReader(fresh), nil); err != nil || resp.StatusCode != 431 {
		t.Errorf("%v, %v; want 431 on a new connection", resp, err)
	}
	ask(kept, 20000)
	if resp, err := http.ReadResponse(reader, nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("%v, %v; want the kept connection to go on as it began", resp, err)
	}
}

// Workers whose clients are gone keep the group of an old state open. That is no business of the last request on it.
func TestNoRequestWaitsForTheEndOfItsState(t *testing.T) {
	reached, leave := make(chan struct{}), make(chan struct{})
	lingers := fcgitest.New(t, fcgitest.Call(func() { reached <- struct{}{} }), fcgitest.AwaitClose())
	answers := fcgitest.New(t, fcgitest.Call(func() { reached <- struct{}{} }), fcgitest.Hang(leave), fcgitest.Reply(200, "done"))
	text := func(queue int) string {
		return fpmSite(answers, fmt.Sprintf("queue = %d", queue)) +
			fmt.Sprintf("[[site]]\nhosts = [\"lingers\"]\nroot = \"@PUBLIC@\"\napp = \"lingers\"\n[upstream.lingers]\nfastcgi = [\"unix:%s\"]\nqueue = %d\n",
				lingers.Listener.Addr(), queue)
	}
	f := serve(t, text(10))
	gone := f.dial()
	fmt.Fprint(gone, "GET / HTTP/1.1\r\nHost: lingers\r\n\r\n")
	<-reached
	gone.Close()
	eventually(t, "the client is gone", func() bool { return strings.Contains(f.accessLog(), `"status":499`) })
	last := f.dial()
	fmt.Fprint(last, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-reached
	if err := f.Reload(f.load(text(20))); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	close(leave)
	resp, err := http.ReadResponse(bufio.NewReader(last), nil)
	if err != nil || resp.StatusCode != 200 || time.Since(begun) > closeWait/2 {
		t.Errorf("after %v: %v, %v; want an answer at once", time.Since(begun), resp, err)
	}
	states := f.states
	f.Shutdown(t.Context())
	for _, s := range states {
		select {
		case <-s.ended:
		default:
			t.Error("the shutdown did not wait for a state to end")
		}
	}
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	leave := make(chan struct{})
	began := make(chan struct{})
	responder := fcgitest.New(t, fcgitest.Call(func() { close(began) }), fcgitest.Hang(leave), fcgitest.Reply(200, "done"))
	f := serve(t, fpmSite(responder, ""))
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get(f.url("/"))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-began
	down := make(chan struct{})
	go func() {
		defer close(down)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		f.Shutdown(ctx)
	}()
	eventually(t, "no new connections", func() bool {
		conn, err := net.Dial("tcp", f.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(leave)
	if got := <-answer; got != "done" {
		t.Errorf("answer = %q, want the request finished", got)
	}
	<-down
	if err := f.Reload(f.load(fpmSite(responder, ""))); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v, want ErrClosed", err)
	}
}

func TestShutdownEndsTunnels(t *testing.T) {
	f := serve(t, octaneSite(echoServer(t), ""))
	conn := f.dial()
	fmt.Fprint(conn, "GET /app HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhi")
	reader := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(reader, nil); err != nil || resp.StatusCode != 101 {
		t.Fatalf("%v, %v", resp, err)
	}
	expect(t, reader, "hi")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	f.Shutdown(ctx)
	if ctx.Err() != nil {
		t.Error("the shutdown waited for the tunnel")
	}
	if _, err := io.ReadAll(reader); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("err = %v, want the end", err)
	}
	if log := f.accessLog(); !strings.Contains(log, `"status":101,"bytes_out":2,"bytes_in":2,`) {
		t.Errorf("no line about the tunnel, which carried 2 bytes each way: %s", log)
	}
}

func TestPlainListenerRedirectsHostsWithHTTPS(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Echo(func(r fcgitest.Request) string { return "Content-Type: text/plain\r\n\r\nhello" }), fcgitest.End(0, 0))
	secure := freeAddr(t)
	_, port, _ := net.SplitHostPort(secure)
	f := serve(t, "listen = [\"https://"+secure+"\", \"http://@ADDR@\"]\ntls = { issuer = \"internal\" }\n"+
		strings.Replace(fpmSite(responder, ""), `"*"`, `"shop.test"`, 1))
	r, _ := http.NewRequest("POST", f.url("/a%2Fb?x=1"), nil)
	r.Host = "shop.test"
	resp, _ := f.do(r)
	if want := "https://shop.test:" + port + "/a%2Fb?x=1"; resp.StatusCode != 308 || resp.Header.Get("Location") != want {
		t.Errorf("%d to %q, want 308 to %q", resp.StatusCode, resp.Header.Get("Location"), want)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "shop.test"}, ForceAttemptHTTP2: true,
	}}
	defer client.CloseIdleConnections()
	r, _ = http.NewRequest("GET", "https://"+secure+"/", nil)
	r.Host = "shop.test"
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("%s over %s, want 200 over HTTP/2", resp.Status, resp.Proto)
	}
	params := responder.Requests()[0].Params
	for name, want := range map[string]string{"HTTPS": "on", "REQUEST_SCHEME": "https", "SERVER_PORT": port, "SERVER_PROTOCOL": "HTTP/2.0", "HTTP_HOST": "shop.test"} {
		found := false
		for _, p := range params {
			found = found || p.Name == name && p.Value == want
		}
		if !found {
			t.Errorf("no %s=%s in %v", name, want, params)
		}
	}
}

func TestMetricsCountByVariant(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, strings.Replace(fpmSite(responder, ""), "app = \"fpm\"", "app = \"fpm\"\nsplit = { octane = 0 }", 1)+"[upstream.octane]\nhttp = [\""+freeAddr(t)+"\"]\n")
	f.get("/")
	metrics := scrape(f.Metrics())
	for _, want := range []string{`gateway_requests_total{`, `variant="fpm"`, `gateway_request_seconds_bucket{`, `upstream="fpm"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}
