package conf

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// parseHost reads a site's host: a name in any case, a wildcard or an address.
func parseHost(s string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), nil
	}
	if s == "*" {
		return s, nil
	}
	if strings.Contains(s, "://") || strings.Contains(s, "/") {
		return "", errors.New("a host has no scheme and no path")
	}
	if host, port, err := net.SplitHostPort(s); err == nil {
		return "", fmt.Errorf("a host has no port; write %q here and :%s in listen", host, port)
	}
	return strings.ToLower(s), checkName(strings.TrimPrefix(s, "*."))
}

// checkName accepts a DNS name in ASCII.
func checkName(s string) error {
	switch {
	case s == "":
		return errors.New("nothing there")
	case strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }):
		return errors.New(`letters outside ASCII are written in their "xn--" form`)
	case strings.Contains(s, "*"):
		return errors.New(`a wildcard is the whole first label, as in "*.shop.example"`)
	case strings.HasSuffix(s, "."):
		return errors.New("the dot at the end is left out")
	case len(s) > 253:
		return errors.New("longer than 253 bytes")
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || strings.ContainsFunc(label, notBare) {
			return fmt.Errorf("%q is no label of a name", label)
		}
	}
	return nil
}

// checkToken accepts what may be the name of a header or cookie.
func checkToken(s string) error {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return fmt.Errorf("%q has no place in a name", c)
		}
	}
	if s == "" {
		return errors.New("nothing there")
	}
	return nil
}

// parsePath makes a path absolute, counted from the folder of the file it is written in.
func parsePath(src *source, s string) (string, error) {
	switch {
	case strings.ContainsRune(s, 0):
		return "", errors.New("the path holds a NUL")
	case filepath.IsAbs(s):
		return filepath.Clean(s), nil
	}
	return filepath.Join(src.dir, s), nil
}

// parseFile accepts a file below some folder.
func parseFile(s string) (string, error) {
	if !filepath.IsLocal(s) || strings.ContainsRune(s, 0) || filepath.Clean(s) == "." {
		return "", errors.New("not below root")
	}
	return filepath.Clean(s), nil
}
