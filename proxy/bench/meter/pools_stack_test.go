//go:build stack

package meter

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// twoPools starts one master with the pools shop (two children, on a socket) and idle (none until it is asked, on TCP).
func twoPools(t *testing.T) (pid int, socket, tcp string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gwm") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp = free.Addr().String()
	free.Close()
	socket = filepath.Join(dir, "shop.sock")
	user := ""
	if os.Getuid() == 0 {
		user = "user = root\n"
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("shop.conf", "[shop]\n"+user+"listen = "+dir+"/$pool.sock\npm = static\npm.max_children = 2\n")
	conf := write("fpm.conf", fmt.Sprintf("[global]\nerror_log = %s/log\ndaemonize = no\ninclude=%s/shop.conf\n"+
		"[idle]\n%slisten = %s ; comment\npm = ondemand\npm.max_children = 3\npm.process_idle_timeout = 1s\n", dir, dir, user, tcp))
	argv := []string{"-F", "-y", conf}
	if os.Getuid() == 0 {
		argv = append(argv, "-R")
	}
	cmd := exec.Command("/usr/sbin/php-fpm8.2", argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if tree, err := FindByAddress("unix", socket); err == nil {
			if pids, err := tree.Pids(); err == nil && len(pids) == 3 {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("php-fpm does not serve: %s", &out)
		}
	}
	return cmd.Process.Pid, socket, tcp
}

func TestPoolsOfOneMaster(t *testing.T) {
	master, socket, tcp := twoPools(t)
	shop, err := FindByAddress("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	idle, err := FindByAddress("tcp", tcp)
	if err != nil {
		t.Fatal(err)
	}
	if shop.Pool != "shop" || idle.Pool != "idle" || shop.Pid() != master || idle.Pid() != master {
		t.Errorf("pools %q of %d and %q of %d, want shop and idle of %d", shop.Pool, shop.Pid(), idle.Pool, idle.Pid(), master)
	}
	before, err := shop.Read()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "burn.php")
	// 0.3 s of CPU in the other pool, whose child ends a second later, so that its time becomes the master's.
	code := `<?php $u = fn() => getrusage()['ru_utime.tv_sec'] * 1e6 + getrusage()['ru_utime.tv_usec']; for ($s = $u(); $u() < $s + 3e5;); echo 'ok';`
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	ask(t, newScripts(t, "tcp", tcp), "http://127.0.0.1", file, 1)
	busy, err := shop.Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(busy.seen.others) != 1 {
		t.Fatalf("%d children of other pools, want 1", len(busy.seen.others))
	}
	if d := busy.Since(before); d.CPU > 100*time.Millisecond || d.CPUMixed {
		t.Errorf("CPU of the idle pool's work in that of shop: %v", d.CPU)
	}
	gone := await(t, shop, func(u Usage) bool { return len(u.seen.others) == 0 }).Since(busy)
	if gone.CPU > 100*time.Millisecond || !gone.CPUMixed || gone.Workers != 2 {
		t.Errorf("after the child of idle ended: CPU %v, mixed %v, %d workers; want little, true, 2", gone.CPU, gone.CPUMixed, gone.Workers)
	}
	pids, err := idle.Pids()
	if err != nil || !slices.Equal(pids, []int{master}) {
		t.Errorf("processes of idle: %v, %v; want only the master", pids, err)
	}
}
