// Package static answers requests from the public folder of a Laravel application, or says that they
// are not its own, so that the front controller gets them.
package static

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Outcome says what became of a request.
type Outcome int

const (
	// NotMine means that nothing was written. Without an error the front controller answers.
	NotMine Outcome = iota
	// Served means that the whole answer was written: 200, 206, 304, 412 or 416.
	Served
	// Aborted means that an answer was begun and cannot be ended, and the error says why. The caller must
	// panic with http.ErrAbortHandler: nothing else keeps HTTP/2 from ending a short body as if it were whole.
	Aborted
)

// Config says where the public folder is.
type Config struct {
	// Root is the public folder, as the operator names it. Symbolic links in it are resolved for each request.
	// It need not exist yet.
	Root string
	// Index is the name of the front controller in Root. Empty means index.php.
	Index string
	// SymlinkTargets are directories outside Root to which symbolic links below Root may lead. One that is not
	// absolute is relative to Root and may itself be such a link. Where Root/storage leads (artisan storage:link)
	// is always allowed.
	SymlinkTargets []string
}

// Files serves one public folder. Its methods may be called concurrently.
type Files struct {
	root    string
	index   string
	targets []string
	beneath func(dir int, name string, flags int) (int, error)
	now     func() time.Time

	current  atomic.Pointer[release]
	resolved atomic.Int64 // when current was resolved last, in nanoseconds since 1970
}

// New checks cfg and returns the Files for it.
func New(cfg Config) (*Files, error) {
	if cfg.Root == "" {
		return nil, errors.New("root: missing; want the public folder of the application")
	}
	root, err := filepath.Abs(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", cfg.Root, err)
	}
	index := cfg.Index
	if index == "" {
		index = "index.php"
	}
	if strings.Contains(index, "/") {
		return nil, fmt.Errorf("index: %q is a path; want the name of a file in root", index)
	}
	targets := []string{"storage"}
	for _, target := range cfg.SymlinkTargets {
		if target == "" {
			return nil, errors.New("symlink_targets: an empty name; want a directory")
		}
		targets = append(targets, filepath.Clean(target))
	}
	return &Files{root: root, index: index, targets: targets, beneath: beneath(), now: time.Now}, nil
}

// Serve answers r from release, which Release returned, or says that the request is not its own. Only GET
// and HEAD are ever answered; what may not be served is refused to every method.
//
// An error with NotMine wraps ErrBadPath, ErrRefused or ErrMissing, or is a failure of the file system.
// Then nothing was written.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request, release string) (Outcome, error) {
	name, err := localName(r.URL.Path)
	if err != nil {
		return NotMine, err
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	source := isSource(name)
	if isDirectoryName(name) || f.isIndex(name) || !reads && !source {
		return NotMine, nil
	}
	rel, err := f.hold(release)
	if err != nil {
		return NotMine, err
	}
	defer rel.done()
	opened, err := f.open(rel, name)
	switch {
	case err == nil && source:
		opened.Close()
		return NotMine, fmt.Errorf("%w: %s is PHP source", ErrRefused, name)
	case err == nil:
		defer opened.Close()
		return f.send(w, r, opened, name)
	case err == errDirectory || err == errNone && !(reads && f.isBuilt(rel, name, r.URL.RawQuery)):
		return NotMine, nil
	case err == errNone:
		return NotMine, fmt.Errorf("%w: %s", ErrMissing, name)
	}
	return NotMine, err
}
