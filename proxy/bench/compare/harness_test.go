package compare

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 12, 1, 5, 0, 0, 0, time.UTC)

func masks(t testing.TB, cfg MaskConfig) *Masks {
	t.Helper()
	m, err := NewMasks(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer is one of 200; header lines are "Name: value".
func answer(kind, body string, header ...string) *Answer {
	a := &Answer{Status: 200, Header: http.Header{}, Body: []byte(body), At: now}
	if kind != "" {
		a.Header.Set("Content-Type", kind)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		a.Header.Add(name, value)
	}
	return a
}

func jsonAnswer(body string) *Answer { return answer("application/json", body) }
func htmlAnswer(body string) *Answer { return answer("text/html; charset=UTF-8", body) }

// said writes differences as "kind path", and masks as "mask path xN".
func said(o *Outcome) string {
	var all []string
	for _, d := range o.Differences {
		all = append(all, string(d.Kind)+" "+d.Path)
	}
	for _, m := range o.Masked {
		all = append(all, "("+m.Mask+" "+m.Path+" x"+itoa(m.Count)+")")
	}
	return strings.Join(all, "\n")
}

// expect compares both ways round.
func expect(t *testing.T, m *Masks, a, b *Answer, want ...string) *Outcome {
	t.Helper()
	o := m.Compare(a, b)
	if got := said(o); got != strings.Join(want, "\n") {
		t.Errorf("%.300s\n%.300s\n= %s\nwant %s", a.Body, b.Body, got, strings.Join(want, "\n"))
	}
	if back := m.Compare(b, a); len(back.Differences) != len(o.Differences) {
		t.Errorf("the other way round: %s\nwant as many as %s", said(back), said(o))
	}
	if self := m.Compare(a, a); said(self) != "" {
		t.Errorf("with itself: %s", said(self))
	}
	return o
}
