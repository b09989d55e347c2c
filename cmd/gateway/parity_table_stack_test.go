//go:build stack

package main_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// difference is one thing in which the gateway's answer is not nginx's.
type difference struct {
	where string // way/case, with #2 for the second exchange of a case
	name  string // status, header etag, json server.HTTP_HOST, body, …
	nginx string
	ours  string
}

func (d difference) String() string {
	return fmt.Sprintf("%s: %s\n  nginx: %.400q\n  ours:  %.400q", d.where, d.name, d.nginx, d.ours)
}

// absent stands for what is not there at all; an empty value is "".
const absent = "(none)"

// row allows differences. Where names the exchanges it is about, as way/case; in all its texts but Why a star stands
// for any text, except that the star of a way does not reach into the case.
type row struct {
	Where                  []string
	Name, Nginx, Ours, Why string

	met map[string]bool // the elements of Where that occurred
}

func (r *row) allows(d difference) bool {
	if !glob(r.Name, d.name) || !glob(r.Nginx, d.nginx) || !glob(r.Ours, d.ours) {
		return false
	}
	allowed := false
	way, exchange, _ := strings.Cut(d.where, "/")
	for _, where := range r.Where {
		wantWay, wantExchange, _ := strings.Cut(where, "/")
		if glob(wantWay, way) && glob(wantExchange, exchange) {
			r.met[where], allowed = true, true
		}
	}
	return allowed
}

// glob says whether s is pattern, in which a star stands for any text.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		var found bool
		_, s, found = strings.Cut(s, part)
		ok = ok && found
	}
	return ok && strings.HasSuffix(s, parts[len(parts)-1])
}

// table is the list of all differences that are meant to be.
type table struct{ rows []*row }

func readTable(t *testing.T, path string) *table {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Difference []*row }
	decoder := toml.NewDecoder(strings.NewReader(string(b)))
	if err := decoder.DisallowUnknownFields().Decode(&file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, r := range file.Difference {
		if len(r.Where) == 0 || r.Name == "" || r.Why == "" {
			t.Fatalf("%s: a row wants where, name and why: %+v", path, *r)
		}
		r.met = make(map[string]bool)
	}
	return &table{file.Difference}
}

// unexplained returns the differences that no row allows. A row is met by every difference that it allows, so that
// two rows for one do not hide each other.
func (t *table) unexplained(all []difference) []difference {
	return slices.DeleteFunc(all, func(d difference) bool {
		allowed := false
		for _, r := range t.rows {
			if r.allows(d) {
				allowed = true
			}
		}
		return allowed
	})
}

// stale describes what rows allow and no difference needed.
func (t *table) stale() (all []string) {
	for _, r := range t.rows {
		for _, where := range r.Where {
			if !r.met[where] {
				all = append(all, fmt.Sprintf("%s: %s: nginx %q, ours %q", where, r.Name, r.Nginx, r.Ours))
			}
		}
	}
	return all
}

// compare lists in what ours differs from nginx's answer.
func compare(where string, nginx, ours answer) []difference {
	var all []difference
	note := func(name, a, b string) {
		if a != b {
			all = append(all, difference{where, name, a, b})
		}
	}
	if nginx.status != ours.status {
		note("status", fmt.Sprint(nginx.status), fmt.Sprint(ours.status))
		return all // nothing else is the same then
	}
	note("status line", nginx.line, ours.line)
	note("interim", strings.Join(nginx.interim, ", "), strings.Join(ours.interim, ", "))
	note("failure", nginx.failure, ours.failure)
	note("connection", nginx.kept, ours.kept)
	compareTiming(note, nginx, ours)
	if !framingFits(nginx, ours) {
		note("framing", nginx.framing, ours.framing)
	}
	for _, name := range headerNames(nginx, ours) {
		note("header "+name, headerValue(nginx, name), headerValue(ours, name))
	}
	compareBodies(note, nginx, ours)
	return all
}

// framingFits says whether a body may be framed as ours is. A length that the application set stays; what nginx has
// in chunks, or up to the end of the connection, may have a length.
func framingFits(nginx, ours answer) bool {
	return ours.framing == nginx.framing || ours.framing == "length" && nginx.framing != "none"
}

func headerNames(nginx, ours answer) []string {
	names := append(sorted(nginx.header), sorted(ours.header)...)
	slices.Sort(names)
	framed := nginx.framing != "none" || ours.framing != "none"
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return framed && (name == "content-length" || name == "transfer-encoding")
	})
}

func headerValue(a answer, name string) string {
	values, ok := a.header[name]
	if !ok {
		return absent
	}
	return strings.Join(values, " | ")
}

func compareBodies(note func(name, a, b string), nginx, ours answer) {
	switch {
	case nginx.failure == "cut" && ours.failure == "cut":
		// How much came before the break is chance.
		n := min(len(nginx.body), len(ours.body))
		compareLines(note, []string{string(nginx.body[:n])}, []string{string(ours.body[:n])})
	case nginx.leaves != nil && ours.leaves != nil:
		paths := append(sorted(nginx.leaves), sorted(ours.leaves)...)
		slices.Sort(paths)
		for _, path := range slices.Compact(paths) {
			note("json "+path, leaf(nginx, path), leaf(ours, path))
		}
	case nginx.size > keepBody || ours.size > keepBody:
		note("body", fmt.Sprint(nginx.size, " ", nginx.sum), fmt.Sprint(ours.size, " ", ours.sum))
	default:
		compareLines(note, strings.Split(string(nginx.body), "\n"), strings.Split(string(ours.body), "\n"))
	}
}

func leaf(a answer, path string) string {
	if value, ok := a.leaves[path]; ok {
		return value
	}
	return absent
}

// compareLines notes each line that differs, or the whole when one text is longer.
func compareLines(note func(name, a, b string), nginx, ours []string) {
	if len(nginx) != len(ours) {
		note("body", strings.Join(nginx, "\n"), strings.Join(ours, "\n"))
		return
	}
	for i := range nginx {
		note("body", nginx[i], ours[i])
	}
}
