package compare

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// assetHash is what Vite and Mix put into the names of built files.
var assetHash = regexp.MustCompile(`-[\w-]{8}\.(?:m?js|css|map|svg|png|jpe?g|webp|avif|gif|ico|woff2?|ttf)\b|\?id=[0-9a-f]{20,32}\b`)

// shortestWord is the least that a word must have to be looked at: a time of day has so many bytes.
const shortestWord = 8

// scanner replaces in a text what is never the same twice. It looks at words only that may be of that sort; one regular
// expression for all of them takes twenty times as long.
type scanner struct {
	text string
	at   time.Time
	seen func(mask string)
	out  strings.Builder
	done int // how much of text is in out
}

func maskVolatile(text string, at time.Time, seen func(mask string)) string {
	s := scanner{text: text, at: at, seen: seen}
	start, digit := 0, false
	for i := 0; i <= len(text); i++ {
		if i < len(text) && wordByte[text[i]] {
			digit = digit || text[i] <= '9' && text[i] >= '0'
			continue
		}
		if i-start >= shortestWord && start >= s.done && (digit || strings.HasPrefix(text[start:i], "nonce-") || i-start >= 40) {
			s.word(start, i)
		}
		start, digit = i+1, false
	}
	if s.done == 0 {
		return text
	}
	s.out.WriteString(text[s.done:])
	return s.out.String()
}

var wordByte = func() (is [256]bool) {
	for c := range is {
		is[c] = inWord(byte(c)) && c < 0x80 && c != '@' || strings.IndexByte("+/=:?%~&", byte(c)) >= 0 && c < 0x80
	}
	return is
}()

// replace writes to in place of what is from start to end.
func (s *scanner) replace(start, end int, mask, to string) {
	s.out.WriteString(s.text[s.done:start])
	s.out.WriteString(to)
	s.done = end
	s.seen(mask)
}

func (s *scanner) word(start, end int) {
	word := s.text[start:end]
	switch {
	case strings.HasPrefix(word, "nonce-"):
		s.replace(start, end, "nonce", "<nonce>")
	case s.date(start, end), s.whole(start, end), s.csrf(start, end):
	case strings.ContainsAny(word, ".?"):
		s.assets(start, end)
	}
	if s.done < end {
		s.parts(max(start, s.done), end)
	}
}

// whole masks a word for its shape, without the point or the colon behind it.
func (s *scanner) whole(start, end int) bool {
	for end > start && strings.IndexByte(".:?", s.text[end-1]) >= 0 {
		end--
	}
	shape := shapeOf(s.text[start:end], s.at)
	if shape != "" {
		s.replace(start, end, firstWord(shape), "<"+shape+">")
	}
	return shape != ""
}

// date masks a time that has blanks in it: "2026-12-01 05:00:01" and the dates of HTTP.
func (s *scanner) date(start, end int) bool {
	const before, behind = len("Tue, 01 Dec 2026 "), len(" GMT")
	switch {
	case end-start == 10 && end < len(s.text) && s.text[end] == ' ':
		last := end + 1
		for last < len(s.text) && wordByte[s.text[last]] {
			last++
		}
		last = start + len(strings.TrimRight(s.text[start:last], ".?"))
		if isNow(s.text[start:last], s.at) {
			s.replace(start, last, "time", "<time>")
			return true
		}
	case end-start == 8 && start-before >= s.done && end+behind <= len(s.text):
		if _, err := time.Parse(http.TimeFormat, s.text[start-before:end+behind]); err == nil && isNow(s.text[start-before:end+behind], s.at) {
			s.replace(start-before, end+behind, "time", "<time>")
			return true
		}
	}
	return false
}

// csrf masks 40 letters and digits behind a name of the token.
func (s *scanner) csrf(start, end int) bool {
	const reach = 16
	if end-start != 40 {
		return false
	}
	name := strings.ToLower(s.text[max(0, start-reach):start])
	if !strings.Contains(name, "_token") && !strings.Contains(name, "csrf") {
		return false
	}
	s.replace(start, end, "CSRF token", "<csrf token>")
	return true
}

// assets masks the hashes of built files. A word of eight letters is none.
func (s *scanner) assets(start, end int) {
	for _, m := range assetHash.FindAllStringIndex(s.text[start:end], -1) {
		found := s.text[start+m[0] : start+m[1]]
		if found[0] == '?' {
			s.replace(start+m[0], start+m[1], "asset hash", "?id=<hash>")
		} else if strings.ContainsAny(found[1:9], "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			s.replace(start+m[0], start+m[1], "asset hash", "-<hash>"+found[9:])
		}
	}
}

// parts masks what has a shape within a longer word, such as an id in a URL.
func (s *scanner) parts(start, end int) {
	for at := start; at < end; {
		length := strings.IndexAny(s.text[at:end], "/=?&:.")
		if length < 0 {
			length = end - at
		}
		if length >= 10 && (at > start || at+length < end) {
			if shape := shapeOf(s.text[at:at+length], s.at); shape != "" {
				s.replace(at, at+length, firstWord(shape), "<"+shape+">")
			}
		}
		at += length + 1
	}
}
