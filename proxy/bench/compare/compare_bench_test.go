package compare

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkCompare(b *testing.B) {
	m := masks(b, MaskConfig{})
	rows := func(n int, format string, second int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, format, i, second)
		}
		return s.String()
	}
	const row = "<tr><td>Item number %d of the list</td><td>2026-12-01 05:00:0%d</td></tr>\n"
	const object = `{"id":%d,"name":"An item","at":"2026-12-01T05:00:0%dZ","tags":["a","b"]},`
	for _, c := range []struct {
		name string
		of   func(second int) *Answer
	}{
		{"html=14KB", func(s int) *Answer { return htmlAnswer(rows(200, row, s)) }},
		{"html=700KB", func(s int) *Answer { return htmlAnswer(rows(9_000, row, s)) }},
		{"json=16KB", func(s int) *Answer { return jsonAnswer("[" + strings.TrimSuffix(rows(200, object, s), ",") + "]") }},
		{"json=900KB", func(s int) *Answer { return jsonAnswer("[" + strings.TrimSuffix(rows(11_000, object, s), ",") + "]") }},
		{"text=700KB", func(s int) *Answer { return answer("text/plain", rows(9_000, row, s)) }},
		{"oneline=900KB", func(s int) *Answer { return answer("text/plain", strings.Repeat("0123456789abcde-f", 53_000)+itoa(s)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, y := c.of(1), c.of(2)
			b.ReportAllocs()
			b.SetBytes(int64(len(x.Body) + len(y.Body)))
			for b.Loop() {
				m.Compare(x, y)
			}
		})
	}
}
