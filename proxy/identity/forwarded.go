package identity

import (
	"net/http"
	"strings"
)

// readForwarded reads the elements of Forwarded (RFC 7239) from the right, backwards: what stands before the part
// that a trusted proxy added, such as a quotation mark that is never closed, cannot change how that part is read.
func readForwarded(h http.Header) trail {
	lines, line, open := h["Forwarded"], "", false
	return func() (claim, bool) {
		if !open {
			if len(lines) == 0 {
				return claim{}, false
			}
			line, lines = lines[len(lines)-1], lines[:len(lines)-1]
		}
		comma := lastOutside(line, ',')
		element := line[comma+1:]
		line, open = line[:max(comma, 0)], comma >= 0
		return parseElement(element), true
	}
}

// lastOutside returns where c stands last outside of quotation marks, or -1. A mark behind an odd number of
// backslashes is part of what is quoted.
func lastOutside(text string, c byte) int {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '"' && !(quoted && escaped(text, i)):
			quoted = !quoted
		case text[i] == c && !quoted:
			return i
		}
	}
	return -1
}

func escaped(text string, at int) bool {
	slashes := 0
	for at-slashes > 0 && text[at-slashes-1] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// parseElement reads "for=1.2.3.4;proto=https;host=shop.example". An element with a fault, or that says one thing
// twice, says nothing.
func parseElement(element string) claim {
	var said claim
	seen := map[string]bool{}
	for more := true; more; {
		semicolon := lastOutside(element, ';')
		name, value, ok := parsePair(element[semicolon+1:])
		if !ok || seen[name] && name != "" {
			return claim{}
		}
		seen[name] = true
		switch name {
		case "for":
			said.addr = parseNode(value)
		case "proto":
			said.proto = value
		case "host":
			said.host = value
		}
		element, more = element[:max(semicolon, 0)], semicolon >= 0
	}
	return said
}

// parsePair reads NAME=VALUE or NAME="VALUE". An empty pair is allowed and has no name.
func parsePair(pair string) (name, value string, ok bool) {
	pair = strings.Trim(pair, " \t")
	if pair == "" {
		return "", "", true
	}
	name, value, ok = strings.Cut(pair, "=")
	if !ok || name == "" || value == "" {
		return "", "", false
	}
	if value[0] == '"' {
		value, ok = unquote(value)
	} else {
		ok = !strings.ContainsAny(value, "\" \t")
	}
	return strings.ToLower(name), value, ok
}

func unquote(quoted string) (string, bool) {
	if len(quoted) < 2 || quoted[len(quoted)-1] != '"' || escaped(quoted, len(quoted)-1) {
		return "", false
	}
	quoted = quoted[1 : len(quoted)-1]
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted, strings.IndexByte(quoted, '"') < 0
	}
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '\\' {
			i++
		}
		if i < len(quoted) {
			b.WriteByte(quoted[i])
		}
	}
	return b.String(), true
}
