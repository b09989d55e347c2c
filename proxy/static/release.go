package static

import (
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// recheckAfter bounds how long a release that was renamed in place keeps its old name.
	recheckAfter = time.Second
	// missingFor is how long after the last look a root that is not there is still taken for the release it
	// was: some versions of ln -sfn remove the link before they make it again.
	missingFor = 2 * time.Second
)

// A release is a public folder that is held open. While it is held its inode cannot be given to another
// directory, so device and inode tell for certain whether the root still leads to it.
type release struct {
	path      string
	fd        int
	dev, ino  uint64
	small     *cache
	transient bool // opened for one request, which closes it
}

// Release returns the absolute path of the public folder with every symbolic link resolved. A request asks
// once and keeps the answer to its end, so that a deploy never shows it two releases. It costs one stat when
// nothing has changed.
func (f *Files) Release() (string, error) {
	current := f.current.Load()
	var st unix.Stat_t
	err := unix.Stat(f.root, &st)
	age := time.Duration(f.now().UnixNano() - f.resolved.Load())
	if err == nil && current != nil && current.is(&st) && age < recheckAfter {
		return current.path, nil
	}
	rel, err := f.resolve(current)
	if err != nil && current != nil && age < missingFor {
		return current.path, nil
	}
	if err != nil {
		return "", err
	}
	return rel.path, nil
}

// resolve follows the root to its release and makes that the current one. Several requests may do so at once
// and the last one wins; should it have been the slower one, the next request finds out.
func (f *Files) resolve(current *release) (*release, error) {
	path, err := filepath.EvalSymlinks(f.root)
	if err != nil {
		return nil, fmt.Errorf("resolve root %s: %w", f.root, err)
	}
	rel, err := openRelease(path)
	if err != nil {
		return nil, fmt.Errorf("resolve root %s: %w", f.root, err)
	}
	defer f.resolved.Store(f.now().UnixNano())
	if current != nil && current.path == path && current.dev == rel.dev && current.ino == rel.ino {
		unix.Close(rel.fd)
		return current, nil
	}
	// Requests under way may still use the release that this one takes the place of. The last of them to let
	// go of it closes it, and the garbage collector knows which that is.
	runtime.AddCleanup(rel, func(fd int) { unix.Close(fd) }, rel.fd)
	rel.small = new(cache)
	f.current.Store(rel)
	return rel, nil
}

func openRelease(path string) (*release, error) {
	fd, err := openDirectory(unix.AT_FDCWD, path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	return &release{path: path, fd: fd, dev: uint64(st.Dev), ino: uint64(st.Ino)}, nil
}

// hold returns the release at path, open until it is given to done.
func (f *Files) hold(path string) (*release, error) {
	if current := f.current.Load(); current != nil && current.path == path {
		return current, nil
	}
	rel, err := openRelease(path)
	if err != nil {
		return nil, err
	}
	rel.transient = true
	return rel, nil
}

func (rel *release) tree() tree { return tree{fd: rel.fd, small: rel.small} }

func (rel *release) done() {
	if rel.transient {
		unix.Close(rel.fd)
	}
	runtime.KeepAlive(rel)
}

func (rel *release) is(st *unix.Stat_t) bool {
	return rel.dev == uint64(st.Dev) && rel.ino == uint64(st.Ino)
}
