package meter

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
)

//go:embed probe.php
var probeScript []byte

// probe is what the script tells.
type probe struct {
	PHP             string            `json:"php"`
	SAPI            string            `json:"sapi"`
	OPcache         string            `json:"opcache"`
	OPcacheMemory   string            `json:"opcache_memory"` // in MiB, or in bytes of older PHP
	OPcacheValidate string            `json:"opcache_validate"`
	JIT             string            `json:"jit"`
	Xdebug          string            `json:"xdebug"`
	Environment     map[string]string `json:"environment"`
}

// runProbe has FPM run a script that is there for no longer than that. It has to be on this machine, and to see the
// folder: not with PrivateTmp, chroot or another open_basedir.
func runProbe(ctx context.Context, scripts http.RoundTripper, temp string) (p probe, err error) {
	dir, err := os.MkdirTemp(temp, "gateway-probe-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "probe.php")
	if err := os.WriteFile(file, probeScript, 0o644); err != nil {
		return p, err
	}
	// FPM is another user, and our umask may be narrow.
	for name, mode := range map[string]os.FileMode{dir: 0o755, file: 0o644} {
		if err := os.Chmod(name, mode); err != nil {
			return p, err
		}
	}
	body, err := get(ctx, scripts, file, "")
	if err != nil {
		return p, err
	}
	return parseProbe(body)
}

func parseProbe(body []byte) (probe, error) {
	var p probe
	if err := json.Unmarshal(body, &p); err != nil {
		return probe{}, fmt.Errorf("answer is not that of the script: %w", err)
	}
	if p.PHP == "" || p.SAPI == "" {
		return probe{}, errors.New("answer is not that of the script")
	}
	return p, nil
}

// isHere says whether an address is one of this machine alone: only there may a script be run.
func isHere(network, address string) bool {
	if network == "unix" {
		return true
	}
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}
