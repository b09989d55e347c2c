package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"strconv"

	"gateway/proxy"
	"gateway/proxy/certs/trust"
)

// trustRoots makes this machine trust the gateway's own authority, or, with --remove, no longer.
func trustRoots(ctx context.Context, opt options, out, _ io.Writer) error {
	roots, err := internalRoots(opt)
	if err != nil {
		return err
	}
	stores := trust.Stores(whose())
	if len(stores) == 0 {
		return &hintError{
			errors.New("no store of roots found on this machine"),
			"tell your system or browser to trust " + roots[0].File + " by its own means",
		}
	}
	var failed []error
	for _, root := range roots {
		for _, store := range stores {
			done, err := change(ctx, store, root, opt.remove)
			if err != nil {
				failed = append(failed, explained(store, root, err))
				continue
			}
			fmt.Fprintf(out, "%s: %s\n", store.Name(), done)
		}
	}
	return errors.Join(failed...)
}

// change says what was done.
func change(ctx context.Context, store trust.Store, root trust.Root, remove bool) (string, error) {
	has, err := store.Has(ctx, root)
	name := root.Certificate.Subject.CommonName
	switch {
	case err != nil:
		return "", err
	case remove && !has:
		return name + " is not there", nil
	case remove:
		return name + " removed", store.Remove(ctx, root)
	case has:
		return name + " is there already", nil
	}
	return name + " added", store.Add(ctx, root)
}

// internalRoots reads the roots, which the gateway keeps in its storage, or makes them.
func internalRoots(opt options) ([]trust.Root, error) {
	cfg, err := load(opt)
	if err != nil {
		return nil, err
	}
	files, err := proxy.InternalRoots(cfg)
	if err != nil {
		return nil, storageHint(cfg.Storage, err)
	}
	var roots []trust.Root
	for _, file := range files {
		root, err := trust.Load(file)
		if err != nil {
			return nil, storageHint(cfg.Storage, err)
		}
		roots = append(roots, root)
	}
	return roots, nil
}

func storageHint(storage string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return &hintError{err, "only its owner may read " + storage + ": run this as the user that the gateway runs as, or as root"}
}

// explained adds what can be done about a store that was not changed.
func explained(store trust.Store, root trust.Root, err error) error {
	err = fmt.Errorf("%s: %w", store.Name(), err)
	var denied *trust.DeniedError
	switch {
	case errors.As(err, &denied):
		return &hintError{err, "this store is for root to change; the others are done: sudo gateway trust, with the same options"}
	case errors.Is(err, trust.ErrNoCertutil):
		return &hintError{err, "apt install libnss3-tools (dnf install nss-tools, pacman -S nss), or import " + root.File + " in the browser"}
	}
	return err
}

// whose finds the user whose browsers are meant: behind sudo, the one who typed it.
func whose() trust.Config {
	cfg := trust.Config{JavaHome: os.Getenv("JAVA_HOME")}
	cfg.Home, _ = os.UserHomeDir() // none without HOME
	name := os.Getenv("SUDO_USER")
	if os.Geteuid() != 0 || name == "" || name == "root" {
		return cfg
	}
	owner, err := user.Lookup(name)
	if err != nil {
		return cfg
	}
	uid, errUID := strconv.ParseUint(owner.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(owner.Gid, 10, 32)
	if errUID == nil && errGID == nil {
		cfg.Home, cfg.UID, cfg.GID = owner.HomeDir, uint32(uid), uint32(gid)
	}
	return cfg
}
