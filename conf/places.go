package conf

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// places are the folders to watch, each by its real path, with the names in it that matter. The name "" stands
// for all of them.
//
// Folders are watched and not files, because a watch on a file follows the file that an editor, a link or
// a deployment has just replaced. A change of a Kubernetes volume shows only in the link "..data" of its
// folder, so every link on the way counts too.
type places map[string]map[string]bool

// maxLinks ends links that lead in a circle, as the kernel does.
const maxLinks = 40

func placesOf(paths []string) places {
	p := places{}
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil || !hasMeta(path) {
			p.follow(path)
		} else {
			p.pattern(path)
		}
	}
	return p
}

func (p places) add(dir, name string) {
	if p[dir] == nil {
		p[dir] = map[string]bool{}
	}
	p[dir][name] = true
}

// touched tells whether an event at path may concern the files.
func (p places) touched(path string) bool {
	names := p[filepath.Dir(path)]
	return names[""] || names[filepath.Base(path)] || p[path] != nil
}

func (p places) equal(other places) bool {
	return maps.EqualFunc(p, other, func(a, b map[string]bool) bool { return maps.Equal(a, b) })
}

// follow adds what may replace the file or folder at an absolute path: its name, that of its folder, every link
// on the way, and the first name that is missing. It returns the real path, or "" when something is missing.
func (p places) follow(path string) string {
	dir, rest, links := "/", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		full := filepath.Join(dir, name)
		info, err := os.Lstat(full)
		isLink := err == nil && info.Mode()&os.ModeSymlink != 0
		if err != nil || isLink || len(rest) < 2 {
			p.add(dir, name)
		}
		if err != nil {
			return ""
		}
		if !isLink {
			dir = full
			continue
		}
		target, err := os.Readlink(full)
		if links++; err != nil || links > maxLinks {
			return ""
		}
		if filepath.IsAbs(target) {
			dir = "/"
		}
		rest = slices.Concat(strings.Split(target, "/"), rest)
	}
	return dir
}

// pattern adds every folder in which a file might come to match, and the files that do.
func (p places) pattern(pattern string) {
	parts := strings.Split(pattern, "/")
	first := slices.IndexFunc(parts, hasMeta)
	p.all(strings.Join(parts[:first], "/"))
	for i := first; i < len(parts)-1; i++ {
		matches, _ := filepath.Glob(strings.Join(parts[:i+1], "/"))
		for _, dir := range matches {
			p.all(dir)
		}
	}
	matches, _ := filepath.Glob(pattern)
	for _, file := range matches {
		p.follow(file)
	}
}

// all adds every name in a folder.
func (p places) all(dir string) {
	real := p.follow(dir)
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		p.add(real, "")
	}
}

// look reads what the paths stand for and returns the digest that a load of the same files has. It tells whether
// the first of them, the main file, is there: without it no load can succeed.
func look(paths []string) (sum string, there bool) {
	contents := map[string][]byte{}
	for _, path := range paths {
		found := expandPath(path)
		if len(found) == 0 && !hasMeta(path) {
			found = []string{path}
		}
		for _, file := range found {
			contents[file], _ = readRegular(file) // what cannot be read counts as such
		}
	}
	return digest(contents), len(paths) > 0 && contents[paths[0]] != nil
}
