// Package meter finds the processes behind an address and reads what they use: CPU time, memory, how many they are and
// which of them were replaced; and what the machine did meanwhile. It reads /proc and /sys of Linux. Elsewhere there is
// ErrNotAvailable: no figure is ever made up.
package meter

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"
)

var (
	// ErrNotAvailable says that this system does not tell what processes use.
	ErrNotAvailable = errors.New("not available on this system")
	// ErrNobody says that no process of this machine, as far as may be seen, listens there or has that name.
	ErrNobody = errors.New("no process found")
	// ErrGone says that the first process of a tree has ended, so that the tree has to be found again.
	ErrGone = errors.New("process has ended")
)

// Unknown stands in texts for what could not be found out.
const Unknown = "unknown"

// Host is the machine. The zero value is the one this program runs on.
type Host struct {
	// Root is the root folder, with proc and sys in it; nil means that of this machine. It must be able to read links
	// (fs.ReadLinkFS) for a process to be found by its socket.
	Root fs.FS
}

// FindByAddress is that of this machine.
func FindByAddress(network, addr string) (*Tree, error) {
	return new(Host).FindByAddress(network, addr)
}

// FindByName is that of this machine.
func FindByName(name string) (*Tree, error) { return new(Host).FindByName(name) }

// ReadMachine is that of this machine.
func ReadMachine() (Machine, error) { return new(Host).ReadMachine() }

// opened returns the host as something that can be read.
func (h *Host) opened() (*host, error) {
	switch {
	case h.Root != nil:
		return &host{root: h.Root}, nil
	case runtime.GOOS != "linux":
		return nil, ErrNotAvailable
	}
	return &host{root: os.DirFS("/"), clock: processClock}, nil
}

// host is a Host whose files can be read.
type host struct {
	root fs.FS
	// clock returns the CPU time of a process with all its threads; nil means that of its stat file, in hundredths of a
	// second.
	clock func(pid int) (time.Duration, error)
}

// text returns a small file as a string.
func (h *host) text(name string) (string, error) {
	b, err := fs.ReadFile(h.root, name)
	return string(b), err
}

// line returns the first line of a file, without space around it; empty where the file cannot be read.
func (h *host) line(name string) string {
	text, err := h.text(name)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

func (h *host) link(name string) (string, error) { return fs.ReadLink(h.root, name) }

func (h *host) exists(name string) bool {
	_, err := fs.Stat(h.root, name)
	return err == nil
}

// inside is the name of an absolute path as a process sees it, which may live in a container.
func inside(pid int, absolute string) string {
	return path.Join(procDir(pid), "root", strings.TrimPrefix(path.Clean("/"+absolute), "/"))
}
