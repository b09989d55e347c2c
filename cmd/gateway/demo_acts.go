package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// demoClient asks one thing at a time over kept connections, follows no redirect and keeps no cookie.
var demoClient = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// answer is what a request came to.
type answer struct {
	*http.Response
	body  string
	first time.Duration // until the first byte of the body
	took  time.Duration
	err   error
}

// ask sends one request through the gateway to the variant that is named, or to whichever the split says.
func (d *demonstration) ask(ctx context.Context, method, path, variant string, body io.Reader, cookies ...*http.Cookie) answer {
	r, err := http.NewRequestWithContext(ctx, method, d.url+path, body)
	if err != nil {
		return answer{err: err}
	}
	if variant != "" {
		r.Header.Set("X-Gateway-Variant", variant)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	began := time.Now()
	resp, err := demoClient.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	reader := bufio.NewReader(resp.Body)
	_, _ = reader.Peek(1) // an empty body has no first byte
	first := time.Since(began)
	text, err := io.ReadAll(reader)
	return answer{Response: resp, body: string(text), first: first, took: time.Since(began), err: err}
}

// row prints one line of a table and counts what was not as it should be.
func (d *demonstration) row(what, seen string, good bool) {
	mark := "ok"
	if !good {
		mark = "NOT AS IT SHOULD BE"
		d.failed++
	}
	fmt.Fprintf(d.out, "  %-34s %-48s %s\n", what, seen, mark)
}

func (d *demonstration) answers(ctx context.Context) error {
	fmt.Fprintln(d.out, "The same application over FastCGI (as PHP-FPM) and over HTTP (as Octane):")
	upload := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	sum := sha256.Sum256(upload)
	for _, v := range []struct{ variant, runtime string }{{"fpm", "FPM"}, {"octane", "Octane"}} {
		page := d.ask(ctx, "GET", "/", v.variant, nil)
		d.row("page, "+v.variant, page.brief(), page.ok(200) && strings.Contains(page.body, v.runtime))
		ping := d.ask(ctx, "GET", "/api/ping", v.variant, nil)
		d.row("JSON, "+v.variant, ping.brief(), ping.ok(200) && strings.Contains(ping.body, v.runtime))
		// A reader of unknown length makes the client send chunks.
		sent := d.ask(ctx, "POST", "/upload", v.variant, io.MultiReader(bytes.NewReader(upload)))
		d.row("1 MiB upload in chunks, "+v.variant, sent.brief(),
			sent.ok(200) && strings.Contains(sent.body, hex.EncodeToString(sum[:])) && strings.Contains(sent.body, `"length":1048576`))
		large := d.ask(ctx, "GET", "/headers", v.variant, nil)
		d.row("20 KB Link header, "+v.variant, large.brief(), large.ok(200) && len(large.Header.Get("Link")) > 20000)
	}
	return nil
}

func (d *demonstration) files(ctx context.Context) error {
	fmt.Fprintln(d.out, "\nFiles of the public folder:")
	asset := d.ask(ctx, "GET", "/build/assets/app-4f2c9a1b.css", "", nil)
	immutable := asset.err == nil && strings.Contains(asset.Header.Get("Cache-Control"), "immutable")
	d.row("hashed asset, cached for ever", asset.brief(), asset.ok(200) && immutable)
	missing := d.ask(ctx, "GET", "/build/assets/app-00000000.css", "", nil)
	d.row("missing asset: PHP is not woken", missing.brief(), missing.ok(404) && !strings.Contains(missing.body, "Hello"))
	return nil
}

func (d *demonstration) refusals(ctx context.Context) error {
	secret := d.ask(ctx, "GET", "/.env", "", nil)
	d.row("/.env", secret.brief(), !secret.ok(200) && !strings.Contains(secret.body, "APP_KEY"))
	source := d.ask(ctx, "GET", "/index.php", "fpm", nil)
	d.row("/index.php runs, is not shown", source.brief(), source.ok(200) && strings.Contains(source.body, "Hello"))
	return nil
}

func (d *demonstration) streams(ctx context.Context) error {
	fmt.Fprintln(d.out, "\nStreams:")
	for _, variant := range []string{"fpm", "octane"} {
		events := d.ask(ctx, "GET", "/events", variant, nil)
		seen := fmt.Sprintf("first event after %d ms, last after %d ms", events.first.Milliseconds(), events.took.Milliseconds())
		d.row("server-sent events, "+variant, seen, events.ok(200) && events.first < events.took/2)
	}
	echo, err := d.tunnel()
	d.row("WebSocket upgrade to octane", fmt.Sprintf("sent %q, came back %q", "hello", echo), err == nil && echo == "hello")
	return nil
}

// tunnel upgrades a connection and sends a few bytes to and fro.
func (d *demonstration) tunnel() (string, error) {
	conn, err := net.Dial("tcp", d.url[len("http://"):])
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	fmt.Fprint(conn, "GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Gateway-Variant: octane\r\n\r\n")
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return "", fmt.Errorf("status %d", resp.StatusCode)
	}
	fmt.Fprint(conn, "hello")
	echo := make([]byte, len("hello"))
	_, err = io.ReadFull(reader, echo)
	return string(echo), err
}

// split sends many users, makes octane's share grow, and sees who moved.
func (d *demonstration) split(ctx context.Context) error {
	const users = 1000
	fmt.Fprintf(d.out, "\nSplit, %d users:\n", users)
	before := make([]string, users)
	cookies := make([]*http.Cookie, users)
	for i := range users {
		a := d.ask(ctx, "GET", "/api/ping", "", nil)
		if a.err != nil {
			return a.err
		}
		before[i] = a.runtime()
		for _, c := range a.Cookies() {
			if c.Name == "gateway_split" {
				cookies[i] = c
			}
		}
		if cookies[i] == nil {
			return fmt.Errorf("user %d was given no cookie", i)
		}
	}
	d.row("octane = 5", fmt.Sprintf("%d on Octane", count(before, "Octane")), within(count(before, "Octane"), 20, 90))
	if err := d.configure(20); err != nil {
		return err
	}
	if err := d.service.reload("demo"); err != nil {
		return err
	}
	after, back := make([]string, users), 0
	for i := range users {
		a := d.ask(ctx, "GET", "/api/ping", "", nil, cookies[i])
		if a.err != nil {
			return a.err
		}
		after[i] = a.runtime()
		if before[i] == "Octane" && after[i] != "Octane" {
			back++
		}
	}
	d.row("octane = 20, the same users", fmt.Sprintf("%d on Octane, %d moved back", count(after, "Octane"), back),
		within(count(after, "Octane"), 140, 260) && back == 0)
	return nil
}

// reloads rewrites the configuration while clients ask.
func (d *demonstration) reloads(ctx context.Context) error {
	const clients, each, rewrites = 8, 250, 20
	fmt.Fprintln(d.out, "\nReload under load:")
	var asked, failed atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for range each {
				asked.Add(1)
				if a := d.ask(ctx, "GET", "/api/ping", "", nil); !a.ok(200) {
					failed.Add(1)
				}
			}
		})
	}
	for n := range rewrites {
		if err := d.configure(10 + n%2*10); err != nil {
			return err
		}
		if err := d.service.reload("demo"); err != nil {
			return err
		}
	}
	group.Wait()
	d.row("requests during reloads", fmt.Sprintf("%d requests, %d reloads, %d failed", asked.Load(), rewrites, failed.Load()),
		failed.Load() == 0)
	return nil
}
