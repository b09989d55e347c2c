package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

func (c *comparison) htmlBody(a, b []byte) {
	p, q := parseHTML(a), parseHTML(b)
	if p.large || q.large {
		c.whole("a page of more than " + itoa(maxItems) + " tags and texts, or " + itoa(maxAttrs) + " attributes of one")
		return
	}
	c.lonely = map[lonely]int{}
	x, y := p.items, q.items
	for len(x) > 0 && len(y) > 0 && x[0].raw == y[0].raw {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1].raw == y[len(y)-1].raw {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	for _, h := range diff(c.maskedPieces(x, c.a.At), c.maskedPieces(y, c.b.At)) {
		c.hunk(&p, &q, x[h.a0:h.a1], y[h.b0:h.b1])
	}
	c.unclosed()
}

func (c *comparison) maskedPieces(all []piece, at time.Time) []uint64 {
	sums := make([]uint64, len(all))
	for i := range all {
		sums[i] = c.maskedPiece(&all[i], at)
	}
	return sums
}

// hunk compares what stands in the same place: piece by piece while they are of one sort, the rest is missing.
func (c *comparison) hunk(p, q *page, x, y []piece) {
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(x) > 0 && len(y) > 0 && x[0].kind == y[0].kind && x[0].name() == y[0].name():
			c.pieces(p.path(&x[0]), &x[0], &y[0])
			x, y = x[1:], y[1:]
		case len(x) > 0 && (len(x) >= len(y) || len(y) == 0):
			c.missing(p, &x[0], true)
			x = x[1:]
		default:
			c.missing(q, &y[0], false)
			y = y[1:]
		}
	}
}

// missing is a piece that only one page has. End tags go with their start tags; see unclosed.
func (c *comparison) missing(of *page, it *piece, first bool) {
	side := lonely{first, it.tag}
	switch it.kind {
	case html.EndTagToken:
		c.lonely[side]--
		return
	case html.StartTagToken:
		c.lonely[side]++
	}
	if text := it.show(); first {
		c.differ(Missing, of.path(it), text, "")
	} else {
		c.differ(Missing, of.path(it), "", text)
	}
}

// unclosed says which end tags are missing without their start tags.
func (c *comparison) unclosed() {
	sides := slices.SortedFunc(maps.Keys(c.lonely), func(x, y lonely) int { return cmp.Compare(x.tag, y.tag) })
	for _, side := range sides {
		end, path := "</"+side.tag+">", "html "+cut(side.tag, 40)
		switch {
		case c.lonely[side] >= 0:
		case side.first:
			c.differ(Missing, path, end, "")
		default:
			c.differ(Missing, path, "", end)
		}
	}
}

// lonely is a tag that only one of two pages has.
type lonely struct {
	first bool
	tag   string
}

// show is a piece in short. Values that are tokens are left out.
func (it *piece) show() string {
	switch it.kind {
	case html.TextToken:
		return it.text
	case html.CommentToken:
		return "<!--" + it.text + "-->"
	case html.DoctypeToken:
		return "<!DOCTYPE " + it.text + ">"
	}
	var s strings.Builder
	s.WriteString("<" + it.tag)
	for _, a := range it.attrs {
		if value := a.Val; it.attrMask(a.Key) != "" || it.secret() && a.Key == "value" {
			s.WriteString(" " + a.Key)
		} else {
			s.WriteString(" " + a.Key + `="` + value + `"`)
		}
		if s.Len() > 2*maxSample {
			break
		}
	}
	return s.String() + ">"
}

// secret says whether an input holds what must not be kept.
func (it *piece) secret() bool {
	return it.tag == "input" && (it.attr("type") == "password" || isSecret(it.attr("name")))
}

func (c *comparison) pieces(path string, a, b *piece) {
	if a.raw == b.raw {
		return
	}
	if a.text != b.text {
		c.pieceText(path, a, b)
	}
	x, y := a.attrs, b.attrs
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].Key < y[0].Key:
			c.differ(Missing, path+"@"+cut(x[0].Key, 60), shown(x[0].Val), "")
			x = x[1:]
		case len(x) == 0 || y[0].Key < x[0].Key:
			c.differ(Missing, path+"@"+cut(y[0].Key, 60), "", shown(y[0].Val))
			y = y[1:]
		default:
			c.attribute(path, a, b, x[0].Key, x[0].Val, y[0].Val)
			x, y = x[1:], y[1:]
		}
	}
}

// shown tells an attribute without a value from none.
func shown(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

// pieceText compares texts; a script that is JSON is compared as that.
func (c *comparison) pieceText(path string, a, b *piece) {
	if a.kind == html.TextToken && a.tag == "script" && (strings.HasPrefix(a.text, "{") || strings.HasPrefix(a.text, "[")) {
		if c.json(path+": ", a.text, b.text, inertia) == nil {
			return
		}
	}
	x, y := c.masked(a.text, c.a), c.masked(b.text, c.b)
	c.lines(path, &x, &y)
}

func (c *comparison) attribute(path string, a, b *piece, name, x, y string) {
	if x == y {
		return
	}
	path += "@" + cut(name, 60)
	if beside, ok := document(name); ok && c.json(path+": ", x, y, beside) == nil {
		return
	}
	if mask := a.attrMask(name); mask != "" && mask == b.attrMask(name) {
		c.mask(mask, path)
		return
	}
	var by []string
	left := c.masks.maskValue(x, c.a.At, func(mask string) { by = append(by, mask) })
	right := c.masks.maskValue(y, c.b.At, func(string) {})
	switch {
	case left == right:
		for _, mask := range by[:min(len(by), 20)] {
			c.mask(mask, path)
		}
	case a.secret() || b.secret():
		c.differ(Value, path, c.masks.hash(x), c.masks.hash(y))
	default:
		c.differ(Value, path, x, y)
	}
}
