package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"gateway/conf"
	"gateway/proxy"
	"gateway/proxy/admin"
)

// controlWait is how long a running gateway may take to answer. A reload that drains nothing is quick.
const controlWait = 30 * time.Second

// dial returns a client of the gateway that runs with the configuration that the options name.
func dial(opt options) (*admin.Client, error) {
	if err := opt.present(); err != nil {
		return nil, err
	}
	at, err := conf.LoadAdmin(opt.config)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(admin.ClientConfig{Network: at.Network, Address: at.Address, Token: at.Token})
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
			return reasons(refused)
		}
		return notRunning(err)
	}
	fmt.Fprintln(words, "gateway: reloaded")
	return nil
}

// reasons makes an error of every line of a refusal.
func reasons(refused *admin.RefusedError) error {
	var all []error
	for line := range strings.Lines(refused.Reasons) {
		all = append(all, &hintError{errors.New(strings.TrimSpace(line)), "nothing has changed: the configuration of before goes on"})
	}
	return errors.Join(all...)
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
	fmt.Fprintf(out, "up %v, %s\n", time.Since(s.Started).Round(time.Second), counted(s.Tunnels, "open tunnel"))
	for _, c := range s.Certificates {
		printCertificate(out, c.Host, c.Source, c.Until, c.Problem, c.Since)
	}
	for _, u := range s.Upstreams {
		fmt.Fprintf(out, "%s: %d queued\n", u.Name, u.Queued)
		for _, b := range u.Backends {
			state := "in use"
			switch {
			case !b.Ejected.IsZero():
				state = fmt.Sprintf("left alone for %v", time.Until(b.Ejected).Round(time.Second))
			case !b.Down.IsZero():
				state = fmt.Sprintf("down for %v, tried as the last there is", time.Since(b.Down).Round(time.Second))
			case b.Failures > 0:
				state = "in use, " + counted(b.Failures, "failure") + " of late"
			}
			fmt.Fprintf(out, "  %s  %s, %d in flight, %d served, %d failed\n", b.Addr, state, b.InFlight, b.Served, b.Failed)
		}
	}
}

// printCertificate prints one certificate in a line, and in another what is wrong with it.
func printCertificate(out io.Writer, host, source string, until time.Time, problem string, since time.Time) {
	fmt.Fprintf(out, "%s  %s", host, source)
	if !until.IsZero() {
		fmt.Fprintf(out, ", until %s", until.Format(time.DateTime))
	}
	fmt.Fprintln(out)
	if problem == "" {
		return
	}
	fmt.Fprintf(out, "  problem: %s", problem)
	if !since.IsZero() {
		fmt.Fprintf(out, " (for %v)", time.Since(since).Round(time.Second))
	}
	fmt.Fprintln(out)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func notRunning(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &hintError{err, "only its owner may open the socket: ask as the user that the gateway runs as, or as root"}
	}
	return &hintError{err, "is the gateway running, with this same configuration?"}
}

// release is what -ldflags "-X main.release=v1.2.3" says, for a build without the repository, such as the image's.
var release string

// version prints what this binary was built from.
func version(_ context.Context, _ options, out, _ io.Writer) error {
	_, err := fmt.Fprintf(out, "gateway %s (%s)\n", revision(), runtime.Version())
	return err
}

// revision is what this binary was built from, "unknown" when it does not say.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case release != "":
		return release
	case !ok:
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
