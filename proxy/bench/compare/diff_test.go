package compare

import (
	"slices"
	"testing"
)

func letters(s string) (all []uint64) {
	for _, c := range s {
		all = append(all, uint64(c))
	}
	return all
}

func TestDiffFindsTheFewestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		edits int
	}{{"abcabba", "cbabac", 5}, {"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"ac", "abc", 1}, {"axc", "abc", 2}, {"xabc", "abcy", 2}} {
		edits := 0
		a, b := letters(c.a), letters(c.b)
		for _, h := range diff(a, b) {
			if !slices.Equal(a[h.a0:h.a1], b[h.b0:h.b1]) {
				edits += h.a1 - h.a0 + h.b1 - h.b0
			}
		}
		if edits != c.edits {
			t.Errorf("%s, %s: %d edits in %v, want %d", c.a, c.b, edits, diff(a, b), c.edits)
		}
	}
}
