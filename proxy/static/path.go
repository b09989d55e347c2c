package static

import (
	"fmt"
	"strings"
)

// localName turns the decoded path of a request into a name below the root: no leading slash, no empty
// segment in the middle, a slash at the end where the path had one. It looks at bytes alone: what is not
// ASCII is part of a name, and a backslash is no separator.
//
// Segments that begin with a dot are refused, which covers "." and ".." in every encoding, since the path
// was decoded once. Only .well-known passes, at any depth: OpenID Connect appends it to an issuer's path.
func localName(path string) (string, error) {
	if path == "" || path[0] != '/' {
		return "", nil
	}
	start, doubled := 0, false
	for i := 0; i <= len(path); i++ {
		if i < len(path) && (path[i] < ' ' || path[i] == 0x7f) {
			return "", fmt.Errorf("%w: %q holds a control byte", ErrBadPath, path)
		}
		if i < len(path) && path[i] != '/' {
			continue
		}
		segment := path[start:i]
		if strings.HasPrefix(segment, ".") && segment != ".well-known" {
			return "", fmt.Errorf("%w: %q has a segment that begins with a dot", ErrRefused, path)
		}
		doubled = doubled || segment == "" && i > 0 && i < len(path)
		start = i + 1
	}
	if !doubled {
		return path[1:], nil
	}
	return mergeSlashes(path), nil
}

// mergeSlashes does what Nginx's merge_slashes does, which is on unless told otherwise.
func mergeSlashes(path string) string {
	name := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && (len(name) == 0 || name[len(name)-1] == '/') {
			continue
		}
		name = append(name, path[i])
	}
	return string(name)
}

// isDirectoryName reports whether name is the root or ends with a slash. Directories are never ours, not
// even with an index.html in them: Nginx as Laravel documents it answers 403 there, which takes the path
// from every Laravel route of that name, and its index is index.php alone.
func isDirectoryName(name string) bool {
	return name == "" || name[len(name)-1] == '/'
}

// isIndex reports whether name is the front controller, or a path below it as in /index.php/users.
func (f *Files) isIndex(name string) bool {
	rest, ok := strings.CutPrefix(name, f.index)
	return ok && (rest == "" || rest[0] == '/')
}

// base returns the last segment of name.
func base(name string) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}

// extension returns what follows the last dot of name's last segment, in lower case, or "".
func extension(name string) string {
	b := base(name)
	dot := strings.LastIndexByte(b, '.')
	if dot < 0 {
		return ""
	}
	return lower(b[dot+1:])
}

// lower lowers ASCII letters alone: other letters never make an extension that we know.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.Map(lowerRune, s)
		}
	}
	return s
}

func lowerRune(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
