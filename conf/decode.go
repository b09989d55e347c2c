package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// decoder fills structs from the tree of one file and reports every value that does not fit.
type decoder struct {
	src    *source
	faults *faults
	whole  bool // as in file
	http   bool // the table is of an upstream that speaks HTTP
}

func (d *decoder) fail(n *node, path, format string, args ...any) {
	n.bad = true
	d.faults.add(n.src, n.at, path, format, args...)
}

// table decodes n, which may be nil, into the struct v: first the defaults, then what is written.
func (d *decoder) table(v reflect.Value, n *node, path string) {
	d.fields(v, n, path)
	if n == nil {
		return
	}
	rest := restOf(v)
	for _, k := range n.keys {
		if slices.Contains(names(v.Type()), k.name) {
			continue
		}
		switch {
		case !rest.IsValid():
			d.unknown(k, n, path, v.Type())
		case rest.Type() == reflect.TypeFor[[]Weight]():
			d.weight(rest, k, n, path)
		default:
			d.option(rest, k, n, path)
		}
	}
}

// restOf returns the field that takes all keys without a field of their own.
func restOf(v reflect.Value) reflect.Value {
	for _, f := range fieldsOf(v.Type()) {
		if f.name == "*" {
			return v.Field(f.at)
		}
	}
	return reflect.Value{}
}

func (d *decoder) fields(v reflect.Value, n *node, path string) {
	for _, f := range fieldsOf(v.Type()) {
		target := v.Field(f.at)
		switch {
		case f.isInline:
			d.fields(target, n, path)
		case f.name == "*":
		default:
			d.setDefault(target, f)
			d.field(target, f, n, path)
		}
	}
}

func (d *decoder) field(target reflect.Value, f field, parent *node, path string) {
	full := join(path, f.name)
	n := parent.get(f.name)
	switch {
	case n != nil:
		d.value(target, f, n, full)
	case f.required && parent != nil && d.whole:
		d.faults.add(parent.src, parent.at, full, "missing; want %s", wanted(target.Type(), f))
	case isTable(target.Type()):
		d.table(target, nil, full)
	}
}

func (d *decoder) setDefault(target reflect.Value, f field) {
	def := f.def
	if d.http {
		def = f.httpDef
	}
	if def == "" {
		return
	}
	if target.Kind() != reflect.Slice {
		target.Set(d.fromTag(target.Type(), f, def))
		return
	}
	for word := range strings.FieldsSeq(def) {
		target.Set(reflect.Append(target, d.fromTag(target.Type().Elem(), f, word)))
	}
}

// fromTag reads a value out of a struct tag. A tag that cannot be read is a mistake in this package.
func (d *decoder) fromTag(t reflect.Type, f field, text string) reflect.Value {
	n := &node{kind: naturalKind(t, f), src: d.src, text: text}
	v := reflect.New(t).Elem()
	if err := scalar(v, f, n); err != nil {
		panic(fmt.Sprintf("conf: tag of %s: %q: %s", f.name, text, err))
	}
	return v
}

func (d *decoder) value(v reflect.Value, f field, n *node, path string) {
	if n.bad {
		return
	}
	t := v.Type()
	switch {
	case t == reflect.TypeFor[[]Param]():
		d.params(v, n, path)
	case t == reflect.TypeFor[[]Header]():
		d.headers(v, n, path)
	case t == reflect.TypeFor[[]User]():
		d.users(v, n, path)
	case t.Kind() == reflect.Map:
		d.named(v, n, path)
	case t.Kind() == reflect.Slice:
		d.list(v, f, n, path)
	case isTable(t):
		if d.is(tableKind, n, path, "a table") {
			d.table(v, n, path)
		}
	default:
		d.scalar(v, f, n, path)
	}
}

// is reports a value of another kind and tells whether it is the right one.
func (d *decoder) is(want kind, n *node, path, words string) bool {
	if n.kind != want {
		d.fail(n, path, "got %s; want %s", n.kind, words)
	}
	return n.kind == want
}

func (d *decoder) list(v reflect.Value, f field, n *node, path string) {
	if n.kind == stringKind && naturalKind(v.Type().Elem(), f) == stringKind {
		d.fail(n, path, "got a string; want a list: put it in brackets, [%s]", shown(f, n.text))
		return
	}
	if !d.is(arrayKind, n, path, wanted(v.Type(), f)) {
		return
	}
	all := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	f.required = true // an empty string is no element
	for i, item := range n.items {
		d.value(all.Index(i), f, item, index(path, i))
	}
	v.Set(all)
}

// named decodes a table of tables, each under a name that the user chose.
func (d *decoder) named(v reflect.Value, n *node, path string) {
	if !d.is(tableKind, n, path, "tables, each headed [upstream.NAME]") {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, k := range n.keys {
		child := n.get(k.name)
		if strings.ContainsFunc(k.name, notBare) || k.name == "" || slices.Contains(names(reflect.TypeFor[Split]()), k.name) {
			d.faults.add(n.src, k.at, join(path, k.name),
				"want a name of letters, digits, - and _ that is no key of a split: %s", oneOf(names(reflect.TypeFor[Split]())))
		}
		if !d.is(tableKind, child, join(path, k.name), "a table, headed [upstream.NAME]") {
			continue
		}
		one := reflect.New(v.Type().Elem()).Elem()
		one.FieldByName("Name").SetString(k.name)
		inner := *d
		inner.http = child.has("http") && !child.has("fastcgi")
		inner.table(one, child, join(path, k.name))
		v.SetMapIndex(reflect.ValueOf(k.name), one)
	}
}

func (d *decoder) unknown(k key, n *node, path string, t reflect.Type) {
	known := names(t)
	hint := meant(k.name, known)
	if hint == "" {
		if far := elsewhere(k.name); far != "" {
			hint = "; did you mean " + far + "?"
		} else {
			hint = "; known here: " + strings.Join(known, ", ")
		}
	}
	d.faults.add(n.src, k.at, join(path, k.name), "unknown key%s", hint)
}
