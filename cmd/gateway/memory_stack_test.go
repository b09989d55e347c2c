//go:build stack

package main_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	idleRSS = 30 << 10 // KiB
	moreRSS = 20 << 10 // KiB above idle, while a body of any size passes
)

// roomy is a gateway in front of FPM through which bodies of 1 GiB may pass, with a folder for temporary files of its
// own.
func roomy(t *testing.T) (p *process, temporary string) {
	t.Helper()
	temporary = shortDir(t)
	t.Setenv("TMPDIR", temporary)
	p = startGateway(t, "limits = { body = \"2GiB\" }\n"+site(t)+fastcgiUpstream("app", fpmPool()))
	return p, temporary
}

func TestIdleGatewayIsSmall(t *testing.T) {
	p, _ := roomy(t)
	if kib := p.kib(t, "VmRSS"); kib > idleRSS {
		t.Errorf("RSS = %d KiB after the start, want at most %d", kib, idleRSS)
	} else {
		t.Logf("RSS = %d KiB after the start", kib)
	}
}

// TestMemoryDoesNotGrowWithBodies: what passes through is on its way, or on disk in files without a name.
func TestMemoryDoesNotGrowWithBodies(t *testing.T) {
	for _, c := range []struct {
		name string
		pass func(v *visitor, p *process)
	}{
		{"1 GiB up", func(v *visitor, _ *process) { v.uploadGiB() }},
		{"1 GiB down", func(v *visitor, _ *process) { v.downloadGiB() }},
		{"1 GiB up and 1 GiB down", func(v *visitor, _ *process) {
			up := make(chan struct{})
			go func() {
				defer close(up)
				v.uploadGiB()
			}()
			v.downloadGiB()
			<-up
		}},
		{"1 GiB down to a slow client", slowDownload},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, temporary := roomy(t)
			v := visit(t, p)
			for range 20 {
				v.prompt()
			}
			open := len(p.descriptors(t))
			v.CloseIdleConnections()
			eventually(t, "the end of the connection", func() bool { return len(p.descriptors(t)) == open-1 })
			before := p.kib(t, "VmRSS")
			p.forgetPeak(t)
			c.pass(v, p)
			more := p.kib(t, "VmHWM") - before
			t.Logf("RSS before: %d KiB, at most: %d KiB more", before, more)
			if more > moreRSS {
				t.Errorf("RSS rose by %d KiB, want at most %d", more, moreRSS)
			}
			v.CloseIdleConnections()
			eventually(t, "all files are closed", func() bool { return len(p.descriptors(t)) == open-1 })
			left, err := os.ReadDir(temporary)
			if err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v, %v", left, err)
			}
		})
	}
}

func (v *visitor) uploadGiB() {
	o := v.do("POST", "/api/sink", zeros(1<<30))
	if o.err != nil || o.status != http.StatusOK || !strings.Contains(o.body, `"length":1073741824`) {
		v.t.Errorf("upload: %s: %s", o, o.body)
	}
}

func (v *visitor) downloadGiB() {
	resp, err := v.Get("http://localhost/api/download/1024")
	if err != nil {
		v.t.Error(err)
		return
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); n != 1<<30 || err != nil {
		v.t.Errorf("download: %d bytes, %v", n, err)
	}
}

// slowDownload reads nothing until the gateway has the whole answer, and PHP's worker is free again.
func slowDownload(v *visitor, p *process) {
	t := v.t
	s := v.open("/api/download/1024")
	begun := time.Now()
	eventually(t, "the worker is free", func() bool { return p.inFlight(t) == 0 })
	t.Logf("the worker was free after %s", time.Since(begun))
	spooled := func(to string) bool {
		return strings.HasPrefix(filepath.Base(to), "gateway-spool-") && strings.HasSuffix(to, " (deleted)")
	}
	if !slices.ContainsFunc(p.descriptors(t), spooled) {
		t.Error("the answer waits in no file of the gateway's")
	}
	if n, err := io.Copy(io.Discard, s.in); n != 1<<30 || err != nil {
		t.Errorf("download: %d bytes, %v", n, err)
	}
}
