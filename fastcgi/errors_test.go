package fastcgi

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gateway/fastcgi/fcgitest"
)

func TestFullBacklogIsBusy(t *testing.T) {
	path, drain := fcgitest.FullBacklog(t)
	tr, err := New(Config{Network: "unix", Address: path})
	if err != nil {
		t.Fatal(err)
	}
	e := refusal(t, tr, newRequest(t, "POST", "x"))
	if !e.Busy() || !e.SafeToRetry() || e.Timeout() {
		t.Errorf("error = %v: busy %t, safe %t, timeout %t, want true, true, false", e, e.Busy(), e.SafeToRetry(), e.Timeout())
	}
	drain()
	ctx, cancel := context.WithCancel(WithEnv(t.Context(), newEnv()))
	cancel()
	if e := refusal(t, tr, withBody(t, ctx, "GET", nil)); e.Busy() || !errors.Is(e, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", e)
	}
}

func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	missing := filepath.Join(t.TempDir(), "none.sock")
	for _, c := range []struct {
		cfg  Config
		want error
	}{
		{Config{Network: "tcp", Address: l.Addr().String()}, syscall.ECONNREFUSED},
		{Config{Network: "unix", Address: missing}, os.ErrNotExist},
	} {
		tr, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := refusal(t, tr, newRequest(t, "GET", ""))
		if !errors.Is(e, c.want) || !e.SafeToRetry() || e.Busy() || e.Reused() {
			t.Errorf("error = %v, safe %t, busy %t", e, e.SafeToRetry(), e.Busy())
		}
		if want := "fastcgi: dial " + c.cfg.Address + ": connect: "; !strings.HasPrefix(e.Error(), want) {
			t.Errorf("error = %q, want %q and the reason", e, want)
		}
	}
}
