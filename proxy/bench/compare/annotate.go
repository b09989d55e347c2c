package compare

import (
	"encoding/binary"
	"hash/maphash"
	"time"
)

// annotator hides what may differ in a document, and hashes what is left.
type annotator struct {
	masks *Masks
	at    time.Time
}

// annotate prepares two documents for comparison. What is equal in both needs no masks and is left as it is.
func annotate(a, b *node, x, y annotator, hide, loose walk) {
	switch {
	case a.raw == b.raw:
		return
	case a.kind == isObject && b.kind == isObject:
		annotateObjects(a, b, x, y, hide, loose)
	case a.kind == isArray && b.kind == isArray:
		annotateArrays(a, b, x, y, hide, loose)
	default:
		a.annotate(x, hide, loose)
		b.annotate(y, hide, loose)
		return
	}
	a.conclude(x, hide, loose)
	b.conclude(y, hide, loose)
}

func annotateObjects(a, b *node, x, y annotator, hide, loose walk) {
	i, j := 0, 0
	for i < len(a.kids) || j < len(b.kids) {
		switch {
		case j == len(b.kids) || i < len(a.kids) && a.kids[i].key < b.kids[j].key:
			a.kids[i].annotate(x, hide.step(a.kids[i].key), loose.step(a.kids[i].key))
			i++
		case i == len(a.kids) || b.kids[j].key < a.kids[i].key:
			b.kids[j].annotate(y, hide.step(b.kids[j].key), loose.step(b.kids[j].key))
			j++
		default:
			key := a.kids[i].key
			annotate(&a.kids[i], &b.kids[j], x, y, hide.step(key), loose.step(key))
			i, j = i+1, j+1
		}
	}
}

// annotateArrays leaves out the items that are equal at both ends. All of the others, with all that is in them, may have
// to be held against each other.
func annotateArrays(a, b *node, x, y annotator, hide, loose walk) {
	hide, loose = hide.step(item), loose.step(item)
	left, right := a.kids, b.kids
	for len(left) > 0 && len(right) > 0 && left[0].raw == right[0].raw {
		left, right = left[1:], right[1:]
	}
	for len(left) > 0 && len(right) > 0 && left[len(left)-1].raw == right[len(right)-1].raw {
		left, right = left[:len(left)-1], right[:len(right)-1]
	}
	for i := range left {
		left[i].annotate(x, hide, loose)
	}
	for i := range right {
		right[i].annotate(y, hide, loose)
	}
}

func (n *node) annotate(by annotator, hide, loose walk) {
	for i := range n.kids {
		step := item
		if n.kind == isObject {
			step = n.kids[i].key
		}
		n.kids[i].annotate(by, hide.step(step), loose.step(step))
	}
	n.conclude(by, hide, loose)
}

// conclude hashes a value whose parts are done.
func (n *node) conclude(by annotator, hide, loose walk) {
	if pattern := hide.ends(); pattern != "" {
		n.mask = "path " + pattern
	}
	switch {
	case n.mask != "":
		n.masked = maphash.String(seed, "\x00"+n.mask)
	case n.kind == isArray || n.kind == isObject:
		n.masked = n.hash(true, n.kind == isArray && loose.ends() != "")
	default:
		n.hide(by)
	}
}

// hide masks a scalar for its key, its shape, or what is in it.
func (n *node) hide(by annotator) {
	to := ""
	switch {
	case n.kind == isNumber && isMeasure(n.key):
		n.mask = "measure"
	case isToken(n.key) && n.kind == isString:
		n.mask = "CSRF token"
	case n.kind != isString && n.kind != isNumber:
		return
	default:
		if shape := shapeOf(n.text, by.at); shape != "" {
			n.mask, to = firstWord(shape), shape
		} else if n.kind == isString && len(n.text) >= 10 || len(by.masks.regexps) > 0 {
			to = by.masks.maskText(n.text, by.at, func(mask string) { n.mask = mask })
		}
	}
	if n.mask != "" {
		n.masked = maphash.String(seed, "\x00"+n.mask+"\x00"+to)
	}
}

// hash is that of the value; masked takes the hashes of what is in it without what may differ.
func (n *node) hash(masked, unordered bool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteByte(byte(n.kind))
	h.WriteString(n.text)
	sum := uint64(0)
	for i := range n.kids {
		kid := &n.kids[i]
		of := kid.raw
		if masked {
			of = kid.masked
		}
		if unordered {
			sum += of * 0x9e3779b97f4a7c15
			continue
		}
		h.WriteString(kid.key)
		var number [9]byte // the ninth ends the key
		binary.LittleEndian.PutUint64(number[1:], of)
		h.Write(number[:])
	}
	if unordered {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], sum)
		h.Write(number[:])
	}
	return h.Sum64()
}
