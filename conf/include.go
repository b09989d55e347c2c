package conf

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// includes reads the files that the main one includes, each once, in the order of the patterns and
// sorted within one.
func (l *loader) includes(main *file) []*file {
	var all []*file
	written := main.root.get("include")
	for i, pattern := range main.cfg.Include {
		if written != nil && (written.bad || written.items[i].bad) {
			l.partial = true
			continue
		}
		matches := l.matches(main, pattern)
		if written != nil && len(matches) == 0 {
			item := written.items[i]
			l.partial = true
			l.faults.add(item.src, item.at, index("include", i), "%q matches no file; want a file or pattern below %s", pattern, main.src.dir)
		}
		for _, match := range matches {
			if abs, _ := filepath.Abs(match); !slices.Contains(l.files, abs) {
				all = append(all, l.file(match))
			}
		}
	}
	return all
}

// matches returns the files that a pattern stands for, named as the main file is.
func (l *loader) matches(main *file, pattern string) []string {
	shown := filepath.Dir(main.src.name)
	full := pattern
	if !filepath.IsAbs(pattern) {
		full = filepath.Join(escapePattern(main.src.dir), pattern)
	}
	l.patterns = append(l.patterns, full)
	matches := expandPath(full)
	for i, match := range matches {
		if rel, err := filepath.Rel(main.src.dir, match); err == nil && !filepath.IsAbs(pattern) {
			matches[i] = filepath.Join(shown, rel)
		}
	}
	return matches
}

// expandPath returns the files that an absolute path or pattern stands for. A name that exists is meant
// as it is, whatever it looks like.
func expandPath(path string) []string {
	if _, err := os.Lstat(path); err == nil {
		return []string{path}
	}
	matches, _ := filepath.Glob(path)
	return matches
}

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// escapePattern makes a path mean itself in a pattern.
func escapePattern(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// readRegular reads a file, unless that could take for ever, as with a pipe.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no regular file but %s", info.Mode().Type())
	}
	data, err := os.ReadFile(path)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// reasonOf leaves out the path, which the message begins with anyway.
func reasonOf(err error) error {
	var fault *fs.PathError
	if errors.As(err, &fault) {
		return fault.Err
	}
	return err
}

// digest stands for the names and the content of files; nil content is a file that cannot be read.
func digest(contents map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		content := contents[name]
		fmt.Fprintf(sum, "%q %t %d\n", name, content != nil, len(content))
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
