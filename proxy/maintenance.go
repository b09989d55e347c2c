package proxy

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
)

// maintenance answers in place of an application that is down. It stands behind the files, which are served as ever, as
// they are where PHP alone knows of it.
type maintenance struct {
	next  http.Handler
	own   *limit.Down   // set when the configuration takes the application down
	allow *identity.Set // who passes nevertheless, but for what the application says itself

	artisan string // the file of "artisan down", absolute or counted from the release; empty when it is not looked for
	file    limit.DownFile
	path    atomic.Pointer[downPath]
	absent  atomic.Int64 // until when the file is not looked for again, in Unix nanoseconds
	tunnels bool         // upgrades may lead to another program than the one that is down
}

// lookAgain is how long a file that was not there is taken for absent: a look costs 2 microseconds, and the application
// looks by itself meanwhile.
const lookAgain = 20 * time.Millisecond

// downPath is where the file of a release is.
type downPath struct{ release, path string }

func (b *builder) maintenance(site conf.Site) (layer, error) {
	cfg := site.Maintenance
	m := &maintenance{allow: identity.NewSet(conf.Networks(cfg.Allow)), tunnels: len(b.cfg.Upstreams[site.App].HTTP) > 0}
	if cfg.Artisan {
		m.artisan = cfg.ArtisanFile
	}
	if cfg.Enabled {
		m.own = &limit.Down{Secret: cfg.Secret, Status: http.StatusServiceUnavailable}
		if cfg.RetryAfter > 0 {
			m.own.Retry = strconv.FormatInt(int64(cfg.RetryAfter/time.Second), 10)
		}
		if cfg.Page != "" {
			page, err := os.ReadFile(cfg.Page)
			if err != nil {
				return nil, fmt.Errorf("maintenance.page: %w", err)
			}
			m.own.Template = string(page)
		}
	}
	return func(next http.Handler) http.Handler {
		if m.own == nil && m.artisan == "" {
			return next
		}
		m.next = next
		return m
	}, nil
}

func (m *maintenance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	down := m.down(r)
	if down == nil || down != m.own && m.tunnels && isUpgrade(r) {
		m.next.ServeHTTP(w, r)
		return
	}
	target, err := originForm(r)
	if err != nil {
		fail(w, r, err)
		return
	}
	scheme := identity.Scheme(r)
	asked := limit.Asked{Target: target, Origin: scheme + "://" + r.Host}
	if cookie, err := r.Cookie(limit.BypassCookie); err == nil {
		asked.Cookie = cookie.Value
	}
	now := time.Now()
	verdict := down.Judge(asked, now)
	if verdict == limit.Pass {
		m.next.ServeHTTP(w, r)
		return
	}
	observe.FromContext(r.Context()).Note = "down for maintenance"
	w.Header()["Cache-Control"] = []string{"no-cache, private"}
	switch verdict {
	case limit.Grant:
		http.SetCookie(w, limit.NewBypass(down.Secret, scheme, now))
		sendTo(w, asked.Origin)
	case limit.Send:
		sendTo(w, strings.TrimSuffix(asked.Origin+"/"+strings.Trim(down.Redirect, "/"), "/"))
	default:
		writeDown(w, r, down)
	}
}

// down is what is said of the application, or nil when it is up.
func (m *maintenance) down(r *http.Request) *limit.Down {
	if m.own != nil && !m.allow.Has(identity.IP(r)) {
		return m.own
	}
	if m.artisan == "" {
		return nil
	}
	now := time.Now().UnixNano()
	if now < m.absent.Load() {
		return nil
	}
	down := m.file.Read(m.pathIn(observe.FromContext(r.Context()).Release))
	if down == nil {
		m.absent.Store(now + int64(lookAgain))
	}
	return down
}

// pathIn is where the file is in a release, which is the same as the last time but for deployments.
func (m *maintenance) pathIn(release string) string {
	if known := m.path.Load(); known != nil && known.release == release {
		return known.path
	}
	path := m.artisan
	if !filepath.IsAbs(path) {
		path = filepath.Join(release, path)
	}
	m.path.Store(&downPath{release, path})
	return path
}

func sendTo(w http.ResponseWriter, url string) {
	w.Header()["Location"] = []string{url}
	w.WriteHeader(http.StatusFound)
}

// writeDown answers with the page that was made when the application was taken down, or with one of ours.
func writeDown(w http.ResponseWriter, r *http.Request, down *limit.Down) {
	h := w.Header()
	if down.Retry != "" {
		h["Retry-After"] = []string{down.Retry}
	}
	if down.Refresh != "" {
		h["Refresh"] = []string{down.Refresh}
	}
	if down.Template == "" {
		writePage(w, r, down.Status)
		return
	}
	h["Content-Type"] = []string{"text/html; charset=UTF-8"}
	h["Content-Length"] = []string{strconv.Itoa(len(down.Template))}
	w.WriteHeader(down.Status)
	if r.Method != http.MethodHead {
		// A client that does not take the page has nothing more to be told.
		_, _ = w.Write([]byte(down.Template))
	}
}
