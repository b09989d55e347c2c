package conf

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// naturalKind is the kind that a value of type t is written as.
func naturalKind(t reflect.Type, f field) kind {
	switch {
	case t.Kind() == reflect.Bool:
		return boolKind
	case t.Kind() == reflect.Slice:
		return arrayKind
	case t.Kind() == reflect.Int:
		return integerKind
	case isTable(t):
		return tableKind
	}
	return stringKind
}

// errShape is the fault of a value that is not written as its kind, errChoice that of none of the choices.
// Neither needs more words.
var (
	errShape  = errors.New("another kind")
	errChoice = errors.New("none of the choices")
)

// scalar decodes n and reports what is wrong with it.
func (d *decoder) scalar(v reflect.Value, f field, n *node, path string) {
	if n.kind == stringKind && n.text == "" && f.def == "" && !f.required && naturalKind(v.Type(), f) == stringKind {
		return
	}
	err := scalar(v, f, n)
	if err == nil {
		return
	}
	wrong := "got " + got(v.Type(), f, n)
	switch err {
	case errShape:
	case errChoice:
		wrong = "unknown " + shown(f, n.text)
	default:
		wrong += ": " + err.Error()
	}
	d.fail(n, path, "%s; want %s%s", wrong, wanted(v.Type(), f), meant(n.text, f.oneof))
}

// got says what is written instead of a value of type t.
func got(t reflect.Type, f field, n *node) string {
	switch natural := naturalKind(t, f); {
	case n.kind == arrayKind || n.kind == tableKind:
		return n.kind.String()
	case n.kind == natural && n.kind != stringKind:
		return n.text
	case n.kind == natural:
		return shown(f, n.text)
	case natural == stringKind && f.form != "secret":
		return n.text + " without quotes"
	case n.kind == stringKind && f.form != "secret":
		return "the string " + shown(f, n.text)
	}
	return n.kind.String()
}

// shown writes a value for a message, unless it is a secret.
func shown(f field, text string) string {
	if f.form == "secret" {
		return "a value that is not shown"
	}
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	return strconv.Quote(text)
}

// scalar sets v to the value of n: a string in some form, a whole number, true or false.
func scalar(v reflect.Value, f field, n *node) error {
	if n.kind != naturalKind(v.Type(), f) {
		return errShape
	}
	switch n.kind {
	case boolKind:
		v.SetBool(n.text == "true")
		return nil
	case integerKind:
		number, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64)
		if err != nil {
			return errors.New("too large")
		}
		v.SetInt(number)
		return inRange(number, f)
	}
	return text(v, f, n)
}

func text(v reflect.Value, f field, n *node) error {
	if n.text == "" {
		return errors.New("nothing there")
	}
	parsed, err := forms[f.form].parse(n.src, n.text)
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(parsed))
	switch {
	case f.form == "duration" || f.form == "size":
		return inRange(v.Int(), f)
	case len(f.oneof) > 0 && !slices.Contains(f.oneof, n.text):
		return errChoice
	}
	return nil
}

func inRange(number int64, f field) error {
	if number < bound(f, f.min, 0) || number > bound(f, f.max, 1<<63-1) {
		return errors.New("out of range")
	}
	return nil
}

// bound reads the tag of a limit.
func bound(f field, tag string, none int64) int64 {
	if tag == "" {
		return none
	}
	switch f.form {
	case "duration":
		d, err := parseDuration(tag)
		return mustNumber(int64(d), err)
	case "size":
		return mustNumber(parseSize(tag))
	}
	return mustNumber(strconv.ParseInt(tag, 10, 64))
}

func mustNumber(n int64, err error) int64 {
	if err != nil {
		panic("conf: tag of a limit: " + err.Error())
	}
	return n
}

// wanted says what may be written for a value of type t.
func wanted(t reflect.Type, f field) string {
	switch {
	case len(f.oneof) > 0:
		return oneOf(f.oneof)
	case t.Kind() == reflect.Slice && isTable(t.Elem()):
		return "tables, each headed [[" + f.name + "]]"
	case t.Kind() == reflect.Slice:
		return "a list in brackets, each " + forms[f.form].want
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "a whole number" + rangeOf(f)
	}
	return forms[f.form].want + rangeOf(f)
}

func rangeOf(f field) string {
	low, high := f.min, f.max
	if low == "" && f.form == "" && high != "" {
		low = "0"
	}
	switch {
	case low != "" && high != "":
		return fmt.Sprintf(", from %s to %s", low, high)
	case high != "":
		return ", at most " + high
	}
	return ""
}
