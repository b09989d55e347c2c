package conf

import (
	"path/filepath"
	"reflect"
	"slices"
)

// Load reads the file and what it includes. The error is an *Errors with every fault found.
func Load(path string) (*Config, error) {
	l := &loader{contents: map[string][]byte{}}
	main := l.file(path)
	cfg := main.cfg
	files := append([]*file{main}, l.includes(main)...)
	l.check(files)
	for _, f := range files[1:] {
		cfg.Sites = append(cfg.Sites, f.cfg.Sites...)
		for name, up := range f.cfg.Upstreams {
			cfg.Upstreams[name] = up
		}
	}
	l.watchToo(cfg.TLS.Cert, cfg.TLS.Key, cfg.TLS.CARoot, cfg.TLS.Redis.CARoot)
	for _, fallback := range cfg.TLS.Fallback {
		l.watchToo(fallback.CARoot)
	}
	for _, site := range cfg.Sites {
		l.watchToo(site.ClientCertificates.CA)
	}
	cfg.Files, cfg.Digest = slices.Concat(l.files, l.patterns), digest(l.contents)
	if len(l.faults.list) > 0 {
		return nil, &Errors{List: l.faults.sorted(l.names), Files: cfg.Files, Digest: cfg.Digest}
	}
	return cfg, nil
}

// LoadAdmin reads from the main file where its gateway is spoken to. Faults of anything else do not matter: the
// gateway that runs goes on with the configuration of before, and can be asked nevertheless.
func LoadAdmin(path string) (Admin, error) {
	l := &loader{contents: map[string][]byte{}}
	main := l.file(path)
	c := &checker{faults: &l.faults, main: main, whole: main.whole}
	c.admin(main.root, main.cfg.Admin)
	readable := l.contents[l.files[0]] != nil
	l.faults.list = slices.DeleteFunc(l.faults.list, func(e *Error) bool {
		return readable && e.Key != "admin" && e.Key != "admin_token"
	})
	if len(l.faults.list) > 0 {
		return Admin{}, &Errors{List: l.faults.sorted(l.names)}
	}
	return main.cfg.Admin, nil
}

// loader is the state of one load.
type loader struct {
	faults   faults
	partial  bool              // some file was not read, or not to its end
	names    []string          // the files as errors name them, in the order in which they were read
	files    []string          // the same, absolute
	patterns []string          // what was included, absolute
	contents map[string][]byte // by absolute path; nil for what cannot be read
}

// file is one file read: its tree and what was decoded of it.
type file struct {
	src   *source
	root  *node
	whole bool // the file was read to its end: what is missing in it is missing indeed
	cfg   *Config
}

// open reads a file and tells whether it could. What cannot be read is a fault of that file's first line.
func (l *loader) open(name string) (*source, bool) {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	data, err := readRegular(abs)
	l.names, l.files = append(l.names, name), append(l.files, abs)
	l.contents[abs] = data
	src := &source{name: name, dir: filepath.Dir(abs), data: slices.Clip(data)}
	if err != nil {
		l.faults.add(src, 0, "", "cannot be read: %s; want a TOML file", reasonOf(err))
	}
	return src, err == nil
}

func (l *loader) file(name string) *file {
	src, readable := l.open(name)
	root, whole := parse(src, &l.faults)
	f := &file{src: src, root: root, whole: readable && whole, cfg: &Config{Upstreams: map[string]Upstream{}}}
	l.partial = l.partial || !f.whole
	d := &decoder{src: src, faults: &l.faults, whole: f.whole}
	if len(l.names) > 1 {
		d.onlyShared(root)
	}
	d.table(reflect.ValueOf(f.cfg).Elem(), root, "")
	return f
}

// watchToo adds files that others read, so that a renewed certificate is a change as well.
func (l *loader) watchToo(paths ...string) {
	for _, path := range paths {
		if path != "" && !slices.Contains(l.files, path) {
			l.files = append(l.files, path)
			l.contents[path], _ = readRegular(path) // who needs it will say what is wrong with it
		}
	}
}

// onlyShared refuses what may stand in the main file alone.
func (d *decoder) onlyShared(root *node) {
	for _, name := range names(reflect.TypeFor[Config]()) {
		if name != "site" && name != "upstream" && root.has(name) {
			root.get(name).bad = true
			d.faults.add(d.src, root.keyAt(name), name, "belongs in the main file; an included one holds sites and upstreams")
		}
	}
}
