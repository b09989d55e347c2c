package fastcgi

import "encoding/binary"

// maxParams limits all params of a request together, in bytes, without record headers.
const maxParams = 1 << 20

// appendParams appends the PARAMS records of params, and the empty one that ends them. Each record holds whole
// pairs: FPM resets a connection on which a pair crosses into the next record.
func appendParams(b []byte, params []Param) ([]byte, error) {
	at, total := len(b), 0 // at: the header of the record being filled
	b = appendHeader(b, typeParams, 0)
	for _, p := range params {
		size := pairSize(p.Name, p.Value)
		if total += size; size > maxContent || total > maxParams {
			return b, ErrParamsTooLarge
		}
		if len(b)-at-headerSize+size > maxContent {
			putHeader(b[at:], typeParams, len(b)-at-headerSize)
			at = len(b)
			b = appendHeader(b, typeParams, 0)
		}
		b = appendPair(b, p.Name, p.Value)
	}
	if size := len(b) - at - headerSize; size > 0 {
		putHeader(b[at:], typeParams, size)
		b = appendHeader(b, typeParams, 0)
	}
	return b, nil
}

// pairSize is what appendPair will add. Knowing it beforehand is what keeps pairs whole.
func pairSize(name, value string) int {
	return lengthSize(len(name)) + lengthSize(len(value)) + len(name) + len(value)
}

func lengthSize(n int) int {
	if n < 128 {
		return 1
	}
	return 4
}

// appendPair appends both lengths, then both strings (FastCGI 1.0, 3.4).
func appendPair(b []byte, name, value string) []byte {
	b = appendLength(b, len(name))
	b = appendLength(b, len(value))
	b = append(b, name...)
	return append(b, value...)
}

// appendLength appends n as one byte below 128, else as four with the top bit set (FastCGI 1.0, 3.4). n is at
// most 1<<31-1.
func appendLength(b []byte, n int) []byte {
	if n < 128 {
		return append(b, byte(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n)|1<<31)
}
