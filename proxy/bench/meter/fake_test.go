package meter

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fake is a machine of files alone.
type fake struct{ fstest.MapFS }

func newFake() fake {
	f := fake{fstest.MapFS{}}
	f.link("proc/self/ns/net", "net:[1]")
	f.write("proc/net/tcp", "sl local_address\n")
	f.write("proc/net/unix", "Num RefCount\n")
	return f
}

func (f fake) write(name, text string) {
	f.MapFS[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

func (f fake) add(name, text string) {
	if file := f.MapFS[name]; file != nil {
		text = string(file.Data) + text
	}
	f.write(name, text)
}

func (f fake) link(name, target string) {
	f.MapFS[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

// process adds one that has had 10 ms for itself and whose ended children have had 20 ms.
func (f fake) process(pid, parent int, name string, command ...string) {
	dir := procDir(pid)
	f.write(dir+"/stat", fmt.Sprintf("%d (%s) S %d 1 1 0 -1 4194560 1 0 0 0 1 0 1 1 20 0 1 0 %d 0 0\n", pid, name, parent, pid*100))
	f.write(dir+"/cmdline", strings.Join(command, "\x00")+"\x00")
	f.write(fmt.Sprintf("%s/task/%d/children", dir, pid), "")
	f.link(dir+"/ns/net", "net:[1]")
	if parent > 0 {
		f.add(fmt.Sprintf("%s/task/%d/children", procDir(parent), parent), fmt.Sprintf("%d ", pid))
	}
}

// holds gives a process a socket.
func (f fake) holds(pid, descriptor, inode int) {
	f.link(fmt.Sprintf("%s/fd/%d", procDir(pid), descriptor), fmt.Sprintf("socket:[%d]", inode))
}

// listens adds a TCP socket: address is 0100007F:1F40, which is 127.0.0.1:8000.
func (f fake) listens(dir, address string, inode int) {
	f.add(dir+"/tcp", fmt.Sprintf("   0: %s 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 %d 2 0000 100\n", address, inode))
}

func (f fake) host() *Host { return &Host{Root: f.MapFS} }

func (f fake) find(t *testing.T, network, addr string) *Tree {
	t.Helper()
	tree, err := f.host().FindByAddress(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

const port8000 = "0100007F:1F40"

func read(t *testing.T, tree *Tree) Usage {
	t.Helper()
	u, err := tree.Read()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// await reads a tree until it is as wanted.
func await(t *testing.T, tree *Tree, ok func(Usage) bool) Usage {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		u, err := tree.Read()
		if err != nil {
			t.Fatal(err)
		}
		if ok(u) {
			return u
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s: %+v", tree.Address, u)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
