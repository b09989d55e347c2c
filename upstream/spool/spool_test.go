package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pattern returns n bytes of which no two stretches are alike.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

func newSpool(t *testing.T, cfg Config) *Spool {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	s := New(cfg)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStreamComesBackWhole(t *testing.T) {
	for _, size := range []int{0, 1, 999, 1000, 1001, 5000, 100_000} {
		in := pattern(size)
		for name, fill := range map[string]func(*Spool) (int64, error){
			"ReadFrom":         func(s *Spool) (int64, error) { return s.ReadFrom(bytes.NewReader(in)) },
			"ReadFrom in bits": func(s *Spool) (int64, error) { return s.ReadFrom(iotest.HalfReader(bytes.NewReader(in))) },
			"ReadFrom with EOF": func(s *Spool) (int64, error) {
				return s.ReadFrom(iotest.DataErrReader(bytes.NewReader(in)))
			},
			"Write": func(s *Spool) (int64, error) {
				return io.Copy(struct{ io.Writer }{s}, iotest.HalfReader(bytes.NewReader(in)))
			},
		} {
			s := newSpool(t, Config{Memory: 1000})
			n, err := fill(s)
			if n != int64(size) || err != nil || s.Len() != int64(size) {
				t.Fatalf("%s of %d bytes = %d, %v; Len = %d", name, size, n, err, s.Len())
			}
			s.CloseWrite(nil)
			if err := iotest.TestReader(s.NewReader(), in); err != nil {
				t.Errorf("%s of %d bytes: %v", name, size, err)
			}
			var out bytes.Buffer
			if _, err := s.NewReader().WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), in) {
				t.Errorf("%s of %d bytes: WriteTo gives %d bytes, %v", name, size, out.Len(), err)
			}
		}
	}
}

func TestFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(t, Config{Memory: 10, Dir: dir})
	if _, err := s.Write(pattern(100)); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("directory holds %v", left)
	}
}

func TestSmallStreamMakesNoFile(t *testing.T) {
	s := newSpool(t, Config{Memory: 10, Dir: "/nonexistent"})
	if _, err := s.ReadFrom(strings.NewReader("0123456789")); err != nil {
		t.Errorf("ReadFrom = %v; a stream that fits needs no directory", err)
	}
}

func TestFailureNamesTheDirectory(t *testing.T) {
	s := newSpool(t, Config{Memory: 10, Dir: "/nonexistent"})
	_, err := s.ReadFrom(bytes.NewReader(pattern(11)))
	var failed *Error
	if !errors.As(err, &failed) || failed.Dir != "/nonexistent" || failed.Op != "create" {
		t.Fatalf("ReadFrom = %v", err)
	}
	if want := "spool: create in /nonexistent: no such file or directory"; err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}

func TestLimit(t *testing.T) {
	for _, memory := range []int64{5, 100} {
		cfg := Config{Memory: memory, Limit: 20}
		if _, err := newSpool(t, cfg).ReadFrom(bytes.NewReader(pattern(20))); err != nil {
			t.Errorf("memory %d: a stream of exactly the limit = %v", memory, err)
		}
		n, err := newSpool(t, cfg).ReadFrom(bytes.NewReader(pattern(21)))
		if n != 20 || err != ErrLimit {
			t.Errorf("memory %d: a stream beyond the limit = %d, %v", memory, n, err)
		}
		s := newSpool(t, cfg)
		if _, err := s.Write(pattern(15)); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Write(pattern(6)); n != 0 || err != ErrLimit || s.Len() != 15 {
			t.Errorf("memory %d: write beyond the limit = %d, %v; Len = %d, want nothing stored", memory, n, err, s.Len())
		}
	}
}

func TestReadErrorOfTheSourceIsPassedOn(t *testing.T) {
	broken := errors.New("client left")
	s := newSpool(t, Config{})
	n, err := s.ReadFrom(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
	if n != 4 || err != broken {
		t.Errorf("ReadFrom = %d, %v", n, err)
	}
}

func TestReaderFollowsTheWriter(t *testing.T) {
	s := newSpool(t, Config{Memory: 1000})
	in := pattern(50_000)
	broken := errors.New("backend broke off")
	go func() {
		for piece := range slices.Chunk(in, 777) {
			if _, err := s.Write(piece); err != nil {
				t.Error(err)
			}
		}
		s.CloseWrite(broken)
	}()
	out, err := io.ReadAll(s.NewReader())
	if !bytes.Equal(out, in) || err != broken {
		t.Errorf("read %d bytes, %v; want %d and how the stream ended", len(out), err, len(in))
	}
}

func TestCloseEndsReadersThatWait(t *testing.T) {
	s := newSpool(t, Config{})
	one, other := s.NewReader(), s.NewReader()
	ends := make(chan error)
	for _, r := range []*Reader{one, other} {
		go func() {
			_, err := r.Read(make([]byte, 1))
			ends <- err
		}()
	}
	one.Close()
	if err := <-ends; err != os.ErrClosed {
		t.Errorf("closed reader: %v", err)
	}
	s.Close()
	if err := <-ends; err != os.ErrClosed {
		t.Errorf("reader of a closed spool: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close = %v", err)
	}
}

func TestClosedSpoolTakesNothing(t *testing.T) {
	for _, filled := range []int{0, 10, 20} {
		s := newSpool(t, Config{Memory: 10})
		if _, err := s.Write(pattern(filled)); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if _, err := s.Write(pattern(20)); err != os.ErrClosed {
			t.Errorf("Write after %d bytes = %v", filled, err)
		}
		if _, err := s.ReadFrom(bytes.NewReader(pattern(20))); err != os.ErrClosed {
			t.Errorf("ReadFrom after %d bytes = %v", filled, err)
		}
		if _, err := s.NewReader().Read(make([]byte, 1)); err != os.ErrClosed {
			t.Errorf("Read after %d bytes = %v", filled, err)
		}
	}
}

func BenchmarkSpool(b *testing.B) {
	for name, size := range map[string]int{"body=2KB": 2 << 10, "body=1MB": 1 << 20} {
		in := pattern(size)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			src := new(bytes.Reader)
			for b.Loop() {
				src.Reset(in)
				s := New(Config{})
				if _, err := s.ReadFrom(src); err != nil {
					b.Fatal(err)
				}
				s.CloseWrite(nil)
				if _, err := s.NewReader().WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}
