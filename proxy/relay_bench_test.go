package proxy

import (
	"bytes"
	"net/http"
	"testing"
)

// sink is a client that takes everything at once.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}
func (s *sink) FlushError() error           { return nil }

// BenchmarkRelay is what passing an answer on costs, without the connections.
func BenchmarkRelay(b *testing.B) {
	for name, size := range map[string]int{"page=8KB": 8 << 10, "answer=1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			r := &http.Request{ProtoMajor: 1}
			in, w := make([]byte, size), &sink{http.Header{}}
			s := testStorage("", 1<<30)
			src := new(bytes.Reader)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				src.Reset(in)
				clear(w.header)
				relay := newRelay(w, r, 200, s)
				if _, err := relay.copy(src, false); err != nil {
					b.Fatal(err)
				}
				relay.close()
			}
		})
	}
}
