package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// front is a peer that runs.
type front struct {
	peer
	addr        string       // host:port
	certificate *certificate // that it shows; nil for a plain listener
	pid         int
	logs        string // pattern of the files it writes
}

// measuredOn says whether the row is one of the peer's and for this listener.
func (f *front) measuredOn(r row) bool {
	return (f.certificate != nil) == r.overTLS() && f.peer.measuredOn(r)
}

// startAll starts a peer as often as these rows need it: a process for plain listeners and one for TLS. In one and
// the same, the gateway would send the clients of the plain one to the other.
func (r *rig) startAll(p peer, rows []row) (fronts []*front) {
	for _, c := range []*certificate{nil, r.certificate} {
		f := &front{peer: p, certificate: c}
		if slices.ContainsFunc(rows, f.measuredOn) {
			r.start(f)
			fronts = append(fronts, f)
		}
	}
	return fronts
}

// start starts a peer on the front core, with all its sites.
func (r *rig) start(f *front) {
	p := f.peer
	s := r.settings(p, f.certificate)
	argv, env, err := r.command(p, s)
	if err != nil {
		r.t.Fatalf("%s: %v", p.Key, err)
	}
	f.addr, f.logs = s.Listen, filepath.Join(s.Dir, "*.log")
	f.pid = r.launch(p.Key, filepath.Join(s.Dir, "output.log"), r.cores.front(argv), env, func() error {
		_, err := f.get(row{Host: plainHost, Path: "/hello"})
		return err
	})
}

// command is how a peer is started.
func (r *rig) command(p peer, s settings) (argv, env []string, err error) {
	source := r.app.Source
	switch p.kind {
	case "nginx":
		conf, err := s.render(source, "peers/nginx.conf.tmpl", "nginx/laravel.conf.tmpl", "nginx/octane.conf.tmpl")
		return []string{nginxBinary(), "-e", "stderr", "-p", s.Dir, "-c", conf}, os.Environ(), err
	case "caddy":
		conf, err := s.render(source, "peers/Caddyfile.tmpl")
		return []string{caddyBinary(source), "run", "--adapter", "caddyfile", "--config", conf}, goEnv(), err
	case "gateway":
		conf, err := s.render(source, "peers/gateway.toml.tmpl")
		return []string{r.gateway, "run", "--config", conf}, goEnv(), err
	}
	self, err := os.Executable()
	return []string{self, "transport", s.Listen, r.plain}, goEnv(), err
}

// nginxBinary is where Debian puts nginx, which is not on a normal user's PATH.
func nginxBinary() string {
	if path, err := exec.LookPath("nginx"); err == nil {
		return path
	}
	return "/usr/sbin/nginx"
}

func caddyBinary(source string) string { return filepath.Join(source, "var/bin/caddy") }

// backend starts this program in the part of a trivial backend, and waits until it listens.
func (r *rig) backend(part, address string) {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	log := filepath.Join(r.app.Var, part+".log")
	r.launch(part, log, []string{self, part, address}, goEnv(), func() error {
		if words, err := os.ReadFile(log); err != nil || !bytes.Contains(words, []byte("listening")) {
			return fmt.Errorf("it does not listen yet: %w", err)
		}
		return nil
	})
}

// launch starts a program and waits until it is ready. It is stopped, with its workers, when the run is over.
func (r *rig) launch(name, log string, argv, env []string, ready func() error) (pid int) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, filepath.Dir(log), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		r.t.Fatalf("start %s: %v", name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait() // how it ends when it is told to says nothing
	}()
	r.t.Cleanup(func() { stop(cmd.Process, done) })
	if err := await(ready, done); err != nil {
		words, _ := os.ReadFile(log) // what it says for itself, if anything
		r.t.Fatalf("%s does not serve: %v\n%s", name, err, words)
	}
	return cmd.Process.Pid
}

// stop ends a program and whatever it leaves behind.
func stop(p *os.Process, done <-chan struct{}) {
	_ = p.Signal(syscall.SIGTERM) // fails only for one that has gone
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	<-done
}

// await asks ready until it returns nil, the program has ended, or too much time has passed.
func await(ready func() error, done <-chan struct{}) error {
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return errors.New("it ended by itself")
		case <-deadline.C:
			return err
		case <-poll.C:
		}
	}
}

// freeAddr asks the kernel for a loopback address that nobody listens on.
func (r *rig) freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatalf("free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get asks once, as the clients will, and returns the body of an answer with 200.
func (f *front) get(r row) (string, error) {
	scheme := "http://"
	if f.certificate != nil {
		scheme = "https://"
	}
	req, err := http.NewRequest(http.MethodGet, scheme+r.Host+r.Path, nil)
	if err != nil {
		return "", err
	}
	for _, h := range browser {
		req.Header.Set(h.name, h.value)
	}
	client := http.Client{
		Timeout:       10 * time.Second,
		Transport:     f.transport(r),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s", r.Host, r.Path, resp.Status)
	}
	return string(body), err
}

// transport connects to this peer, whatever host is asked for, and speaks one version of HTTP only.
func (f *front) transport(r row) *http.Transport {
	t := &http.Transport{
		DisableKeepAlives: true, Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, f.addr)
		},
	}
	t.Protocols.SetHTTP1(r.Client != http2)
	t.Protocols.SetHTTP2(r.Client == http2)
	if f.certificate != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: f.certificate.roots}
	}
	return t
}

// forgetLogs empties what the peer has logged: the disk need not hold a whole run.
func (f *front) forgetLogs() error {
	logs, err := filepath.Glob(f.logs)
	if err != nil {
		return err
	}
	for _, log := range logs {
		if err := os.Truncate(log, 0); err != nil {
			return err
		}
	}
	return nil
}
