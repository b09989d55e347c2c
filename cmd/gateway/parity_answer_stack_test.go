//go:build stack

package main_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// answer is what a client got, as far as it can be compared.
type answer struct {
	interim []string            // status lines of 1xx
	line    string              // the status line
	status  int                 // of line
	header  map[string][]string // by name in lower case: HTTP does not distinguish more
	framing string              // none, length, chunked or close
	body    []byte              // up to keepBody
	size    int64
	leaves  map[string]string // of a JSON object, by path
	sum     string            // SHA-256 of the body, in hexadecimal digits
	failure string            // how the answer broke off
	kept    string            // what became of the connection
	pieces  []piece

	token    string          // of the form in it
	delivery string          // how a stream came, where a test looks at that
	timing   []time.Duration // of each piece since it was made, or since the one before where that is not known

	most   int // bytes of the body that are read; zero means all
	hashed hash.Hash
}

// piece is a part of the body that arrived at once.
type piece struct {
	end int64         // how much of the body there was then
	at  time.Duration // the machine's monotonic clock
}

// keepBody is how much of a body is kept; longer ones are compared by their hash.
const keepBody = 256 << 10

// errEnough ends the reading of an answer of which a client wants no more.
var errEnough = errors.New("enough")

// read fills the answer from the wire. head says that it belongs to a HEAD request.
func (a *answer) read(in *bufio.Reader, head bool) {
	a.hashed = sha256.New()
	err := a.readHead(in)
	for err == nil && a.status/100 == 1 && a.status != 101 {
		a.interim = append(a.interim, a.line)
		err = a.readHead(in)
	}
	if err == nil {
		err = a.readBody(in, head)
	}
	if err != nil && err != errEnough {
		a.failure = reason(err)
	}
	a.sum = hex.EncodeToString(a.hashed.Sum(nil))
}

// reason names what is alike on both sides: addresses in errors are not.
func reason(err error) string {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return "cut"
	}
	return err.Error()
}

func (a *answer) readHead(in *bufio.Reader) error {
	a.line, a.status, a.header = "", 0, make(map[string][]string)
	line, err := readLine(in)
	if err != nil {
		return err
	}
	a.line = line
	fields := strings.SplitN(line, " ", 3)
	if len(fields) < 2 || !strings.HasPrefix(line, "HTTP/1.") {
		return fmt.Errorf("no status line: %.80q", line)
	}
	if a.status, err = strconv.Atoi(fields[1]); err != nil {
		return err
	}
	for {
		line, err := readLine(in)
		if err != nil || line == "" {
			return err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("no header: %.80q", line)
		}
		name = strings.ToLower(name)
		a.header[name] = append(a.header[name], strings.TrimSpace(value))
	}
}

// readLine wants CRLF, which both servers owe.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	bare, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		return "", fmt.Errorf("line without CRLF: %.80q", line)
	}
	return bare, nil
}

func (a *answer) readBody(in *bufio.Reader, head bool) error {
	length, hasLength := a.header["content-length"]
	_, chunked := a.header["transfer-encoding"]
	switch {
	case head || a.status == 204 || a.status == 304:
		a.framing = "none"
		return nil
	case chunked:
		a.framing = "chunked"
		return a.readChunks(in)
	case hasLength:
		a.framing = "length"
		n, err := strconv.ParseInt(strings.Join(length, ","), 10, 64)
		if err != nil {
			return err
		}
		return a.readBytes(in, n)
	}
	a.framing = "close"
	if err := a.readBytes(in, 1<<62); err != io.ErrUnexpectedEOF {
		return err
	}
	return nil
}

func (a *answer) readChunks(in *bufio.Reader) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(line, 16, 64)
		if err != nil {
			return fmt.Errorf("no chunk size: %.80q", line)
		}
		if n > 0 {
			err = a.readBytes(in, n)
		}
		if err != nil {
			return err
		}
		if end, err := readLine(in); err != nil || end != "" {
			return errors.Join(err, fmt.Errorf("after a chunk: %.80q", end))
		}
		if n == 0 {
			return nil
		}
	}
}

// readBytes reads n bytes of the body and notes when they come.
func (a *answer) readBytes(in *bufio.Reader, n int64) error {
	buffer := make([]byte, 64<<10)
	for n > 0 {
		got, err := in.Read(buffer[:min(n, int64(len(buffer)))])
		n -= int64(got)
		a.add(buffer[:got])
		switch {
		case a.most > 0 && len(a.body) >= a.most:
			a.body = a.body[:a.most]
			return errEnough
		case err == io.EOF && n > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

func (a *answer) add(p []byte) {
	if len(p) == 0 {
		return
	}
	a.size += int64(len(p))
	a.hashed.Write(p)
	if room := keepBody - len(a.body); room > 0 {
		a.body = append(a.body, p[:min(room, len(p))]...)
	}
	if len(a.pieces) < 1000 {
		a.pieces = append(a.pieces, piece{a.size, clock()})
	}
}

// arrival tells when the first n bytes of the body were there.
func (a *answer) arrival(n int) time.Duration {
	for _, p := range a.pieces {
		if p.end >= int64(n) {
			return p.at
		}
	}
	return clock()
}

// clock is the machine's monotonic clock, which PHP's hrtime reads as well.
func clock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
