package compare

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	maxItems = 50_000 // tags and texts of a page
	maxAttrs = 100    // of a tag
)

// page is a document as a row of tags and texts. No tree is built: browsers mend trees, and what they mend is to be seen.
type page struct {
	items []piece
	large bool // more than is compared
}

// piece is a tag, or a text between two.
type piece struct {
	kind   html.TokenType
	tag    string // name of a tag; of a text, that of the tag around it
	attrs  []html.Attribute
	text   string
	parent int32 // the tag around it, -1 for none
	raw    uint64
}

// parseHTML takes a page apart. White space counts as one blank, except where it is shown.
func parseHTML(body []byte) page {
	var p page
	z := html.NewTokenizer(bytes.NewReader(body))
	open := []int32{-1}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return p // the end; the tokenizer takes anything
		}
		if len(p.items) >= maxItems {
			p.large = true
			return p
		}
		around := open[len(open)-1]
		it := piece{kind: kind, parent: around}
		switch kind {
		case html.TextToken:
			it.readText(z, p.items)
			if it.text == "" {
				continue
			}
		case html.CommentToken, html.DoctypeToken:
			it.text = fold(string(z.Text()))
		default:
			p.large = p.large || !it.readTag(z)
			open = p.nest(open, &it)
		}
		it.raw = it.sum()
		p.items = append(p.items, it)
	}
}

func (it *piece) readText(z *html.Tokenizer, items []piece) {
	if it.parent >= 0 {
		it.tag = items[it.parent].tag
	}
	it.text = string(z.Text())
	if it.tag != "pre" && it.tag != "textarea" {
		it.text = fold(it.text)
	}
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// readTag says whether it has read all attributes.
func (it *piece) readTag(z *html.Tokenizer) bool {
	name, more := z.TagName()
	it.tag = string(name)
	for more && len(it.attrs) < maxAttrs {
		var key, value []byte
		key, value, more = z.TagAttr()
		it.attrs = append(it.attrs, html.Attribute{Key: string(key), Val: string(value)})
	}
	slices.SortStableFunc(it.attrs, func(a, b html.Attribute) int { return cmp.Compare(a.Key, b.Key) })
	return !more
}

var voids = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true,
}

// nest keeps the row of open tags, so that a path can be told. An end tag closes what it names, if that is open.
func (p *page) nest(open []int32, it *piece) []int32 {
	switch {
	case it.kind == html.StartTagToken && !voids[it.tag] && len(open) < maxDepth:
		return append(open, int32(len(p.items)))
	case it.kind == html.EndTagToken:
		for i := len(open) - 1; i > 0; i-- {
			if p.items[open[i]].tag == it.tag {
				it.parent = open[i-1]
				return open[:i]
			}
		}
	}
	return open
}

// name is that of a tag; a text has none, since it is the same text in another tag.
func (it *piece) name() string {
	if it.kind == html.TextToken {
		return ""
	}
	return it.tag
}

func (it *piece) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteByte(byte(it.kind))
	h.WriteString(it.name())
	h.WriteByte(0)
	h.WriteString(it.text)
	for _, attr := range it.attrs {
		h.WriteByte(0)
		h.WriteString(attr.Key)
		h.WriteByte(1)
		h.WriteString(attr.Val)
	}
	return h.Sum64()
}

const maxPathTags = 8

// path names the tags around a piece, the innermost ones when there are many.
func (p *page) path(it *piece) string {
	var names []string
	if it.kind == html.StartTagToken || it.kind == html.EndTagToken || it.kind == html.SelfClosingTagToken {
		names = append(names, it.tag)
	}
	for at := it.parent; at >= 0 && len(names) < maxPathTags; at = p.items[at].parent {
		names = append(names, p.items[at].tag)
	}
	for i := range names {
		names[i] = cut(names[i], 40)
	}
	slices.Reverse(names)
	return strings.TrimSuffix("html "+strings.Join(names, "/"), " ")
}

// attr returns the value of an attribute.
func (it *piece) attr(name string) string {
	for _, a := range it.attrs {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// attrMask names the mask of an attribute as a whole, or is "".
func (it *piece) attrMask(name string) string {
	switch {
	case name == "nonce":
		return "nonce"
	case it.tag == "input" && name == "value" && isToken(it.attr("name")):
		return "CSRF token"
	case it.tag == "meta" && name == "content" && isToken(it.attr("name")):
		return "CSRF token"
	case name == "data-csrf", name == "data-csrf-token":
		return "CSRF token"
	case name == "wire:id":
		return "Livewire id"
	case name == "integrity":
		return "asset hash"
	}
	return ""
}

// Places in the documents that Livewire and Inertia put into attributes.
var (
	livewire = patterns([]string{"checksum", "memo.id", "serverMemo.checksum", "serverMemo.htmlHash", "fingerprint.id"})
	inertia  = patterns([]string{"version"})
)

// document says whether an attribute holds JSON, and what in it may differ.
func document(name string) (beside []pattern, ok bool) {
	switch name {
	case "wire:snapshot", "wire:initial-data", "wire:effects":
		return livewire, true
	case "data-page":
		return inertia, true
	}
	return nil, false
}

// maskedPiece is a piece without what may differ, for alignment.
func (c *comparison) maskedPiece(it *piece, at time.Time) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteByte(byte(it.kind))
	h.WriteString(it.name())
	h.WriteByte(0)
	h.WriteString(c.masks.maskText(it.text, at, func(string) {}))
	for _, attr := range it.attrs {
		value := it.attrMask(attr.Key)
		if _, ok := document(attr.Key); value == "" && !ok {
			value = c.masks.maskValue(attr.Val, at, func(string) {})
		}
		h.WriteByte(0)
		h.WriteString(attr.Key)
		h.WriteByte(1)
		h.WriteString(value)
	}
	return h.Sum64()
}

// maskValue masks a value as a whole by its shape, else what is in it.
func (m *Masks) maskValue(value string, at time.Time, seen func(string)) string {
	if shape := shapeOf(value, at); shape != "" {
		seen(firstWord(shape))
		return "<" + shape + ">"
	}
	return m.maskText(value, at, seen)
}
