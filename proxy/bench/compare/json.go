package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
)

const (
	maxDepth = 128     // of nested arrays and objects
	maxNodes = 100_000 // values in a document
)

var errTooLarge = fmt.Errorf("JSON of more than %d values or %d levels", maxNodes, maxDepth)

// node is a value of a document. Numbers are kept as they are written.
type node struct {
	kind kind
	key  string // in its object
	text string // of a scalar
	kids []node // of an object, sorted by key; of an array
	mask string // name of what hides it
	// raw and masked are hashes of all of the value, as it is and without what may differ.
	raw, masked uint64
}

type kind byte

const (
	isNull   kind = 'n'
	isBool   kind = 'b'
	isNumber kind = '0'
	isString kind = '"'
	isArray  kind = '['
	isObject kind = '{'
)

func (k kind) String() string {
	return map[kind]string{
		isNull: "null", isBool: "a boolean", isNumber: "a number", isString: "a string", isArray: "an array", isObject: "an object",
	}[k]
}

// seed is that of all hashes: they are held against others of the same process only.
var seed = maphash.MakeSeed()

// parser reads one document.
type parser struct {
	*json.Decoder
	nodes int
}

// parseJSON reads a document. It fails for what is none, and for what is larger than is compared.
func parseJSON(text []byte) (node, error) {
	p := parser{Decoder: json.NewDecoder(bytes.NewReader(text))}
	p.UseNumber()
	root, err := p.value(0)
	if err != nil {
		return root, err
	}
	if _, err := p.Token(); !errors.Is(err, io.EOF) {
		return root, errors.New("something after the document")
	}
	return root, nil
}

// value reads one, and hashes it.
func (p *parser) value(depth int) (node, error) {
	n, err := p.read(depth)
	n.raw = n.hash(false, false)
	n.masked = n.raw
	return n, err
}

func (p *parser) read(depth int) (node, error) {
	token, err := p.Token()
	if err != nil {
		return node{}, err
	}
	if p.nodes++; p.nodes > maxNodes || depth > maxDepth {
		return node{}, errTooLarge
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case json.Number:
		return node{kind: isNumber, text: v.String()}, nil
	case string:
		return node{kind: isString, text: v}, nil
	case bool:
		return node{kind: isBool, text: fmt.Sprint(v)}, nil
	}
	return node{kind: isNull, text: "null"}, nil
}

func (p *parser) object(depth int) (node, error) {
	n := node{kind: isObject}
	for p.More() {
		key, err := p.Token()
		if err != nil {
			return n, err
		}
		kid, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		kid.key, _ = key.(string)
		n.kids = append(n.kids, kid)
	}
	_, err := p.Token()
	slices.SortStableFunc(n.kids, func(a, b node) int { return cmp.Compare(a.key, b.key) })
	return n, err
}

func (p *parser) array(depth int) (node, error) {
	n := node{kind: isArray}
	for p.More() {
		kid, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.kids = append(n.kids, kid)
	}
	_, err := p.Token()
	return n, err
}
