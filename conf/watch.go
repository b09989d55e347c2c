package conf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// WatchConfig says what Watch looks at.
type WatchConfig struct {
	// Paths returns the files and patterns to watch, as in Config.Files or Errors.Files: absolute, the
	// main file first. It is called before each look.
	Paths func() []string
	// Digest returns the digest of the last load, good or bad, so that no change around a load is lost, and
	// none is told that was loaded for another reason. Nil means the files as they were last seen.
	Digest func() string
	// Debounce is how long the files must be quiet before they are looked at, for at most 2 s.
	// Zero means 200 ms.
	Debounce time.Duration
	// Logger gets what the watcher has to say. Nil means nothing is logged.
	Logger *zap.Logger

	maxDelay, poll time.Duration
	add            func(dir string) error // nil means that of fsnotify
	idle           func()                 // called after a look that found nothing to do; nil for nobody
}

// Watch calls changed, one call at a time and on its own goroutine, whenever the content of the watched files
// differs from what was last seen. It looks when the kernel tells of a change, and every 30 s for file systems
// that tell nothing. While the main file is away, it waits for its return.
// It returns nil when ctx ends, and an error only when it could not begin.
func Watch(ctx context.Context, cfg WatchConfig, changed func()) error {
	if cfg.Paths == nil || changed == nil {
		return errors.New("watch: want Paths and a function to call")
	}
	w, err := newWatcher(cfg, changed)
	if err != nil {
		return err
	}
	defer w.events.Close()
	w.begin()
	w.run(ctx)
	return nil
}

// watcher is the state of one Watch. It belongs to one goroutine.
type watcher struct {
	WatchConfig
	changed func()
	events  *fsnotify.Watcher
	paths   []string
	places  places
	loaded  string // the digest of what was last loaded
	told    string // the digest for which changed was last called
	missed  bool   // the main file is away, and that is logged
	refused map[string]bool

	quiet *time.Timer
	first time.Time // of the events not looked at yet; zero when there are none
}

func newWatcher(cfg WatchConfig, changed func()) (*watcher, error) {
	if cfg.Debounce == 0 {
		cfg.Debounce = 200 * time.Millisecond
	}
	if cfg.maxDelay == 0 {
		cfg.maxDelay = max(2*time.Second, cfg.Debounce)
	}
	if cfg.poll == 0 {
		cfg.poll = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the configuration: %w", err)
	}
	if cfg.add == nil {
		cfg.add = events.Add
	}
	w := &watcher{WatchConfig: cfg, changed: changed, events: events, refused: map[string]bool{}}
	w.quiet = time.NewTimer(cfg.poll)
	w.quiet.Stop()
	return w, nil
}

// begin takes the state to compare with, and looks once for what happened before the watch.
func (w *watcher) begin() {
	w.refresh()
	w.place()
	w.soon()
}

// refresh asks what was loaded last, which need not have been for a change of the files.
func (w *watcher) refresh() {
	before := w.paths
	w.paths = w.Paths()
	if w.Digest != nil {
		w.loaded = w.Digest()
	} else if !slices.Equal(before, w.paths) {
		w.loaded, _ = look(w.paths)
	}
}

func (w *watcher) run(ctx context.Context) {
	poll := time.NewTicker(w.poll)
	defer poll.Stop()
	defer w.quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.events.Events:
			if w.places.touched(filepath.Clean(event.Name)) {
				w.soon()
			}
		case err := <-w.events.Errors:
			w.Logger.Warn("watching the configuration", zap.Error(err))
			w.soon() // events may be lost
		case <-w.quiet.C:
			w.check()
		case <-poll.C:
			w.check()
		}
	}
}

// soon puts the next look off until the files are quiet, but not for ever.
func (w *watcher) soon() {
	now := time.Now()
	if w.first.IsZero() {
		w.first = now
	}
	w.quiet.Reset(max(0, min(w.Debounce, w.maxDelay-now.Sub(w.first))))
}

// check looks at the files and calls changed when they hold something new.
func (w *watcher) check() {
	w.first = time.Time{}
	w.refresh()
	w.place()
	sum, there := look(w.paths)
	w.miss(!there)
	if there && sum != w.loaded && sum != w.told {
		w.reload(sum)
		return
	}
	if there && sum == w.loaded {
		w.told = "" // what failed before may be tried again
	}
	if w.idle != nil {
		w.idle()
	}
}

// reload calls changed, and looks again for what happened meanwhile in places not watched until now.
func (w *watcher) reload(sum string) {
	w.told, w.loaded = sum, sum
	w.changed()
	w.soon()
}

// miss logs, once, that the main file went away.
func (w *watcher) miss(missing bool) {
	if missing && !w.missed {
		w.Logger.Warn("configuration file is missing, waiting for it", zap.Strings("files", w.paths))
	}
	w.missed = missing
}

// place watches the folders that matter now. Links may turn while they are followed, hence the second look.
func (w *watcher) place() {
	for range 3 {
		before := w.places
		w.places = placesOf(w.paths)
		for dir := range w.places {
			w.watch(dir)
		}
		if w.places.equal(before) {
			break
		}
	}
	for _, dir := range w.events.WatchList() {
		if w.places[dir] == nil {
			_ = w.events.Remove(dir) // it fails when the folder is gone, which ends the watch as well
		}
	}
}

// watch asks for the events of a folder, even of a watched one: it may be another folder of that name.
func (w *watcher) watch(dir string) {
	err := w.add(dir)
	if err != nil && !w.refused[dir] {
		w.Logger.Warn("folder cannot be watched, polling it", zap.String("folder", dir), zap.Duration("every", w.poll), zap.Error(err))
	}
	w.refused[dir] = err != nil
}
