package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// demoConfig is what the demo serves. It is printed, so it is what a user would write.
const demoConfig = `listen  = ["http://%s"]
admin   = "unix:%s/admin.sock"
storage = "%s/storage"
log     = { output = "%s/access.log" }

[[site]]
hosts = ["localhost", "127.0.0.1"]
root  = "%s/public"
app   = "fpm"

[site.split]
octane = %d

[upstream.fpm]
fastcgi = ["unix:%s/fpm.sock"]

[upstream.octane]
http = ["%s"]
`

// demonstration is a gateway over two embedded backends, and what was seen of it.
type demonstration struct {
	dir      string
	url      string
	out      io.Writer
	backends *demoBackends
	service  *service
	failed   int
}

// demo starts both backends and a gateway in front of them, sends real traffic through, and prints what
// happened. It fails if anything was not as it should be.
func demo(ctx context.Context, _ options, out, words io.Writer) error {
	dir, err := os.MkdirTemp("", "gateway-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demonstration{dir: dir, out: out}
	if err := d.start(); err != nil {
		return err
	}
	defer d.stop()
	began := time.Now()
	for _, act := range []func(context.Context) error{d.answers, d.files, d.refusals, d.streams, d.split, d.reloads, d.bench} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if d.failed > 0 {
		return fmt.Errorf("%d of the above were not as they should be", d.failed)
	}
	fmt.Fprintf(words, "\ngateway: all as it should be, in %.1f s; next: gateway.example.toml, then gateway run\n", time.Since(began).Seconds())
	return nil
}

func (d *demonstration) start() error {
	backends, err := startDemoBackends(d.dir)
	if err != nil {
		return err
	}
	d.backends = backends
	front, err := freeAddress()
	if err != nil {
		backends.stop()
		return err
	}
	d.url = "http://" + front
	if err := d.configure(5); err != nil {
		backends.stop()
		return err
	}
	if d.service, err = start(options{config: d.file()}); err != nil {
		backends.stop()
		return err
	}
	text, err := os.ReadFile(d.file())
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "The whole configuration:\n\n%s\n", indent(string(text)))
	return nil
}

func (d *demonstration) stop() {
	// The demo is over: what does not close in time ends with the process.
	_ = d.service.stop()
	d.backends.stop()
}

func (d *demonstration) file() string { return filepath.Join(d.dir, "gateway.toml") }

// configure writes the configuration, whole or not at all, as a careful editor does.
func (d *demonstration) configure(octane int) error {
	front := d.url[len("http://"):]
	text := fmt.Sprintf(demoConfig, front, d.dir, d.dir, d.dir, d.dir, octane, d.dir, d.backends.octane.Addr())
	if err := os.WriteFile(d.file()+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(d.file()+".new", d.file())
}

// freeAddress is a loopback address that nobody listens on at this moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
