package meter

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// denying is a machine some of whose files only the superuser may see, who is not asking.
type denying struct {
	fake
	names []string // what such a file's name has in it
}

func (d denying) check(op, name string) error {
	for _, part := range d.names {
		if strings.Contains(name, part) {
			return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
		}
	}
	return nil
}

func (d denying) Open(name string) (fs.File, error) {
	if err := d.check("open", name); err != nil {
		return nil, err
	}
	return d.fake.Open(name)
}

func (d denying) ReadFile(name string) ([]byte, error) {
	if err := d.check("open", name); err != nil {
		return nil, err
	}
	return d.fake.ReadFile(name)
}

func (d denying) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.check("open", name); err != nil {
		return nil, err
	}
	return d.fake.ReadDir(name)
}

func (d denying) ReadLink(name string) (string, error) {
	if err := d.check("readlink", name); err != nil {
		return "", err
	}
	return d.fake.ReadLink(name)
}

func TestSocketsThatMayNotBeSeen(t *testing.T) {
	f, _ := fpm(t)
	_, err := (&Host{Root: denying{f, []string{"/fd"}}}).FindByAddress("tcp", "127.0.0.1:8000")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "superuser") {
		t.Errorf("error = %v, want that only the superuser may see", err)
	}
}

// TestMasterOfAnotherUser is what FPM's own user sees: the sockets of the children, and the titles of all.
func TestMasterOfAnotherUser(t *testing.T) {
	f, _ := fpm(t)
	for _, pid := range []string{"11", "12"} {
		f.write("proc/"+pid+"/smaps_rollup", "Rss: 900 kB\nPss: 300 kB\nPss_Anon: 100 kB\nPss_Shmem: 50 kB\n")
	}
	h := &Host{Root: denying{f, []string{"proc/11/fd", "proc/11/smaps_rollup", "proc/11/root"}}}
	tree, err := h.FindByAddress("tcp", "127.0.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Pid() != 11 || tree.Pool != "shop" {
		t.Errorf("pool %q of process %d, want shop of 11", tree.Pool, tree.Pid())
	}
	u := read(t, tree)
	if u.Memory != (Memory{}) || u.Peak != 0 || u.CPU != 6*tick || u.Workers != 1 {
		t.Errorf("usage = %+v, want the time alone", u)
	}
	fingerprint := Inspection{Tree: tree}.Fingerprint(t.Context())
	for _, key := range []string{KeyManager, KeyMaxChildren, KeyMaxRequests} {
		if fingerprint[key] != Unknown {
			t.Errorf("%s = %q although the configuration may not be read", key, fingerprint[key])
		}
	}
	f.holds(12, 3, 701) // a connection to a database
	if _, err := tree.ConnectionsTo(3306); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("connections: %v, want that they may not be seen", err)
	}
}

func TestSocketThatHasBeenReplaced(t *testing.T) {
	f := newFake()
	for pid, inode := range map[int]int{11: 700, 12: 701} {
		f.process(pid, 1, "app", "app")
		f.holds(pid, 3, inode)
	}
	f.add("proc/net/unix", "0: 00000002 00000000 00010000 0001 01 700 /run/app.sock\n0: 00000002 00000000 00010000 0001 01 701 /run/app.sock\n")
	if _, err := f.host().FindByAddress("unix", "/run/app.sock"); err == nil || !strings.Contains(err.Error(), "11 and 12") {
		t.Errorf("error = %v, want the numbers of both processes", err)
	}
}

// TestFilesThatCannotBeUnderstood: an error, and never a figure.
func TestFilesThatCannotBeUnderstood(t *testing.T) {
	for _, file := range []string{"cpu.stat", "memory.current", "memory.stat", "memory.peak", "memory.events", "cpu.pressure"} {
		f, dir := service()
		tree := f.find(t, "tcp", "127.0.0.1:8000")
		f.write(dir+"/"+file, "nonsense\n")
		if u, err := tree.Read(); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %+v, %v; want an error that names the file", file, u, err)
		}
	}
	for file, text := range map[string]string{
		"proc/12/stat":             "nonsense",
		"proc/11/task/11/children": "12 x",
		"proc/12/smaps_rollup":     "Pss: 99999999999999999999 kB\n",
	} {
		f, dir := service()
		delete(f.MapFS, dir+"/memory.current")
		tree := f.find(t, "tcp", "127.0.0.1:8000")
		f.write(file, text)
		if u, err := tree.Read(); err == nil {
			t.Errorf("%s: %+v, want an error", file, u)
		}
	}
	for _, line := range []string{"x", "0: zz:1F40 0:0 0A 0:0 0:0 0 0 0 7", "0: 0100007F:1F40 1 0A 0:0 0:0 0 0 0 7", "0: 0100007F:1F40 0100007F:1F40 0A 0:0 0:0 0 0 0 x"} {
		f, _ := service()
		f.add("proc/net/tcp", line+"\n")
		if _, err := f.host().FindByAddress("tcp", "127.0.0.1:8000"); err == nil {
			t.Errorf("no error for %q", line)
		}
	}
}

func TestOlderKernels(t *testing.T) {
	f, dir := service()
	delete(f.MapFS, dir+"/memory.peak")     // before 5.19
	delete(f.MapFS, dir+"/cpu.pressure")    // told not to count
	delete(f.MapFS, dir+"/memory.events")   // of the root
	delete(f.MapFS, "proc/net/tcp6")        // no IPv6
	delete(f.MapFS, "proc/12/smaps_rollup") // before 4.14
	u := read(t, f.find(t, "tcp", "127.0.0.1:8000"))
	if u.Source != SourceCgroup || u.CgroupMemory != 46000 || u.Peak != 46000 || u.OOMKills != 0 || u.Stalled != (Stalled{}) {
		t.Errorf("usage = %+v, want the group's figures that are there", u)
	}
}

// TestAncestorsThatAreNotPartOfTheServer: a shell, or an artisan command further up, has only started it.
func TestAncestorsThatAreNotPartOfTheServer(t *testing.T) {
	f := newFake()
	f.process(5, 1, "php", "php", "artisan", "dusk")
	f.process(6, 5, "bash", "bash")
	f.process(7, 6, "node", "node", "server.js")
	f.process(8, 7, "node", "node", "worker.js")
	f.process(9, 5, "chrome", "chrome")
	f.holds(8, 3, 700)
	f.listens("proc/net", port8000, 700)
	if tree := f.find(t, "tcp", "127.0.0.1:8000"); tree.Pid() != 8 {
		t.Errorf("tree from %d, want 8", tree.Pid())
	}
	f.holds(6, 3, 700)
	if tree := f.find(t, "tcp", "127.0.0.1:8000"); tree.Pid() != 5 {
		t.Errorf("tree from %d, want 5, whose child has the socket", tree.Pid())
	}
}
