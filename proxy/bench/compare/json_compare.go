package compare

import (
	"errors"
	"slices"
	"strings"
)

func (c *comparison) jsonBody(a, b []byte) {
	err := c.json("", string(a), string(b), nil)
	switch {
	case errors.Is(err, errTooLarge):
		c.whole(err.Error())
	case err != nil:
		c.text("text", string(a), string(b))
	}
}

// json compares two documents; prefix stands before each path. beside are patterns for this one place. It fails when both
// are no JSON, or larger than is compared.
func (c *comparison) json(prefix, textA, textB string, beside []pattern) error {
	a, errA := parseJSON([]byte(textA))
	b, errB := parseJSON([]byte(textB))
	switch {
	case errors.Is(errA, errTooLarge), errors.Is(errB, errTooLarge):
		return errTooLarge
	case errA != nil && errB != nil:
		return errA
	case errA != nil:
		c.differ(ItemType, where(prefix), "no JSON", "JSON")
		return nil
	case errB != nil:
		c.differ(ItemType, where(prefix), "JSON", "no JSON")
		return nil
	}
	hide := start(slices.Concat(c.masks.paths, beside))
	loose := slices.Concat(c.masks.unordered, c.unordered)
	annotate(&a, &b, annotator{c.masks, c.a.At}, annotator{c.masks, c.b.At}, hide, start(loose))
	c.nodes(prefix, &a, &b, start(loose))
	return nil
}

// where names the root of a document.
func where(prefix string) string {
	if prefix = strings.TrimSuffix(prefix, ": "); prefix == "" {
		return "body"
	}
	return prefix
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

func (c *comparison) nodes(path string, a, b *node, loose walk) {
	switch {
	case a.raw == b.raw:
	case a.masked == b.masked && a.mask != "":
		c.mask(a.mask, where(path))
	case a.kind != b.kind:
		c.differ(ItemType, where(path), a.kind.String()+": "+a.show(), b.kind.String()+": "+b.show())
	case a.kind == isObject:
		c.objects(path, a.kids, b.kids, loose)
	case a.kind == isArray:
		c.arrays(path, a, b, loose)
	default:
		c.differ(Value, where(path), a.show(), b.show())
	}
}

// show is a value in short.
func (n *node) show() string {
	switch n.kind {
	case isArray:
		return itoa(len(n.kids)) + " items"
	case isObject:
		var keys []string
		for _, kid := range n.kids[:min(len(n.kids), 10)] {
			keys = append(keys, kid.key)
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return n.text
}

// objects walks the keys of both in their order.
func (c *comparison) objects(path string, a, b []node, loose walk) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].key < b[0].key:
			c.lone(join(path, a[0].key), &a[0], nil)
			a = a[1:]
		case len(a) == 0 || b[0].key < a[0].key:
			c.lone(join(path, b[0].key), nil, &b[0])
			b = b[1:]
		default:
			c.nodes(join(path, a[0].key), &a[0], &b[0], loose.step(a[0].key))
			a, b = a[1:], b[1:]
		}
	}
}

// lone is a value that one side lacks. The operator's masks hide that as well, those by shape do not.
func (c *comparison) lone(path string, a, b *node) {
	textA, textB := "", ""
	one := a
	if a != nil {
		textA = a.show()
	} else {
		one, textB = b, b.show()
	}
	if strings.HasPrefix(one.mask, "path ") {
		c.mask(one.mask, path)
		return
	}
	if textA == "" && textB == "" {
		textA, textB = quoteEmpty(a), quoteEmpty(b)
	}
	c.differ(Missing, path, textA, textB)
}

// quoteEmpty tells an empty value from none.
func quoteEmpty(n *node) string {
	if n == nil {
		return ""
	}
	return `""`
}

func (c *comparison) arrays(path string, a, b *node, loose walk) {
	inside := path + item
	below := loose.step(item)
	if loose.ends() != "" {
		c.sets(path, a, b, below)
		return
	}
	if len(a.kids) == len(b.kids) && permuted(a.kids, b.kids) {
		c.differ(Order, where(path), a.show(), b.show()+" in another order")
		return
	}
	if len(a.kids) == len(b.kids) {
		for i := range a.kids {
			c.nodes(inside, &a.kids[i], &b.kids[i], below)
		}
		return
	}
	c.aligned(inside, a.kids, b.kids, below)
}

// aligned compares arrays of unequal lengths by what they have in common.
func (c *comparison) aligned(inside string, a, b []node, below walk) {
	for _, h := range diff(maskedOf(a), maskedOf(b)) {
		for i := range max(h.a1-h.a0, h.b1-h.b0) {
			x, y := h.a0+i, h.b0+i
			switch {
			case x >= h.a1:
				c.lone(inside, nil, &b[y])
			case y >= h.b1:
				c.lone(inside, &a[x], nil)
			default:
				c.nodes(inside, &a[x], &b[y], below)
			}
		}
	}
}

func maskedOf(nodes []node) []uint64 {
	all := make([]uint64, len(nodes))
	for i := range nodes {
		all[i] = nodes[i].masked
	}
	return all
}

// permuted says whether both hold the same in another order.
func permuted(a, b []node) bool {
	x, y := maskedOf(a), maskedOf(b)
	if slices.Equal(x, y) {
		return false
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// sets compares arrays whose order does not matter.
func (c *comparison) sets(path string, a, b *node, below walk) {
	inside := path + item
	places := map[uint64][]int{} // of what is in b and has no partner yet
	for i := len(b.kids) - 1; i >= 0; i-- {
		places[b.kids[i].masked] = append(places[b.kids[i].masked], i)
	}
	before := c.hidden
	taken := make([]bool, len(b.kids))
	var alone []*node
	for i := range a.kids {
		kid := &a.kids[i]
		left := places[kid.masked]
		if len(left) == 0 {
			alone = append(alone, kid)
			continue
		}
		last := len(left) - 1
		taken[left[last]], places[kid.masked] = true, left[:last]
		c.nodes(inside, kid, &b.kids[left[last]], below)
	}
	for i := range b.kids {
		switch {
		case taken[i]:
		case len(alone) > 0:
			c.nodes(inside, alone[0], &b.kids[i], below)
			alone = alone[1:]
		default:
			c.lone(inside, nil, &b.kids[i])
		}
	}
	for _, kid := range alone {
		c.lone(inside, kid, nil)
	}
	if c.hidden == before && permuted(a.kids, b.kids) {
		c.mask("order", where(path))
	}
}
