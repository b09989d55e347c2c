package fcgitest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The record types of FastCGI 1.0.
const (
	TypeBegin  = 1
	TypeAbort  = 2
	TypeEnd    = 3
	TypeParams = 4
	TypeStdin  = 5
	TypeStdout = 6
	TypeStderr = 7
)

// errBroken is a request that FPM would not take. It fails the test.
var errBroken = errors.New("broken request")

// Param is one pair of a request's params.
type Param struct{ Name, Value string }

// Request is what a responder was sent.
type Request struct {
	Conn     int // which connection, counted from 0
	ID, Role uint16
	KeepConn bool
	Params   []Param // in the order of the wire
	Records  []int   // the size of each params record but the empty last one
	Stdin    []byte  // as far as the script has read it
	Whole    bool    // STDIN was read to its end
}

// Param returns the value of the last param called name, and "" without one.
func (r Request) Param(name string) string {
	value, _ := r.Lookup(name)
	return value
}

// Lookup returns the value of the last param called name, and whether there is one.
func (r Request) Lookup(name string) (string, bool) {
	for i := len(r.Params) - 1; i >= 0; i-- {
		if r.Params[i].Name == name {
			return r.Params[i].Value, true
		}
	}
	return "", false
}

// ReadRecord reads one record.
func ReadRecord(r io.Reader) (Record, error) {
	var h [8]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Record{}, err
	}
	rec := Record{Version: h[0], Type: h[1], ID: binary.BigEndian.Uint16(h[2:]), Padding: h[6]}
	size := int(binary.BigEndian.Uint16(h[4:]))
	b := make([]byte, size+int(rec.Padding))
	if _, err := io.ReadFull(r, b); err != nil {
		return rec, fmt.Errorf("record of type %d: %w", rec.Type, err)
	}
	rec.Content = b[:size]
	return rec, nil
}

// ParseParams decodes the pairs of one record. As with FPM, a pair that does not end in it is an error.
func ParseParams(b []byte) ([]Param, error) {
	var params []Param
	for len(b) > 0 {
		name, n := parseLength(b)
		value, m := parseLength(b[n:])
		if n == 0 || m == 0 || len(b)-n-m < name || len(b)-n-m-name < value {
			return params, fmt.Errorf("%w: a pair crosses the end of its params record", errBroken)
		}
		b = b[n+m:]
		params = append(params, Param{string(b[:name]), string(b[name : name+value])})
		b = b[name+value:]
	}
	return params, nil
}

// parseLength returns a length and how many bytes it took; 0 bytes if it is not whole.
func parseLength(b []byte) (value, size int) {
	switch {
	case len(b) > 0 && b[0] < 128:
		return int(b[0]), 1
	case len(b) >= 4:
		return int(binary.BigEndian.Uint32(b) &^ (1 << 31)), 4
	}
	return 0, 0
}
