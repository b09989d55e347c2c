package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"gateway/testdata/stack"
)

// site is one host of every peer, as its templates see it.
type site struct {
	Host     string
	Upstream string
	Address  string // of the backend: unix:PATH or host:port
	Public   string
	Source   string // the folder with laravel/public in it, for the templates of package stack
	HTTP     bool   // the backend speaks HTTP; otherwise FastCGI
}

// CaddyAddress is Address as Caddy writes it.
func (s site) CaddyAddress() string { return strings.Replace(s.Address, "unix:", "unix/", 1) }

// settings is what a peer's configuration is made from.
type settings struct {
	Dir    string       // for its files
	Listen string       // host:port
	TLS    *certificate // nil for a plain listener
	User   string       // that nginx stays, when root has started it
	Keep   int          // connections to keep to each backend; 0 leaves that as it comes
	Access bool         // whether there is an access log
	Sites  []site
}

// Scheme is that of the listener.
func (s settings) Scheme() string {
	if s.TLS != nil {
		return "https"
	}
	return "http"
}

func (s settings) Port() string { return s.Listen[strings.LastIndexByte(s.Listen, ':')+1:] }

// Upstreams returns the first site of each upstream. Where two sites share one, they share its connections too:
// with a set of kept connections for each, the children of FPM would be too few.
func (s settings) Upstreams() []site {
	var first []site
	for _, candidate := range s.Sites {
		if !slices.ContainsFunc(first, func(f site) bool { return f.Upstream == candidate.Upstream }) {
			first = append(first, candidate)
		}
	}
	return first
}

// rig is all that stands still while peers are measured.
type rig struct {
	t           stack.T
	app         *stack.Application
	cores       cores
	connections int
	certificate *certificate
	gateway     string // the binary, built from this tree
	hello       site   // the public folder whose index.php says hello
	trivial     string // address of the FastCGI responder
	plain       string // address of the HTTP one
	resident    *stack.Backend
	pool        *stack.Pool // of all peers that keep no connections
}

// newRig builds the gateway and starts every backend, on the back core.
func newRig(t stack.T, c cores, connections int) *rig {
	r := &rig{t: t, app: stack.App(t), cores: c, connections: connections}
	if err := c.pinSelf(); err != nil {
		t.Fatalf("%v", err)
	}
	var err error
	hosts := []string{trivialHost, helloHost, laravelHost, residentHost, plainHost}
	if r.certificate, err = newCertificate(r.app.Var, hosts); err != nil {
		t.Fatalf("certificate: %v", err)
	}
	r.build()
	r.hello = r.helloSite()
	r.trivial = "unix:" + filepath.Join(r.app.Var, "trivial.sock")
	r.backend("fastcgi", strings.TrimPrefix(r.trivial, "unix:"))
	r.plain = r.freeAddr()
	r.backend("http", r.plain)
	r.pool = r.newPool()
	r.resident = stack.Resident(t, residentWorkers)
	return r
}

const residentWorkers = 2

// newPool starts a pool with a child for every request under way. Each peer that keeps connections has one
// of its own: the children they occupy would be missing for the others.
func (r *rig) newPool() *stack.Pool {
	return stack.FPM(r.t, stack.FPMConfig{Children: r.connections})
}

// build makes the gateway as `make build` does.
func (r *rig) build() {
	r.gateway = filepath.Join(r.app.Var, "bin", "gateway")
	cmd := exec.Command("go", "build", "-trimpath", "-o", r.gateway, "./cmd/gateway")
	cmd.Dir = filepath.Dir(r.app.Source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("build the gateway: %v\n%s", err, out)
	}
}

func (r *rig) helloSite() site {
	source := filepath.Join(r.app.Var, "hello")
	s := site{Host: helloHost, Upstream: "fpm", Source: source, Public: filepath.Join(source, "laravel/public")}
	script, err := os.ReadFile(filepath.Join(r.app.Public, "hello.php"))
	if err == nil {
		err = os.MkdirAll(s.Public, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.Public, "index.php"), script, 0o644)
	}
	if err != nil {
		r.t.Fatalf("public folder for hello: %v", err)
	}
	return s
}

// sites are the same for every peer, except for the pool of FPM.
func (r *rig) sites(pool *stack.Pool) []site {
	trivial, hello, plain := r.hello, r.hello, r.hello
	trivial.Host, trivial.Upstream, trivial.Address = trivialHost, "trivial", r.trivial
	hello.Address = pool.Address()
	plain.Host, plain.Upstream, plain.Address, plain.HTTP = plainHost, "plain", r.plain, true
	laravel := site{Host: laravelHost, Upstream: "fpm", Address: pool.Address(), Public: r.app.Public, Source: r.app.Source}
	resident := laravel
	resident.Host, resident.Upstream, resident.Address, resident.HTTP = residentHost, "resident", r.resident.Addr, true
	return []site{trivial, hello, laravel, resident, plain}
}

// settings makes the folder of a peer and says how it is configured.
func (r *rig) settings(p peer, c *certificate) settings {
	s := settings{Listen: r.freeAddr(), TLS: c, Access: !p.noLines}
	s.Dir = filepath.Join(r.app.Var, p.Key+"-"+s.Scheme())
	pool := r.pool
	if p.kept {
		s.Keep, pool = r.connections, r.newPool()
	}
	s.Sites = r.sites(pool)
	if os.Getuid() == 0 {
		if u, err := user.Current(); err == nil {
			s.User = u.Username
		}
	}
	if err := os.Mkdir(s.Dir, 0o755); err != nil {
		r.t.Fatalf("%v", err)
	}
	return s
}

// render writes a peer's configuration. The first file is the template, the others are those it includes.
func (s settings) render(source string, files ...string) (string, error) {
	for i, name := range files {
		files[i] = filepath.Join(source, name)
	}
	tmpl, err := template.ParseFiles(files...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Dir, strings.TrimSuffix(filepath.Base(files[0]), ".tmpl"))
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := tmpl.Execute(out, s); err != nil {
		out.Close()
		return "", fmt.Errorf("%s: %w", files[0], err)
	}
	return path, out.Close()
}
