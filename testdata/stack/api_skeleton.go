package stack

import "time"

// Application is the test application: where it is and where it writes.
type Application struct {
	Public  string // the folder a web server serves
	Storage string // Laravel's storage folder, new for every run
	Var     string // sockets, logs, configuration and Storage of this run; a short path
}

// App returns the application that everything started in this process shares while anything uses it.
func App(t T) *Application { panic("not built yet") }

// Count returns how often a request with ?count=NAME, or a POST of /api/count/NAME, has reached PHP.
func (a *Application) Count(name string) int { panic("not built yet") }

// FPMConfig says how a PHP-FPM pool is set up. The zero value is a static pool of four children on a unix socket.
type FPMConfig struct {
	PM               string        // static (the default), dynamic or ondemand
	Children         int           // pm.max_children; zero means 4
	MaxRequests      int           // pm.max_requests; zero means never replaced
	Backlog          int           // listen.backlog; zero means 511
	TerminateTimeout time.Duration // request_terminate_timeout; zero means none
	TCP              bool          // listen on 127.0.0.1 instead of a unix socket
	Env              map[string]string
	INI              map[string]string // php_admin_value lines, in place of the defaults
}

// Pool is a PHP-FPM master with one pool.
type Pool struct {
	Socket       string // path of the unix socket, or empty
	TCPAddr      string // host:port, or empty
	StatusSocket string // answers /fpm-status and /fpm-ping while every child is busy
	Pid          int    // of the master
}

// FPM starts a pool and waits until it answers.
func FPM(t T, cfg FPMConfig) *Pool { panic("not built yet") }

// Address is the pool in the form of a configuration file: unix:PATH or host:port.
func (p *Pool) Address() string { panic("not built yet") }

// Reload sends SIGUSR2 and waits until the new children are ready.
func (p *Pool) Reload(t T) { panic("not built yet") }

// KillWorker sends SIGKILL to a worker, a busy one if there is one, and returns its pid.
func (p *Pool) KillWorker(t T) int { panic("not built yet") }

// Stop ends the pool; Start starts it again at the same address.
func (p *Pool) Stop() { panic("not built yet") }

// Start starts a stopped pool again.
func (p *Pool) Start(t T) { panic("not built yet") }

// Status asks for the status page.
func (p *Pool) Status(t T) Status { panic("not built yet") }

// Status is FPM's status page.
type Status struct {
	Pool               string    `json:"pool"`
	ProcessManager     string    `json:"process manager"`
	AcceptedConn       int       `json:"accepted conn"`
	ListenQueue        int       `json:"listen queue"`
	MaxListenQueue     int       `json:"max listen queue"`
	ListenQueueLen     int       `json:"listen queue len"`
	IdleProcesses      int       `json:"idle processes"`
	ActiveProcesses    int       `json:"active processes"`
	TotalProcesses     int       `json:"total processes"`
	MaxChildrenReached int       `json:"max children reached"`
	Processes          []Process `json:"processes"`
}

// Process is one worker in the status page.
type Process struct {
	Pid        int    `json:"pid"`
	State      string `json:"state"` // Idle, Running, …
	Requests   int    `json:"requests"`
	RequestURI string `json:"request uri"`
}

// Backend is an HTTP backend that keeps the application in memory.
type Backend struct {
	Addr string // host:port
	URL  string // http://host:port
	Pid  int
}

// Resident starts the resident PHP server with so many workers.
func Resident(t T, workers int) *Backend { panic("not built yet") }

// FrankenPHP starts FrankenPHP in worker mode: one worker.
func FrankenPHP(t T) *Backend { panic("not built yet") }

// Kill ends the backend with SIGKILL: nothing in hand is finished.
func (b *Backend) Kill() { panic("not built yet") }

// KillWorker sends SIGKILL to one worker of a resident server and returns its pid.
func (b *Backend) KillWorker(t T) int { panic("not built yet") }

// Reload replaces the workers of a resident server one by one (octane:reload).
func (b *Backend) Reload() { panic("not built yet") }

// Stop ends the backend after the requests in hand.
func (b *Backend) Stop() { panic("not built yet") }

// Start starts a stopped or killed backend again at the same address.
func (b *Backend) Start(t T) { panic("not built yet") }

// NginxConfig says what nginx stands in front of. An empty address leaves its pages out.
type NginxConfig struct {
	FPM       string // unix:PATH or host:port: Laravel's page
	Octane    string // host:port: Octane's page
	Workers   int    // worker_processes; zero means 1
	Keep      int    // connections each worker keeps to FPM for the kept page; zero leaves that page out
	HeaderKiB int    // size of response header taken from a backend; zero means nginx's own 4 KiB
}

// Nginx is a running nginx.
type NginxServer struct {
	LaravelURL     string // Laravel's page, a FastCGI connection a request, as documented
	LaravelKeptURL string // the same with kept FastCGI connections
	OctaneURL      string // Octane's page
	Pid            int
}

// Nginx starts nginx as Laravel's and Octane's deployment pages set it up.
func Nginx(t T, cfg NginxConfig) *NginxServer { panic("not built yet") }
