package stack

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRunCleansUpLastOneFirst(t *testing.T) {
	var order []int
	code := Run(func(t T) int {
		t.Cleanup(func() { order = append(order, 1) })
		t.Cleanup(func() { order = append(order, 2) })
		return 7
	})
	if code != 7 || !slices.Equal(order, []int{2, 1}) {
		t.Errorf("code %d, cleanups %v; want 7, [2 1]", code, order)
	}
}

func TestRunFatalfEndsWithOne(t *testing.T) {
	cleaned, went := false, false
	code := Run(func(t T) int {
		t.Cleanup(func() { cleaned = failed(t) })
		t.Fatalf("this line is part of the test")
		went = true
		return 0
	})
	if code != 1 || !cleaned || went {
		t.Errorf("code %d, cleaned up as failed: %t, went on: %t", code, cleaned, went)
	}
}

func TestAskReadsStdoutToItsEnd(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	request := make(chan []byte, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		b := make([]byte, 4096)
		n, _ := conn.Read(b)
		request <- b[:n]
		padded := record(recordStdout, []byte("po"))
		padded[6] = 3
		conn.Write(slices.Concat(padded, []byte{0, 0, 0}, record(7, []byte("stderr")),
			record(recordStdout, []byte("ng")), record(recordEnd, make([]byte, 8))))
	}()
	answer, err := ask("unix:"+l.Addr().String(), "/fpm-ping", "q")
	if err != nil || string(answer) != "pong" {
		t.Errorf("answer %q, %v; want pong", answer, err)
	}
	if got := <-request; !bytes.Contains(got, []byte("\x0b\x09SCRIPT_NAME/fpm-ping")) {
		t.Errorf("no SCRIPT_NAME in %q", got)
	}
}

func TestAnswerWithoutEndIsAnError(t *testing.T) {
	if b, err := readStdout(bytes.NewReader(record(recordStdout, []byte("half")))); err == nil {
		t.Errorf("a cut answer was taken: %q", b)
	}
}

func TestFreeAddrsAreDifferent(t *testing.T) {
	addrs := freeAddrs(t, 20)
	for i, addr := range addrs {
		if slices.Contains(addrs[:i], addr) || !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Errorf("%s is not one of its own on loopback", addr)
		}
	}
}
