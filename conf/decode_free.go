package conf

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// params decodes a table whose keys are the names of FastCGI parameters.
func (d *decoder) params(v reflect.Value, n *node, path string) {
	bad := func(value string) bool { return strings.ContainsRune(value, 0) }
	var params []Param
	d.pairs(n, path, pairForm{not: "-", names: "letters, digits and _", bad: bad, holds: "a NUL"}, func(name, value string) {
		params = append(params, Param{name, value})
	})
	slices.SortFunc(params, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	v.Set(reflect.ValueOf(params))
}

// headers decodes a table whose keys are the names of response headers. An empty value stays, to take a
// default out.
func (d *decoder) headers(v reflect.Value, n *node, path string) {
	bad := func(value string) bool { return strings.ContainsFunc(value, unicode.IsControl) }
	var headers []Header
	d.pairs(n, path, pairForm{not: "_", names: "letters, digits and -", bad: bad, holds: "a control character"}, func(name, value string) {
		headers = append(headers, Header{http.CanonicalHeaderKey(name), value})
	})
	v.Set(reflect.ValueOf(headers))
}

// pairForm says what names and values a table of the user's own keys may have.
type pairForm struct {
	not, names string // the one of - and _ that a name may not have, and what it may
	bad        func(value string) bool
	holds      string // what makes a value bad
}

// pairs calls take for each pair of the table that has that form, and reports the others.
func (d *decoder) pairs(n *node, path string, form pairForm, take func(name, value string)) {
	if !d.is(tableKind, n, path, "a table of strings") {
		return
	}
	for _, k := range n.keys {
		value, full := n.get(k.name), join(path, k.name)
		switch {
		case value.bad:
		case k.name == "" || strings.ContainsFunc(k.name, notBare) || strings.Contains(k.name, form.not):
			d.faults.add(n.src, k.at, full, "want a name of %s", form.names)
		case !d.is(stringKind, value, full, "a string"):
		case form.bad(value.text):
			d.fail(value, full, "the value holds %s", form.holds)
		default:
			take(k.name, value.text)
		}
	}
}

// users decodes a table whose keys are names of users, and whose values are bcrypt hashes.
func (d *decoder) users(v reflect.Value, n *node, path string) {
	if !d.is(tableKind, n, path, "a table of names with their bcrypt hashes") {
		return
	}
	var users []User
	for _, k := range n.keys {
		value, full := n.get(k.name), join(path, k.name)
		switch {
		case value.bad:
		case k.name == "" || strings.ContainsFunc(k.name, unicode.IsControl) || strings.Contains(k.name, ":"):
			d.faults.add(n.src, k.at, full, "want a name without : and control characters")
		case !d.is(stringKind, value, full, "a bcrypt hash in quotes"):
		default:
			if err := checkHash(value.text); err != nil {
				d.fail(value, full, "%s; want a bcrypt hash, as htpasswd -nbB NAME PASSWORD prints it after the colon", err)
			}
			users = append(users, User{k.name, value.text})
		}
	}
	slices.SortFunc(users, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	v.Set(reflect.ValueOf(users))
}

// option decodes one setting of a DNS provider. One that is empty is not set.
func (d *decoder) option(options reflect.Value, k key, n *node, path string) {
	value, full := n.get(k.name), join(path, k.name)
	if value.bad || !d.is(stringKind, value, full, "a string") || value.text == "" {
		return
	}
	all := append(options.Interface().([]Param), Param{k.name, value.text})
	slices.SortFunc(all, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	options.Set(reflect.ValueOf(all))
}

// withDefaultHeaders fills in the headers that every site has, takes out those without a value, and sorts.
func withDefaultHeaders(written []Header) []Header {
	all := []Header{{"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "SAMEORIGIN"}}
	for _, h := range written {
		all = slices.DeleteFunc(all, func(have Header) bool { return have.Name == h.Name })
		if h.Value != "" {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// weight decodes one share of a split and inserts it in the order of names. Whether there is such an
// upstream is looked at when all files are read.
func (d *decoder) weight(weights reflect.Value, k key, n *node, path string) {
	value, full := n.get(k.name), join(path, k.name)
	known := names(reflect.TypeFor[Split]())
	if value.bad {
		return
	}
	if value.kind != integerKind && value.kind != floatKind {
		d.fail(value, full, "got %s; want a percentage from 0 to 100 without quotes, or one of the keys %s%s",
			value.kind, oneOf(known), meant(k.name, known))
		return
	}
	share, err := parseShare(value.text)
	if err != nil {
		d.fail(value, full, "got %s: %s; want a percentage from 0 to 100, in steps of 0.01", value.text, err)
		return
	}
	all := weights.Interface().([]Weight)
	at, _ := slices.BinarySearchFunc(all, k.name, func(w Weight, name string) int { return strings.Compare(w.Upstream, name) })
	weights.Set(reflect.ValueOf(slices.Insert(all, at, Weight{k.name, share})))
}
