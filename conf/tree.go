package conf

import (
	"strconv"
	"strings"
)

// kind is the type of a value as it is written.
type kind int

const (
	tableKind kind = iota
	arrayKind
	stringKind
	integerKind
	floatKind
	boolKind
	dateKind
)

func (k kind) String() string {
	return [...]string{"a table", "a list", "a string", "a whole number", "a number", "true or false", "a date"}[k]
}

// node is a value in a file, with its place.
type node struct {
	kind kind
	src  *source
	// at is the offset of the value, or of the header for a table that has one.
	at int
	// text is the content of a string, else the value as written.
	text string

	keys   []key
	fields map[string]*node
	items  []*node

	// closed says that no later line may add to the value: it is an inline table or an array
	// of values. headed says that a [header] has opened the table.
	closed, headed bool
	// bad says that a fault of the value is reported already, so that no other follows from it.
	bad bool
}

// key is the name of a field and the offset at which it is first written.
type key struct {
	name string
	at   int
}

func newTable(src *source, at int) *node {
	return &node{kind: tableKind, src: src, at: at, fields: map[string]*node{}}
}

// has tells whether the table has the field. A nil node has none.
func (n *node) has(name string) bool { return n.get(name) != nil }

func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	return n.fields[name]
}

// good returns the field if it is written and no fault of it is known, else nil.
func (n *node) good(name string) *node {
	if field := n.get(name); field != nil && !field.bad {
		return field
	}
	return nil
}

func (n *node) put(k key, value *node) {
	n.keys = append(n.keys, k)
	n.fields[k.name] = value
}

// keyAt is the offset at which the field's key is written; the table's own when there is none.
func (n *node) keyAt(name string) int {
	for _, k := range n.keys {
		if k.name == name {
			return k.at
		}
	}
	return n.at
}

// join appends a key to a path, quoted when it is not a bare one.
func join(path, name string) string {
	if name == "" || strings.ContainsFunc(name, notBare) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func notBare(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
