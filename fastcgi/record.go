package fastcgi

import "encoding/binary"

// The records of FastCGI 1.0, section 8, that a responder and its client exchange.
const (
	typeBegin  = 1
	typeEnd    = 3
	typeParams = 4
	typeStdin  = 5
	typeStdout = 6
	typeStderr = 7
)

const (
	version1      = 1
	headerSize    = 8
	endSize       = 8
	roleResponder = 1
	flagKeepConn  = 1

	// requestID is the only one used: FPM does not multiplex.
	requestID = 1

	// maxContent keeps content plus padding below 65,536, beyond which FPM resets the connection.
	maxContent = 65528
)

// Values of an END_REQUEST's protocol status.
const (
	statusComplete   = 0
	statusCantMpx    = 1
	statusOverloaded = 2
)

// header is the fixed part of a record.
type header struct {
	version, typ byte
	id           uint16
	size         int // of the content
	padding      int
}

// parseHeader decodes the first 8 bytes of b.
func parseHeader(b []byte) header {
	return header{
		version: b[0],
		typ:     b[1],
		id:      binary.BigEndian.Uint16(b[2:]),
		size:    int(binary.BigEndian.Uint16(b[4:])),
		padding: int(b[6]),
	}
}

// putHeader writes the header of a record of size bytes without padding into the first 8 bytes of b.
func putHeader(b []byte, typ byte, size int) {
	b[0], b[1] = version1, typ
	binary.BigEndian.PutUint16(b[2:], requestID)
	binary.BigEndian.PutUint16(b[4:], uint16(size))
	b[6], b[7] = 0, 0
}

// appendHeader is putHeader at the end of b.
func appendHeader(b []byte, typ byte, size int) []byte {
	b = append(b, make([]byte, headerSize)...)
	putHeader(b[len(b)-headerSize:], typ, size)
	return b
}

// appendBegin appends BEGIN_REQUEST.
func appendBegin(b []byte, keep bool) []byte {
	b = appendHeader(b, typeBegin, 8)
	flags := byte(0)
	if keep {
		flags = flagKeepConn
	}
	return append(b, 0, roleResponder, flags, 0, 0, 0, 0, 0)
}
