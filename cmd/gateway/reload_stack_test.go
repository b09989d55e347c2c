//go:build stack

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// edition is one of many configurations of the same two backends. From each to the next something changes in every
// part: the split, what its cookie lasts, limits with and without new listeners, the queue, and which sites there are.
func edition(t *testing.T, n int) string {
	t.Helper()
	text := fmt.Sprintf("limits = { header_bytes = \"%dKiB\", body = \"%dMiB\" }\n", 32+n%3, 64+n%7)
	if n%2 == 1 {
		text += strings.Replace(site(t), "localhost", "extra.test", 1)
	}
	text += site(t) + fmt.Sprintf("split = { octane = %d, cookie_max_age = \"%dd\" }\n", 70+n%20, 1+n%30)
	return text + fastcgiUpstream("app", fpmPool()) + fmt.Sprintf("queue = %d\n", 100+n%5) + httpUpstream("octane", resident())
}

const broken = "\n[upstream.app]\nfastcgi = 17\n"

// TestTenThousandRequestsWhileTheFileIsRewritten: not one may fail, whoever notices the change.
func TestTenThousandRequestsWhileTheFileIsRewritten(t *testing.T) {
	for _, c := range []struct {
		cause  string
		rouse  func(p *process)
		atMost int // editions a reload may stand for
	}{
		// The watcher waits until the file is quiet, but for two seconds at most.
		{cause: "file", rouse: func(*process) {}, atMost: 60},
		{cause: "signal", rouse: func(p *process) { p.signal(t, syscall.SIGHUP) }, atMost: 4},
	} {
		t.Run(c.cause, func(t *testing.T) {
			p := startGateway(t, edition(t, 0))
			v := visit(t, p)
			done := make(chan struct{})
			go func() {
				defer close(done)
				tenThousand(t, v)
			}()
			editions := rewrite(t, p, done, func() { c.rouse(p) })
			eventually(t, "10,000 access lines", func() bool { return len(served(t, p, "")) == 10000 })
			if fpm, octane := len(served(t, p, "app")), len(served(t, p, "octane")); fpm < 500 || octane < 5000 {
				t.Errorf("%d requests went to FPM and %d to the resident backend", fpm, octane)
			}
			if n := p.reloads(t, c.cause); n < editions/c.atMost {
				t.Errorf("only %d reloads of %d editions", n, editions)
			}
			p.alive(t)
		})
	}
}

// tenThousand requests come from 16 clients that keep their connections.
func tenThousand(t *testing.T, v *visitor) {
	var asked atomic.Int32
	together(16, func(int) outcome {
		for asked.Add(1) <= 10000 {
			if o := v.get("/api/ping"); o.err != nil || o.status != http.StatusOK || o.body != `{"pong":true}` {
				t.Errorf("%s, want 200", o)
			}
		}
		return outcome{}
	})
}

// rewrite puts another edition in place every 50 ms until done, now and then one with a fault.
func rewrite(t *testing.T, p *process, done <-chan struct{}, rouse func()) (editions int) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return editions
		case <-tick.C:
		}
		editions++
		text := edition(t, editions)
		if editions%7 == 0 {
			text += broken
		}
		p.write(t, text)
		rouse()
	}
}

func served(t *testing.T, p *process, variant string) []entry {
	t.Helper()
	return p.entries(t, func(e entry) bool { return e.Method != "" && (variant == "" || e.Variant == variant) })
}

// run runs a command of the gateway on the configuration of p.
func (p *process) run(t *testing.T, command string) (words string, code int) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, command, "-c", p.config)
	cmd.Stderr = &said
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

func TestBadFileLeavesTheOldStateAndSaysWhy(t *testing.T) {
	p := startGateway(t, edition(t, 0))
	v := visit(t, p)
	p.write(t, edition(t, 0)+"polcy = \"hash\"\n"+broken)
	p.awaitLog(t, "refusal by the watcher", func(e entry) bool {
		return strings.HasPrefix(e.Msg, "reload refused") && e.Cause == "file" && strings.Contains(e.Error, "polcy")
	})
	words, code := p.run(t, "reload")
	if code != 1 || !strings.Contains(words, "gateway: error:") || !strings.Contains(words, "gateway.toml:") || !strings.Contains(words, "polcy") {
		t.Errorf("reload exits %d and says %q, want 1 and the place of the fault", code, words)
	}
	v.prompt()
	if s := p.status(t); len(s.Sites) != 1 {
		t.Errorf("%d sites are served, want the one of before", len(s.Sites))
	}
	p.write(t, edition(t, 1))
	if words, code := p.run(t, "reload"); code != 0 || words != "gateway: reloaded\n" {
		t.Errorf("reload exits %d and says %q", code, words)
	}
	if s := p.status(t); len(s.Sites) != 2 {
		t.Errorf("%d sites are served, want the two of the good file", len(s.Sites))
	}
	v.prompt()
}
