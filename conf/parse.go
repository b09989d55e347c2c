package conf

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parser builds the tree of one file, keeping the place of every key and value. It goes on after
// a key that is defined twice; at a syntax error it stops with what it has.
type parser struct {
	src    *source
	toml   unstable.Parser
	root   *node
	table  *node  // the table that the current lines add to; nil when its header was refused
	path   string // the path of table
	faults *faults
}

// parse returns the tree of src and whether that is all of it.
func parse(src *source, f *faults) (root *node, whole bool) {
	before := len(f.list)
	p := &parser{src: src, root: newTable(src, 0), faults: f}
	p.table = p.root
	p.toml.Reset(src.data)
	for p.toml.NextExpression() {
		p.expression(p.toml.Expression())
	}
	if err := p.toml.Error(); err != nil {
		p.stopped(err)
	} else if len(f.list) == before {
		p.recheck()
	}
	return p.root, p.toml.Error() == nil
}

// stopped reports the syntax error that ended the parsing.
func (p *parser) stopped(err error) {
	at := len(p.src.data)
	var fault *unstable.ParserError
	if errors.As(err, &fault) {
		at = int(p.toml.Range(fault.Highlight).Offset)
	}
	p.fail(at, "", "not TOML: %s", err)
}

// recheck decodes the document once more, because the syntax tree leaves dates, the form of numbers and the
// finer rules of redefinition unchecked.
func (p *parser) recheck() {
	var all map[string]any
	err := toml.Unmarshal(p.src.data, &all)
	if err == nil {
		return
	}
	at := 0
	var fault *toml.DecodeError
	if errors.As(err, &fault) {
		at = p.src.offset(fault.Position())
	}
	p.fail(at, "", "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
}

func (p *parser) fail(at int, path, format string, args ...any) {
	p.faults.add(p.src, at, path, format, args...)
}

func (p *parser) expression(e *unstable.Node) {
	switch e.Kind {
	case unstable.Table:
		p.header(keysOf(e), p.openTable)
	case unstable.ArrayTable:
		p.header(keysOf(e), p.openElement)
	case unstable.KeyValue:
		if p.table != nil {
			p.assign(p.table, p.path, e)
		}
	}
}

// header walks to the table that the last of keys belongs to and opens that one in it.
func (p *parser) header(keys []key, open func(parent *node, path string, k key)) {
	parent, path := p.root, ""
	for _, k := range keys[:len(keys)-1] {
		if parent, path = p.descend(parent, path, k); parent == nil {
			p.table = nil
			return
		}
	}
	p.table = nil
	open(parent, path, keys[len(keys)-1])
}

// descend returns the table called k in parent, made if need be: for an array of tables, its last.
func (p *parser) descend(parent *node, path string, k key) (*node, string) {
	full := join(path, k.name)
	child := parent.get(k.name)
	if child == nil {
		child = newTable(p.src, k.at)
		parent.put(k, child)
	}
	if child.kind == arrayKind && !child.closed {
		return child.items[len(child.items)-1], index(full, len(child.items)-1)
	}
	if child.kind != tableKind || child.closed {
		p.twice(full, k, parent)
		return nil, ""
	}
	return child, full
}

func (p *parser) openTable(parent *node, path string, k key) {
	full := join(path, k.name)
	child := parent.get(k.name)
	switch {
	case child == nil:
		child = newTable(p.src, k.at)
		parent.put(k, child)
	case child.kind != tableKind || child.closed || child.headed:
		p.twice(full, k, parent)
		return
	}
	child.headed, child.at = true, k.at
	p.table, p.path = child, full
}

func (p *parser) openElement(parent *node, path string, k key) {
	full := join(path, k.name)
	list := parent.get(k.name)
	switch {
	case list == nil:
		list = &node{kind: arrayKind, src: p.src, at: k.at}
		parent.put(k, list)
	case list.kind != arrayKind || list.closed:
		p.twice(full, k, parent)
		return
	}
	element := newTable(p.src, k.at)
	element.headed = true
	list.items = append(list.items, element)
	p.table, p.path = element, index(full, len(list.items)-1)
}

// assign puts the value of the line e into table, whose path is given.
func (p *parser) assign(table *node, path string, e *unstable.Node) {
	keys := keysOf(e)
	for _, k := range keys[:len(keys)-1] {
		if table, path = p.descend(table, path, k); table == nil {
			return
		}
		table.headed = true // [header] must not open what a dotted key has
	}
	last := keys[len(keys)-1]
	if table.has(last.name) {
		p.twice(join(path, last.name), last, table)
		return
	}
	value, _ := p.value(e.Value(), p.valueAt(e), join(path, last.name))
	table.put(last, value)
}

func (p *parser) twice(path string, k key, parent *node) {
	line, _ := p.src.place(parent.keyAt(k.name))
	p.fail(k.at, path, "defined twice; the first is in line %d", line)
}

// valueAt is the offset of the value of a key = value pair: the first byte after the equals sign.
func (p *parser) valueAt(e *unstable.Node) int {
	at := 0
	for it := e.Key(); it.Next(); {
		raw := it.Node().Raw
		at = int(raw.Offset + raw.Length)
	}
	return p.src.skipSpace(p.src.skipSpace(at) + 1)
}

// value returns the value at the offset and the offset behind it. The parser gives no place for lists
// and only the start of inline tables, hence the walk.
func (p *parser) value(v *unstable.Node, at int, path string) (*node, int) {
	switch v.Kind {
	case unstable.Array:
		return p.list(v, at, path)
	case unstable.InlineTable:
		return p.inline(v, at, path)
	}
	n := &node{kind: kindOf(v.Kind), src: p.src, at: at, text: string(v.Data), closed: true}
	if n.kind == stringKind {
		p.expand(n, path)
	}
	return n, at + int(v.Raw.Length)
}

func (p *parser) expand(n *node, path string) {
	text, err := expand(n.text)
	if err != nil {
		n.bad = true
		p.fail(n.at, path, "%s", err)
		return
	}
	n.text = text
}

func (p *parser) list(v *unstable.Node, at int, path string) (*node, int) {
	n := &node{kind: arrayKind, src: p.src, at: at, closed: true}
	end := at + 1
	for it := v.Children(); it.Next(); {
		var item *node
		item, end = p.value(it.Node(), p.src.skipBetween(end), index(path, len(n.items)))
		n.items = append(n.items, item)
	}
	return n, p.src.skipBetween(end) + 1
}

func (p *parser) inline(v *unstable.Node, at int, path string) (*node, int) {
	n := newTable(p.src, at)
	end := at + 1
	for it := v.Children(); it.Next(); {
		raw := it.Node().Raw
		p.assign(n, path, it.Node())
		end = int(raw.Offset + raw.Length)
	}
	closeAll(n)
	return n, p.src.skipBetween(end) + 1
}

// closeAll forbids later lines to add to the table or to those that its dotted keys made.
func closeAll(n *node) {
	n.closed = true
	for _, child := range n.fields {
		if !child.closed {
			closeAll(child)
		}
	}
}

func keysOf(e *unstable.Node) []key {
	var keys []key
	for it := e.Key(); it.Next(); {
		keys = append(keys, key{string(it.Node().Data), int(it.Node().Raw.Offset)})
	}
	return keys
}

func kindOf(k unstable.Kind) kind {
	switch k {
	case unstable.String:
		return stringKind
	case unstable.Integer:
		return integerKind
	case unstable.Float:
		return floatKind
	case unstable.Bool:
		return boolKind
	}
	return dateKind
}
