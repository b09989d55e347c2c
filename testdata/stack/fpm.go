package stack

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// FPMConfig says how a PHP-FPM pool is set up. The zero value is a static pool of four children on a unix socket.
type FPMConfig struct {
	PM               string            // static (the default), dynamic or ondemand
	Children         int               // pm.max_children; zero means 4
	MaxRequests      int               // pm.max_requests; zero means that no child is replaced
	Backlog          int               // listen.backlog; zero means 511
	TerminateTimeout time.Duration     // request_terminate_timeout, whole seconds; zero means none
	Impatient        bool              // process_control_timeout = 0, PHP-FPM's default, and not 10s
	TCP              bool              // listen on 127.0.0.1 instead of on a unix socket
	Env              map[string]string // environment of the scripts, such as APP_DEBUG=1
	INI              map[string]string // php.ini values, over those of defaultINI
}

// Pool is a PHP-FPM master with one pool.
type Pool struct {
	*service
	Socket  string // path of the unix socket; empty when TCP
	TCPAddr string // host:port; empty unless TCP
	// StatusAddr is a unix:PATH that answers /fpm-status and /fpm-ping while every child is busy.
	StatusAddr string
}

// FPM starts a pool and waits until it answers.
func FPM(t T, cfg FPMConfig) *Pool {
	t.Helper()
	a := App(t)
	binary := program(t, a, "php-fpm8.2")
	p := &Pool{}
	ports := 0
	if cfg.TCP {
		ports = 1
	}
	start(t, ports, func(addrs []string) *service {
		name := a.name("fpm")
		*p = Pool{StatusAddr: "unix:" + filepath.Join(a.Var, name+"-status.sock")}
		if cfg.TCP {
			p.TCPAddr = addrs[0]
		} else {
			p.Socket = filepath.Join(a.Var, name+".sock")
		}
		conf, err := a.render(name, fpmSettings(a, name, p, cfg), "fpm/php-fpm.conf.tmpl")
		if err != nil {
			t.Fatalf("%v", err)
		}
		argv := []string{binary, "-F", "-y", conf}
		if os.Getuid() == 0 {
			argv = append(argv, "-R")
		}
		p.service = &service{name: name, argv: argv, env: a.environment(), log: filepath.Join(a.Var, name+".log"), ready: p.ping}
		return p.service
	})
	return p
}

// defaultINI takes uploads beyond 1 GiB and reports errors where a web server sees them: in FastCGI's STDERR.
func defaultINI(a *Application) map[string]string {
	return map[string]string{
		"upload_max_filesize":         "2G",
		"post_max_size":               "2G",
		"memory_limit":                "128M",
		"max_input_time":              "-1",
		"upload_tmp_dir":              filepath.Join(a.Var, "tmp"),
		"sys_temp_dir":                filepath.Join(a.Var, "tmp"),
		"log_errors":                  "1",
		"opcache.validate_timestamps": "0",
	}
}

func fpmSettings(a *Application, name string, p *Pool, cfg FPMConfig) map[string]any {
	or := func(n, otherwise int) int {
		if n == 0 {
			return otherwise
		}
		return n
	}
	ini := defaultINI(a)
	maps.Copy(ini, cfg.INI)
	children := or(cfg.Children, 4)
	control := "10s"
	if cfg.Impatient {
		control = "0"
	}
	pm := cfg.PM
	if pm == "" {
		pm = "static"
	}
	return map[string]any{
		"Var": a.Var, "Name": name, "Log": filepath.Join(a.Var, name+".log"), "User": superuser(),
		"Listen": p.Socket + p.TCPAddr, "Status": strings.TrimPrefix(p.StatusAddr, "unix:"),
		"PM": pm, "Children": children, "Spare": (children + 1) / 2,
		"MaxRequests": cfg.MaxRequests, "Backlog": or(cfg.Backlog, 511),
		"Control": control, "Terminate": int(cfg.TerminateTimeout.Seconds()), "Env": cfg.Env, "INI": ini,
	}
}

// Address is the pool in the form of a configuration file: unix:PATH or host:port.
func (p *Pool) Address() string {
	if p.Socket != "" {
		return "unix:" + p.Socket
	}
	return p.TCPAddr
}

// split takes such an address apart for net.Dial.
func split(address string) (network, rest string) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return "unix", path
	}
	return "tcp", address
}

func (p *Pool) ping() error {
	answer, err := ask(p.Address(), "/fpm-ping", "")
	if err == nil && !bytes.HasSuffix(answer, []byte("pong")) {
		err = fmt.Errorf("ping was answered with %q", answer)
	}
	return err
}

// Reload has FPM start itself anew (SIGUSR2), with the same pid and sockets, and returns when the new children are
// there. The old ones get ten seconds for the requests they have in hand, if the pool is not impatient.
func (p *Pool) Reload(t T) {
	t.Helper()
	starts := func() int {
		b, err := os.ReadFile(p.log)
		if err != nil {
			t.Fatalf("reload %s: %v", p.name, err)
		}
		return bytes.Count(b, []byte("ready to handle connections"))
	}
	before := starts()
	if err := syscall.Kill(p.Pid(), syscall.SIGUSR2); err != nil {
		t.Fatalf("reload %s: %v", p.name, err)
	}
	poll(t, "reload of "+p.name, func() bool { return starts() > before })
}
