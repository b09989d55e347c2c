package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// har is the part of an HTTP archive, as browsers save them, that a workload needs.
type har struct {
	Log struct {
		Entries []struct {
			Request struct {
				Method  string
				URL     string
				Headers []struct{ Name, Value string }
			}
		}
	}
}

const mostHAR = 256 << 20

// ReadHAR makes a workload of a browser's recording. Its requests to other hosts are left out, and so are its cookies: they
// are secrets, and of a session that has ended.
func ReadHAR(from io.Reader, host string) (*Workload, error) {
	var archive har
	if err := json.NewDecoder(io.LimitReader(from, mostHAR)).Decode(&archive); err != nil {
		return nil, fmt.Errorf("not an HTTP archive: %w", err)
	}
	c := newCollector(host)
	for _, entry := range archive.Log.Entries {
		u, err := url.Parse(entry.Request.URL)
		switch {
		case err != nil:
			c.skip("that are malformed")
			continue
		case host != "" && !strings.EqualFold(u.Host, host):
			c.skip("to other hosts")
			continue
		case u.Scheme != "http" && u.Scheme != "https":
			c.skip("that are not HTTP")
			continue
		}
		r := Route{Method: entry.Request.Method, Host: u.Host, Target: u.RequestURI(), Header: http.Header{}}
		for _, h := range entry.Request.Headers {
			if isKept(h.Name) {
				r.Header.Add(h.Name, h.Value)
			}
		}
		c.add(r)
	}
	return c.done()
}

// isKept says whether a header of a recording says what is asked for, rather than who asked, on which connection and when.
func isKept(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "X-Requested-With", "X-Inertia", "X-Inertia-Version",
		"X-Livewire", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site":
		return true
	}
	return false
}
