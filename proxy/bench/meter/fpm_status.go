package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// FPMStatus is FPM's status page. To answer it, FPM needs a free child, or the socket of pm.status_listen. The listen
// queue of a unix socket is always zero, and FPM does not tell pm.max_children: MaxActive is the most there ever were.
type FPMStatus struct {
	Pool               string `json:"pool"`
	Manager            string `json:"process manager"` // static, dynamic or ondemand
	Accepted           int64  `json:"accepted conn"`
	ListenQueue        int64  `json:"listen queue"`
	MaxListenQueue     int64  `json:"max listen queue"`
	Idle               int64  `json:"idle processes"`
	Active             int64  `json:"active processes"`
	Processes          int64  `json:"total processes"`
	MaxActive          int64  `json:"max active processes"`
	MaxChildrenReached int64  `json:"max children reached"`
	Slow               int64  `json:"slow requests"`
}

// ReadFPMStatus asks for the page at pm.status_path. scripts speaks FastCGI and has FPM run the file, or show the page,
// that the URL's path names.
func ReadFPMStatus(ctx context.Context, scripts http.RoundTripper, path string) (FPMStatus, error) {
	body, err := get(ctx, scripts, path, "json")
	if err != nil {
		return FPMStatus{}, err
	}
	return parseFPMStatus(body)
}

func parseFPMStatus(body []byte) (FPMStatus, error) {
	var s FPMStatus
	if err := json.Unmarshal(body, &s); err != nil {
		return FPMStatus{}, fmt.Errorf("status page: %w", err)
	}
	if s.Pool == "" {
		return FPMStatus{}, errors.New("status page names no pool")
	}
	for _, n := range []int64{s.Accepted, s.ListenQueue, s.MaxListenQueue, s.Idle, s.Active, s.Processes, s.MaxActive, s.MaxChildrenReached, s.Slow} {
		if n < 0 {
			return FPMStatus{}, fmt.Errorf("status page has a count of %d", n)
		}
	}
	return s, nil
}

// get returns the body of an answer with status 200.
func get(ctx context.Context, scripts http.RoundTripper, path, query string) ([]byte, error) {
	const most = 64 << 10
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/", nil)
	if err != nil {
		return nil, err
	}
	r.URL.Path, r.URL.RawQuery = path, query
	resp, err := scripts.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered with status %d", resp.StatusCode)
	}
	return body, err
}
