package compare

import (
	"hash/maphash"
	"strings"
)

const maxLines = 50_000

// text compares line by line.
func (c *comparison) text(path, a, b string) {
	if strings.Count(a, "\n") > maxLines || strings.Count(b, "\n") > maxLines {
		c.whole("too many lines")
		return
	}
	x, y := trimSame(lines(a), lines(b))
	maskedX, maskedY := c.maskedLines(x, c.a), c.maskedLines(y, c.b)
	for _, h := range diff(hashes(maskedX), hashes(maskedY)) {
		for i := range max(h.a1-h.a0, h.b1-h.b0) {
			var left, right *line
			if h.a0+i < h.a1 {
				left = &maskedX[h.a0+i]
			}
			if h.b0+i < h.b1 {
				right = &maskedY[h.b0+i]
			}
			c.lines(path, left, right)
		}
	}
}

func lines(text string) []string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t\r")
	}
	return all
}

// trimSame takes away what both begin and end with: the rest is what takes work.
func trimSame(a, b []string) ([]string, []string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// line is one with what was masked in it.
type line struct {
	text, masked string
	by           []string
}

func (c *comparison) maskedLines(all []string, of *Answer) []line {
	masked := make([]line, len(all))
	for i, text := range all {
		masked[i] = c.masked(text, of)
	}
	return masked
}

func (c *comparison) masked(text string, of *Answer) line {
	l := line{text: text}
	l.masked = c.masks.maskText(text, of.At, func(mask string) {
		if len(l.by) < 20 {
			l.by = append(l.by, mask)
		}
	})
	return l
}

func hashes(all []line) []uint64 {
	sums := make([]uint64, len(all))
	for i := range all {
		sums[i] = maphash.String(seed, all[i].masked)
	}
	return sums
}

// lines compares two of them, or says that one is missing.
func (c *comparison) lines(path string, a, b *line) {
	switch {
	case a == nil:
		c.differ(Missing, path, "", orEmpty(b.text))
	case b == nil:
		c.differ(Missing, path, orEmpty(a.text), "")
	case a.masked != b.masked:
		from := commonStart(a.text, b.text)
		c.differ(Value, path, a.text[from:], b.text[from:])
	case a.text != b.text:
		for _, mask := range a.by {
			c.mask(mask, path)
		}
	}
}

func orEmpty(text string) string {
	if text == "" {
		return "(an empty line)"
	}
	return text
}

// commonStart is where long texts are cut so that the difference is in what is kept.
func commonStart(a, b string) int {
	if len(a) <= maxSample && len(b) <= maxSample {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	n = max(0, n-40)
	// Not within a word: a secret is recognised by its start.
	return strings.LastIndexAny(a[:n], " \t,;<>") + 1
}
