package stack

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// The parts of FastCGI 1.0 that a GET without a body needs.
const (
	recordBegin  = 1
	recordEnd    = 3
	recordParams = 4
	recordStdin  = 5
	recordStdout = 6
)

// ask sends one GET over FastCGI and returns what the script printed, its header included.
func ask(address, script, query string) ([]byte, error) {
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(stopWithin)); err != nil {
		return nil, err
	}
	var params []byte
	for _, pair := range [][2]string{
		{"REQUEST_METHOD", "GET"}, {"SCRIPT_NAME", script}, {"SCRIPT_FILENAME", script},
		{"REQUEST_URI", script + "?" + query}, {"QUERY_STRING", query}, {"SERVER_PROTOCOL", "HTTP/1.1"},
	} {
		// Names and values here are all shorter than 128 bytes: one byte of length.
		params = append(params, byte(len(pair[0])), byte(len(pair[1])))
		params = append(append(params, pair[0]...), pair[1]...)
	}
	request := record(recordBegin, []byte{0, 1, 0, 0, 0, 0, 0, 0})
	request = append(request, record(recordParams, params)...)
	request = append(request, record(recordParams, nil)...)
	request = append(request, record(recordStdin, nil)...)
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	return readStdout(conn)
}

func dial(address string) (net.Conn, error) {
	network, address := split(address)
	return net.DialTimeout(network, address, stopWithin)
}

func record(kind byte, content []byte) []byte {
	head := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0}
	return append(head, content...)
}

func readStdout(r io.Reader) ([]byte, error) {
	var out []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, fmt.Errorf("answer of %d bytes without its end: %w", len(out), err)
		}
		length := int(binary.BigEndian.Uint16(head[4:]))
		content := make([]byte, length+int(head[6]))
		if _, err := io.ReadFull(r, content); err != nil {
			return nil, err
		}
		switch head[1] {
		case recordStdout:
			out = append(out, content[:length]...)
		case recordEnd:
			return out, nil
		}
	}
}
