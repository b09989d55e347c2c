package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"text/template"
)

// Application is the test application: where it is and where it writes.
type Application struct {
	Source  string // the testdata folder
	Public  string // the folder a web server serves
	Storage string // Laravel's storage folder, new for every run
	Var     string // sockets, logs, configuration and Storage of this run; a short path, for sockets

	mu      sync.Mutex // guards started
	started map[string]int
}

// shared is the application of this process. Sessions, counters and the database must be the same behind every
// backend, or a client could not be moved from one to another; hence one, and not one a backend.
var shared struct {
	mu    sync.Mutex
	app   *Application
	users int
}

// App returns the application that everything started in this process shares. Its folder Var is made for the
// first user and removed after the last.
func App(t T) *Application {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.app == nil {
		app, err := newApplication()
		if err != nil {
			t.Fatalf("test application: %v", err)
		}
		shared.app = app
	}
	shared.users++
	t.Cleanup(func() { release(t) })
	return shared.app
}

func release(t T) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	app := shared.app
	if failed(t) {
		logTail(t, filepath.Join(app.Storage, "logs", "laravel.log"))
	}
	if shared.users--; shared.users > 0 {
		return
	}
	shared.app = nil
	if err := os.RemoveAll(app.Var); err != nil {
		t.Logf("test application: %v", err)
	}
}

// installHint ends every error about something that is not there.
const installHint = "run testdata/install.sh"

func newApplication() (*Application, error) {
	source, err := sourceDir()
	if err != nil {
		return nil, err
	}
	const laravel = "/usr/share/php/Illuminate/Foundation"
	if _, err := os.Stat(laravel); err != nil {
		return nil, fmt.Errorf("Laravel: %w; %s", err, installHint)
	}
	database, err := os.ReadFile(filepath.Join(source, "var/seed/storage/database.sqlite"))
	if err != nil {
		return nil, fmt.Errorf("database: %w; %s", err, installHint)
	}
	// Not TMPDIR: the path of a unix socket has 107 bytes.
	dir, err := os.MkdirTemp("/tmp", "gw")
	if err != nil {
		return nil, err
	}
	a := &Application{
		Source:  source,
		Public:  filepath.Join(source, "laravel/public"),
		Storage: filepath.Join(dir, "storage"),
		Var:     dir,
		started: make(map[string]int),
	}
	return a, a.fill(database)
}

// fill makes the folders and files that the application expects.
func (a *Application) fill(database []byte) error {
	for _, dir := range []string{"tmp", "storage/app/public", "storage/logs", "storage/bootstrap",
		"storage/framework/cache", "storage/framework/sessions", "storage/framework/views"} {
		if err := os.MkdirAll(filepath.Join(a.Var, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(a.Storage, "database.sqlite"), database, 0o644); err != nil {
		return err
	}
	download := make([]byte, 256<<10)
	if _, err := rand.NewChaCha8([32]byte{}).Read(download); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(a.Storage, "app/download.bin"), download, 0o644)
}

// sourceDir finds testdata from a package's folder, where tests run, or from the module's, where programs do.
// The path of this file, which runtime.Caller would tell, is not kept in a build with -trimpath.
func sourceDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, "testdata")
		if _, err := os.Stat(filepath.Join(candidate, "laravel/artisan")); err == nil {
			return candidate, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no testdata/laravel above %s", start)
		}
	}
}

// Count returns how many requests with ?count=NAME, and POSTs of /api/count/NAME, have reached PHP.
func (a *Application) Count(name string) int {
	info, err := os.Stat(filepath.Join(a.Storage, "app/count-"+name))
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// Seen is a request as PHP understood it.
type Seen struct {
	Target    string            `json:"target"`
	Length    int               `json:"length"`    // of its body
	Variables map[string]string `json:"variables"` // those that name a client or a frame
}

// Record has every request written down that reaches PHP from now on. seen returns those so far.
func (a *Application) Record(t T) (seen func() []Seen) {
	t.Helper()
	file := filepath.Join(a.Storage, "app/requests")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { os.Remove(file) })
	return func() (all []Seen) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for line := range bytes.Lines(text) {
			var one Seen
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			all = append(all, one)
		}
		return all
	}
}

// Artisan runs a command of the application.
func (a *Application) Artisan(t T, args ...string) {
	t.Helper()
	cmd := exec.Command(program(t, a, "php8.2"), append([]string{filepath.Join(a.Source, "laravel/artisan")}, args...)...)
	cmd.Env = a.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("artisan %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Ended returns what became of the stream /api/endless/NAME: "aborted LINES" when PHP noticed that its client had
// left, "complete LINES" when it never did, empty while it goes on.
func (a *Application) Ended(name string) string {
	line, err := fs.ReadFile(os.DirFS(a.Storage), "app/endless-"+name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(line))
}

// name makes a name for another program of a kind: fpm-1, fpm-2.
func (a *Application) name(kind string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.started[kind]++
	return fmt.Sprintf("%s-%d", kind, a.started[kind])
}

// environment is all that a program sees of ours; a resident server would show the rest to the application.
func (a *Application) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.Var, "TMPDIR=" + filepath.Join(a.Var, "tmp"), "APP_VAR=" + a.Var}
}

// render fills in the first of the templates, which may include the others, and returns the path of the result.
func (a *Application) render(name string, data any, templates ...string) (string, error) {
	for i, file := range templates {
		templates[i] = filepath.Join(a.Source, file)
	}
	tmpl, err := template.ParseFiles(templates...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(a.Var, name+".conf")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	return path, tmpl.Option("missingkey=error").Execute(out, data)
}

// superuser returns the name that a program started by root has to be told to stay root, and empty for others.
func superuser() string {
	if os.Getuid() != 0 {
		return ""
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "root"
}
