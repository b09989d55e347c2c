package conf

import (
	"reflect"
	"strings"
)

// field is one key, as the tags of its struct field describe it:
//
//	toml:"NAME,FORM"  the key and, for strings, an entry of forms; NAME "*" takes all other keys
//	default:"..."     the value of a key that is left out, as it is written in a file
//	http:"..."        the same where it differs in an upstream that speaks HTTP
//	min, max          the range of a number, size or duration
//	oneof:"a b"       the choices
//	required:"true"   there is no default
type field struct {
	name, form         string
	def, httpDef       string
	min, max           string
	oneof              []string
	required, isInline bool
	at                 int
}

// fieldsOf returns the keys of a table that decodes into t, in the order of declaration.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, form, tagged := strings.Cut(tag.Get("toml"), ",")
		if name == "" && !tagged {
			continue
		}
		f := field{
			name: name, form: form, at: i,
			def: tag.Get("default"), httpDef: tag.Get("http"), min: tag.Get("min"), max: tag.Get("max"),
			oneof: strings.Fields(tag.Get("oneof")), required: tag.Get("required") != "",
			isInline: form == "inline",
		}
		if f.httpDef == "" {
			f.httpDef = f.def
		}
		fields = append(fields, f)
	}
	return fields
}

// names returns the keys known in a table that decodes into t.
func names(t reflect.Type) []string {
	var all []string
	for _, f := range fieldsOf(t) {
		switch {
		case f.isInline:
			all = append(all, names(t.Field(f.at).Type)...)
		case f.name != "*":
			all = append(all, f.name)
		}
	}
	return all
}

// walk calls visit for every key that can be written below t, with its path: lists have no index
// in it, and NAME stands for a name that the user chooses.
func walk(t reflect.Type, path string, visit func(path string, f field)) {
	for _, f := range fieldsOf(t) {
		inner := t.Field(f.at).Type
		if f.isInline {
			walk(inner, path, visit)
			continue
		}
		full := join(path, f.name)
		if f.name == "*" {
			full = path + ".NAME"
		}
		visit(full, f)
		switch {
		case isTable(inner):
			walk(inner, full, visit)
		case inner.Kind() == reflect.Slice && isTable(inner.Elem()) && f.name != "*":
			walk(inner.Elem(), full, visit)
		case inner.Kind() == reflect.Map:
			walk(inner.Elem(), full+".NAME", visit)
		}
	}
}

// isTable tells whether a value of type t is written as a table with keys of ours.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && len(fieldsOf(t)) > 0
}

// elsewhere returns the path of a key called name anywhere in the schema, or "".
func elsewhere(name string) string {
	var found string
	walk(reflect.TypeFor[Config](), "", func(path string, f field) {
		if found == "" && f.name == name {
			found = path
		}
	})
	return found
}
