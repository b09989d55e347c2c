package meter

import (
	"testing"
	"time"
)

const mountinfo = "22 27 0:21 / /proc rw,relatime - proc proc rw\n31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

// inCgroup puts processes into a group, which has used cpu microseconds and reached a peak.
func (f fake) inCgroup(group string, pids ...string) string {
	f.write("proc/self/mountinfo", mountinfo)
	dir := "sys/fs/cgroup" + group
	for _, pid := range pids {
		f.write("proc/"+pid+"/cgroup", "0::"+group+"\n")
		f.add(dir+"/cgroup.procs", pid+"\n")
	}
	return dir
}

func (f fake) used(dir, cpu, current, peak, kills string) {
	f.write(dir+"/cpu.stat", "usage_usec "+cpu+"\nuser_usec 1\nsystem_usec 1\nnr_periods 9\nnr_throttled 2\nthrottled_usec "+cpu+"\n")
	f.write(dir+"/memory.current", current+"\n")
	f.write(dir+"/memory.peak", peak+"\n")
	f.write(dir+"/memory.stat", "anon 1000\nfile 5000\nshmem 10\ninactive_file 4000\n")
	f.write(dir+"/memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill "+kills+"\n")
	f.write(dir+"/cpu.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total="+cpu+"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
}

func service() (fake, string) {
	f := newFake()
	f.process(11, 1, "app", "app")
	f.process(12, 11, "app", "app")
	f.holds(11, 3, 700)
	f.listens("proc/net", port8000, 700)
	dir := f.inCgroup("/system.slice/app.service", "11", "12")
	f.used(dir, "1000000", "50000", "90000", "0")
	return f, dir
}

func TestGroupOfItsOwn(t *testing.T) {
	f, dir := service()
	tree := f.find(t, "tcp", "127.0.0.1:8000")
	before := read(t, tree)
	f.used(dir, "1500000", "60000", "90000", "1")
	u := read(t, tree).Since(before)
	half := 500 * time.Millisecond
	if u.Source != SourceCgroup || u.CPU != half || u.Throttled != half || u.Stalled.CPU != half || u.OOMKills != 1 {
		t.Errorf("usage = %+v, want 0.5 s of the group and one kill", u)
	}
	if u.CgroupMemory != 56000 || u.Peak != 56000 {
		t.Errorf("memory %d, peak %d; want 56000 for both", u.CgroupMemory, u.Peak)
	}
	f.used(dir, "1500000", "60000", "95000", "1")
	if u = read(t, tree).Since(before); u.Peak != 95000 {
		t.Errorf("peak = %d, want the group's new one", u.Peak)
	}
}

func TestGroupThatIsNotTheTreesOwn(t *testing.T) {
	for name, change := range map[string]func(f fake, dir string){
		"another process in it":        func(f fake, dir string) { f.add(dir+"/cgroup.procs", "99\n") },
		"another one in a group of it": func(f fake, dir string) { f.write(dir+"/sub/cgroup.procs", "99\n") },
		"a process elsewhere":          func(f fake, dir string) { f.write(dir+"/cgroup.procs", "11\n") },
		"the root":                     func(f fake, dir string) { f.write("proc/11/cgroup", "0::/\n") },
		"outside of what we see":       func(f fake, dir string) { f.write("proc/11/cgroup", "0::/../app\n") },
		"version 1":                    func(f fake, dir string) { f.write("proc/11/cgroup", "3:memory:/app\n") },
		"no figures of memory":         func(f fake, dir string) { delete(f.MapFS, dir+"/memory.current") },
	} {
		f, dir := service()
		change(f, dir)
		if u := read(t, f.find(t, "tcp", "127.0.0.1:8000")); u.Source != SourceTree || u.CgroupMemory != 0 || u.CPU != 6*tick {
			t.Errorf("%s: %+v, want the sum of the processes", name, u)
		}
	}
}

func TestLimits(t *testing.T) {
	f, dir := service()
	f.write("proc/11/status", "Name:\tapp\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n")
	tree := f.find(t, "tcp", "127.0.0.1:8000")
	same := func(what string, want Limits) {
		t.Helper()
		if got := tree.Limits(); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	same("no controllers", Limits{Unknown, "0-1", Unknown})
	f.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
	same("no limits", Limits{None, "0-1", None})
	f.write(dir+"/cpu.max", "max 100000\n")
	f.write(dir+"/memory.max", "536870912\n")
	f.write("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n")
	f.write("sys/fs/cgroup/system.slice/memory.max", "max\n")
	same("limits of two groups", Limits{"1.50", "0-1", "536870912"})
	f.write("sys/fs/cgroup/system.slice/cpu.max", "nonsense\n")
	same("bad file", Limits{Unknown, "0-1", Unknown})
}
