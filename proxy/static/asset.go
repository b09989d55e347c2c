package static

import "strings"

// buildAssets is where Laravel's Vite plugin puts what it builds, with a hash in every name.
const buildAssets = "build/assets/"

// isBuilt reports whether a path that names no file can only be that of a built asset, so that PHP need not
// be woken to say 404. Crawlers and open tabs ask for the assets of older releases by the thousand.
//
// A wrong yes breaks an application that worked behind Nginx, whose try_files gives every missing path to
// Laravel; a wrong no costs one request to PHP. Laravel applications route paths with every extension:
// /livewire/livewire.js, /js/lang.js, /sitemap.xml, /feed.json, /favicon.ico, /storage and /images with
// pictures made on the first hit. So an extension alone is never enough:
//
//   - below build/assets every name with an extension is built;
//   - elsewhere the directory must be there, in the public folder itself: nobody routes into one, apart from
//     pictures that are written there on the first hit and scripts such as /js/lang.js. What is left is fonts,
//     source maps, code with a hash in its name, and what carries the version of Laravel Mix.
func (f *Files) isBuilt(rel *release, name, query string) bool {
	if rest, ok := strings.CutPrefix(name, buildAssets); ok {
		return extension(rest) != ""
	}
	dir := strings.TrimSuffix(name, base(name))
	return dir != "" && looksBuilt(name, query) && f.isDirectory(rel, dir)
}

func looksBuilt(name, query string) bool {
	switch extension(name) {
	case "woff", "woff2", "ttf", "otf", "eot":
		return true
	case "map":
		return strings.HasSuffix(name, ".js.map") || strings.HasSuffix(name, ".css.map") || strings.HasSuffix(name, ".mjs.map")
	case "js", "mjs", "css", "wasm":
		id, ok := strings.CutPrefix(query, "id=")
		return hasHash(name) || ok && isMixVersion(id)
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "avif":
		return isMixVersion(query)
	}
	return false
}

// isMixVersion reports whether id is what Laravel Mix appends: ?id=HEX to code, ?HEX to what CSS names.
func isMixVersion(id string) bool {
	return (len(id) == 20 || len(id) == 32) && isHex(id)
}

// isImmutable reports whether the bytes of name can never change, because its name is made from them.
func isImmutable(name string) bool {
	return strings.HasPrefix(name, buildAssets) && hasHash(name)
}

// hasHash reports whether the last segment of name is NAME-HASH.EXT or NAME.HASH.EXT, or the map of one,
// where HASH is eight characters of base64url (Rollup, Vite), or 16 or more hexadecimal digits (webpack).
// In doubt it says no: one hash in fifty or so reads like a word or a date, and that file is then revalidated.
func hasHash(name string) bool {
	b := strings.TrimSuffix(base(name), ".map")
	dot := strings.LastIndexByte(b, '.')
	if dot < 0 {
		return false
	}
	stem := b[:dot]
	if n := len(stem) - 8; n > 1 && (stem[n-1] == '-' || stem[n-1] == '.') && isBase64URL(stem[n:]) {
		return !isWord(stem[n:])
	}
	digits := stem[strings.LastIndexAny(stem, "-.")+1:]
	return len(digits) >= 16 && len(digits) < len(stem) && isHex(digits)
}

// isWord reports whether a person could have chosen s: settings, UserList, my-pages, version2, README, 20240115.
func isWord(s string) bool {
	if isHex(s) {
		return strings.Trim(s, "0123456789") == "" || !strings.ContainsAny(s, "0123456789")
	}
	s = strings.TrimRight(s, "0123456789")
	if strings.ToUpper(s) == s {
		return !strings.ContainsAny(s, "0123456789")
	}
	for s != "" {
		rest := strings.TrimLeft(s[1:], "abcdefghijklmnopqrstuvwxyz")
		if isDigit(s[0]) || isUpper(s[0]) && len(s)-len(rest) < 3 {
			return false // DNxiirP_, QmZkLpRw
		}
		s = rest
	}
	return true
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z' || '0' <= s[i] && s[i] <= '9' || s[i] == '-' || s[i] == '_') {
			return false
		}
	}
	return true
}
