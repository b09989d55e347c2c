package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"gateway/proxy"
	"gateway/proxy/admin"
)

// controlWait is how long a running gateway may take to answer. A reload that drains nothing is quick.
const controlWait = 30 * time.Second

// dial returns a client of the gateway that runs with the configuration that the options name.
func dial(opt options) (*admin.Client, error) {
	cfg, err := load(opt)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(admin.ClientConfig{
		Network: cfg.Admin.Network, Address: cfg.Admin.Address, Token: cfg.Admin.Token,
	})
}

// reload tells a running gateway to load its configuration anew, and prints what it refuses.
func reload(ctx context.Context, opt options, _, words io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, controlWait)
	defer cancel()
	client, err := dial(opt)
	if err != nil {
		return err
	}
	if err := client.Reload(ctx); err != nil {
		var refused *admin.RefusedError
		if errors.As(err, &refused) {
			return fmt.Errorf("refused, the old configuration goes on:\n%w", err)
		}
		return notRunning(err)
	}
	fmt.Fprintln(words, "gateway: reloaded")
	return nil
}

// status prints how a running gateway is.
func status(ctx context.Context, opt options, out, _ io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, controlWait)
	defer cancel()
	client, err := dial(opt)
	if err != nil {
		return err
	}
	answer, err := client.Status(ctx)
	if err != nil {
		return notRunning(err)
	}
	if opt.json {
		_, err := fmt.Fprintf(out, "%s\n", answer)
		return err
	}
	var s proxy.Status
	if err := json.Unmarshal(answer, &s); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	printStatus(out, s)
	return nil
}

func printStatus(out io.Writer, s proxy.Status) {
	fmt.Fprintf(out, "up %v, %d open tunnels\n", time.Since(s.Started).Round(time.Second), s.Tunnels)
	for _, u := range s.Upstreams {
		fmt.Fprintf(out, "%s: %d queued\n", u.Name, u.Queued)
		for _, b := range u.Backends {
			state := "in use"
			if !b.Ejected.IsZero() {
				state = fmt.Sprintf("left alone for %v", time.Until(b.Ejected).Round(time.Second))
			}
			fmt.Fprintf(out, "  %s  %s, %d in flight, %d served, %d failed\n", b.Addr, state, b.InFlight, b.Served, b.Failed)
		}
	}
}

func notRunning(err error) error {
	return &hintError{err, "is the gateway running, with this same configuration?"}
}

// version prints what this binary was built from.
func version(_ context.Context, _ options, out, _ io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this binary says nothing of its build")
	}
	revision := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	_, err := fmt.Fprintf(out, "gateway %s (%s)\n", revision, info.GoVersion)
	return err
}
