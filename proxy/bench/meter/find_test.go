//go:build linux

package meter

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindByAddress(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "gwm") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, network, listen string
		ask                   func(addr string) string
	}{
		{"same", "tcp", "127.0.0.1:0", func(a string) string { return a }},
		{"all addresses", "tcp4", "0.0.0.0:0", func(a string) string { return strings.Replace(a, "0.0.0.0", "127.0.0.1", 1) }},
		{"all addresses of both kinds", "tcp", "[::]:0", func(a string) string { return strings.Replace(a, "[::]", "127.0.0.1", 1) }},
		{"a name", "tcp", "127.0.0.1:0", func(a string) string { return strings.Replace(a, "127.0.0.1", "localhost", 1) }},
		{"unix", "unix", dir + "/a b.sock", func(a string) string { return a }},
		{"unix through a link", "unix", dir + "/c.sock", func(string) string { return dir + "/link/c.sock" }},
		{"unix behind a link", "unix", dir + "/link/d.sock", func(string) string { return dir + "/d.sock" }},
		{"unix without a file", "unix", "@" + filepath.Base(dir), func(a string) string { return a }},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := newChild(t, "backend")
			addr := c.ask(child.tell("listen %s %s", c.network, strings.ReplaceAll(c.listen, " ", "_")))
			tree, err := FindByAddress(strings.TrimSuffix(c.network, "4"), addr)
			if err != nil || tree.Pid() != child.pid() {
				t.Errorf("%s: %v, %v; want process %d", addr, tree, err, child.pid())
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	all, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	_, port, err := net.SplitHostPort(all.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// No address of this machine, although we listen on the port.
	elsewhere := net.JoinHostPort("192.0.2.1", port)
	for _, addr := range []string{closed.Addr().String(), elsewhere, net.JoinHostPort("2001:db8::1", port)} {
		if tree, err := FindByAddress("tcp", addr); !errors.Is(err, ErrNobody) {
			t.Errorf("%s: %v, %v; want ErrNobody", addr, tree, err)
		}
	}
	if tree, err := FindByAddress("unix", t.TempDir()+"/none"); !errors.Is(err, ErrNobody) {
		t.Errorf("%v, %v; want ErrNobody", tree, err)
	}
	if _, err := FindByAddress("tcp", "127.0.0.1"); err == nil {
		t.Error("no error for an address without a port")
	}
	if _, err := FindByName("no-such-program"); !errors.Is(err, ErrNobody) {
		t.Errorf("error = %v, want ErrNobody", err)
	}
}

func TestFindByName(t *testing.T) {
	const name = "gateway-test-database" // longer than what the kernel keeps
	first, second := newChild(t, name), newChild(t, name)
	below := first.tell("spawn burn 0s")
	first.tell("burn 0s")
	second.tell("burn 0s")
	tree, err := FindByName(name)
	if err != nil {
		t.Fatal(err)
	}
	pids, err := tree.Pids()
	if err != nil {
		t.Fatal(err)
	}
	if len(pids) != 3 || !slices.Contains(pids, first.pid()) || !slices.Contains(pids, second.pid()) || tree.Kind != KindGroup {
		t.Errorf("%s %d, want a group of %d, %s and %d", tree.Kind, pids, first.pid(), below, second.pid())
	}
}
