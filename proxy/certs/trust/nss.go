package trust

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ErrNoCertutil is a browser's database that nothing here can open.
var ErrNoCertutil = errors.New("certutil is not installed")

// nss is the database of a browser: Chromium has one for each user, Firefox one for each profile.
type nss struct {
	dir      string
	uid, gid uint32 // who runs certutil; zero means this process
}

// profiles are where browsers have their databases, below the home of a user.
var profiles = []string{
	".pki/nssdb",
	"snap/chromium/current/.pki/nssdb",
	".mozilla/firefox/*",
	"snap/firefox/common/.mozilla/firefox/*",
	".var/app/org.mozilla.firefox/.mozilla/firefox/*",
}

func findNSS(cfg Config) []Store {
	if cfg.Home == "" {
		return nil
	}
	var all []Store
	for _, pattern := range profiles {
		found, err := filepath.Glob(filepath.Join(cfg.Home, pattern, "cert9.db"))
		if err != nil {
			continue // a home whose name is no pattern
		}
		for _, file := range found {
			all = append(all, &nss{filepath.Dir(file), cfg.UID, cfg.GID})
		}
	}
	return all
}

func (n *nss) Name() string { return "nss " + n.dir }

// certutil runs as the owner of the browser, so that its files stay its own.
func (n *nss) certutil(ctx context.Context, args ...string) error {
	path, err := exec.LookPath("certutil")
	if err != nil {
		return ErrNoCertutil
	}
	as := func(cmd *exec.Cmd) {
		if n.uid != 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: n.uid, Gid: n.gid}}
		}
	}
	_, err = run(ctx, as, path, append([]string{"-d", "sql:" + n.dir}, args...)...)
	return err
}

// Has asks by name; certutil's exit code does not tell a name that is missing from a database that is broken.
func (n *nss) Has(ctx context.Context, root Root) (bool, error) {
	if err := n.certutil(ctx, "-L"); err != nil {
		return false, err
	}
	return n.certutil(ctx, "-L", "-n", root.alias()) == nil, nil
}

// Add gives the certificate to certutil through a copy: the one in the storage is not for all to read.
func (n *nss) Add(ctx context.Context, root Root) error {
	copied, remove, err := copyOf(root)
	if err != nil {
		return err
	}
	defer remove()
	if err := n.writable(); err != nil {
		return err
	}
	return n.certutil(ctx, "-A", "-t", "C,,", "-n", root.alias(), "-i", copied)
}

func (n *nss) Remove(ctx context.Context, root Root) error {
	if has, err := n.Has(ctx, root); err != nil || !has {
		return err
	}
	if err := n.writable(); err != nil {
		return err
	}
	return n.certutil(ctx, "-D", "-n", root.alias())
}

func (n *nss) writable() error { return writable(filepath.Join(n.dir, "cert9.db")) }

// writable finds out before a tool does, whose words for it differ.
func writable(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return denied(file, err)
	}
	return f.Close()
}
