package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"gateway/proxy/bench"
)

// demoBoot is what the application does before each answer where nothing stays in memory: a stand-in for the boot of a
// framework, and said to be one.
const demoBoot = 3 * time.Millisecond

// demoUsers is the page that the bench asks for. Both runtimes answer the same bytes; only FPM boots first.
func demoUsers(runtime string) http.HandlerFunc {
	users := make([]map[string]any, 20)
	for i := range users {
		users[i] = map[string]any{"id": i + 1, "name": fmt.Sprintf("User %d", i+1)}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if runtime == "FPM" {
			select {
			case <-time.After(demoBoot):
			case <-r.Context().Done():
				return
			}
		}
		demoJSON(w, users)
	}
}

// demoBench is what a user would put behind gateway bench, made short.
var demoBench = []string{"--route", "/api/users", "--rate", "150", "--pairs", "6", "--for", "500ms", "--discard", "100ms",
	"--gap", "20ms", "--warmup", "900ms", "--seed", "1"}

// bench compares both backends by load. A machine that is too busy for it is no failure of the demo: the verdict says so.
func (d *demonstration) bench(ctx context.Context) error {
	fmt.Fprintf(d.out, "\nBench, /api/users; the embedded FPM waits %s before each answer, in place of a framework that boots:\n\n", demoBoot)
	b, err := parseBench(options{config: d.file(), rest: demoBench}, "bench")
	if err != nil {
		return err
	}
	cfg, arms, err := b.open(d.out)
	if err != nil {
		return err
	}
	defer arms.Close()
	cfg.Tell = nil
	for i := range cfg.Arms {
		cfg.Arms[i].Look = nil // both live in this process: what it uses is nobody's in particular
	}
	result, err := bench.Run(ctx, cfg)
	if err != nil {
		return err
	}
	printResult(d.out, result)
	return nil
}
