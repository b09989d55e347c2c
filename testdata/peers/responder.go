package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// The cheapest backends there can be, so that a peer is the slowest part of its row. They read a whole request
// and write an answer made beforehand, in one piece.

// dialect is how requests are told apart.
type dialect struct {
	// next returns the length of the first request in b, or 0 when it has not come whole, and whether the
	// connection stays open after its answer.
	next   func(b []byte) (n int, keep bool, err error)
	answer []byte
}

// PHP's answer to a script that prints hello, on request 1: all clients here have one request a connection.
func fastCGI() dialect {
	const head = "X-Powered-By: PHP/8.2\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\n"
	answer := record(6, head+hello)
	answer = append(answer, record(3, "\x00\x00\x00\x00\x00\x00\x00\x00")...)
	return dialect{next: nextFastCGI, answer: answer}
}

func record(kind byte, content string) []byte {
	padding := -len(content) & 7
	b := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), byte(padding), 0}
	b = append(b, content...)
	return append(b, make([]byte, padding)...)
}

func nextFastCGI(b []byte) (n int, keep bool, err error) {
	for len(b)-n >= 8 {
		head := b[n : n+8]
		length := int(binary.BigEndian.Uint16(head[4:6]))
		if head[0] != 1 || head[2] != 0 || head[3] != 1 {
			return 0, false, fmt.Errorf("record % x: want version 1 and request 1", head)
		}
		end := n + 8 + length + int(head[6])
		if end > len(b) {
			return 0, false, nil
		}
		switch {
		case head[1] == 1 && length == 8:
			keep = b[n+10]&1 == 1
		case head[1] == 5 && length == 0:
			return end, keep, nil
		}
		n = end
	}
	return 0, false, nil
}

func plainHTTP() dialect {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-cache, private\r\nContent-Length: "
	return dialect{next: nextHTTP, answer: []byte(head + strconv.Itoa(len(pong)) + "\r\n\r\n" + pong)}
}

// nextHTTP knows requests without a body, of HTTP/1.1.
func nextHTTP(b []byte) (n int, keep bool, err error) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		return 0, false, nil
	}
	closing := bytes.Contains(b[:end], []byte("\r\nConnection: close"))
	return end + 4, !closing, nil
}

// answerAll answers whoever connects to l, until l is closed.
func answerAll(l net.Listener, d dialect) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		// Ends with its connection; with the process at the latest.
		go answerOne(conn, d)
	}
}

// answerOne answers the requests of one connection. A client that leaves, or speaks otherwise, is let go: its
// side has the error.
func answerOne(conn net.Conn, d dialect) {
	defer conn.Close()
	buf := make([]byte, 64<<10)
	for held := 0; held < len(buf); {
		n, err := conn.Read(buf[held:])
		if err != nil {
			return
		}
		held += n
		end, keep, err := d.next(buf[:held])
		if err != nil {
			return
		}
		if end == 0 {
			continue
		}
		if _, err := conn.Write(d.answer); err != nil || !keep {
			return
		}
		held = copy(buf, buf[end:held])
	}
}

// serveTrivial is the part that a backend process plays.
func serveTrivial(words io.Writer, d dialect, network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	fmt.Fprintln(words, "listening on", l.Addr())
	return answerAll(l, d)
}
