package compare

import (
	"fmt"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	m := masks(t, MaskConfig{})
	for _, c := range []struct {
		name, a, b string
		want       []string
	}{
		{"order of keys and spaces", `{"a":1,"b":[1,2]}`, `{ "b":[1, 2], "a":1 }`, nil},
		{"numbers are text", `{"a":1.0}`, `{"a":1}`, []string{"value a"}},
		{"large numbers keep their digits", `[12345678901234567890]`, `[12345678901234567891]`, []string{"value [*]"}},
		{"a number and a string", `{"id":1}`, `{"id":"1"}`, []string{"type id"}},
		{"null and nothing", `{"a":null}`, `{}`, []string{"missing a"}},
		{"an empty string and nothing", `{"a":""}`, `{}`, []string{"missing a"}},
		{"deep", `{"data":[{"x":{"y":1}},{"x":{"y":2}}]}`, `{"data":[{"x":{"y":1}},{"x":{"y":3}}]}`, []string{"value data[*].x.y"}},
		{"order of an array", `{"data":[1,2,3]}`, `{"data":[3,1,2]}`, []string{"order data"}},
		{"one item more, in front", `{"data":[1,2,3]}`, `{"data":[0,1,2,3]}`, []string{"missing data[*]"}},
		{"keys that are ids", `{"users":{"17":{"n":1}}}`, `{"users":{"17":{"n":2}}}`, []string{"value users.*.n"}},
		{"keys with dots", `{"a.b":1}`, `{"a.b":2}`, []string{`value ["a.b"]`}},
		{"an array and an object", `{"data":[]}`, `{"data":{}}`, []string{"type data"}},
		{"JSON and none", `{"a":1}`, `<html>`, []string{"type body"}},
		{"none at all", `oops`, `ooops`, []string{"value text"}},
		{"scalars", `1`, `2`, []string{"value body"}},
		{"something after it", `1 2`, `1 3`, []string{"value text"}},
		{"keys twice", `{"a":1,"a":2}`, `{"a":1,"a":3}`, []string{"value a"}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, m, jsonAnswer(c.a), jsonAnswer(c.b), c.want...) })
	}
}

func TestKindsOfDifferencesAreRanked(t *testing.T) {
	m := masks(t, MaskConfig{})
	o := m.Compare(jsonAnswer(`{"t":1,"m":1,"v":1}`), jsonAnswer(`{"t":"1","v":2}`))
	of := map[Kind]Severity{}
	for _, d := range o.Differences {
		of[d.Kind] = d.Severity
	}
	if len(of) != 3 || of[ItemType] < of[Missing] || of[Missing] <= of[Value] {
		t.Errorf("%v", of)
	}
}

func TestShapes(t *testing.T) {
	m := masks(t, MaskConfig{})
	jwt := func(sub string) string {
		return "eyJhbGciOiJIUzI1NiJ9." + map[string]string{"1": "eyJzdWIiOiIxIn0", "2": "eyJzdWIiOiIyIn0", "other": "eyJpc3MiOiIyIn0"}[sub] + ".sig"
	}
	for _, c := range []struct{ name, a, b, want string }{
		{"times", `"2026-12-01T05:00:03Z"`, `"2026-12-01T05:00:04.123456Z"`, "(time at x1)"},
		{"times with a zone", `"2026-12-01T06:00:03+01:00"`, `"2026-12-01T05:00:04+00:00"`, "(time at x1)"},
		{"times of the database", `"2026-12-01 06:00:03"`, `"2026-12-01 06:00:04"`, "(time at x1)"},
		{"epoch", `1796101201`, `1796101203`, "(time at x1)"},
		{"epoch in milliseconds", `1796101201123`, `1796101203123`, "(time at x1)"},
		{"an old time", `"2025-12-01T05:00:03Z"`, `"2025-12-01T05:00:04Z"`, "value at"},
		{"now and long ago", `"2026-12-01T05:00:03Z"`, `"2020-12-01T05:00:03Z"`, "value at"},
		{"UUID", `"550e8400-e29b-41d4-a716-446655440000"`, `"650e8400-e29b-41d4-a716-446655440000"`, "(uuid at x1)"},
		{"ULID", `"01ARZ3NDEKTSV4RRFFQ69G5FAV"`, `"01BRZ3NDEKTSV4RRFFQ69G5FAV"`, "(ulid at x1)"},
		{"40 hex digits", `"` + strings.Repeat("ab", 20) + `"`, `"` + strings.Repeat("cd", 20) + `"`, "(hex40 at x1)"},
		{"UUID and ULID", `"550e8400-e29b-41d4-a716-446655440000"`, `"01BRZ3NDEKTSV4RRFFQ69G5FAV"`, "value at"},
		{"JWT", `"` + jwt("1") + `"`, `"` + jwt("2") + `"`, "(jwt at x1)"},
		{"JWT with another claim", `"` + jwt("1") + `"`, `"` + jwt("other") + `"`, "value at"},
		{"encrypted", `"` + encrypted + `"`, `"` + strings.Replace(encrypted, "QkJC", "QkJD", 1) + `"`, "(encrypted at x1)"},
		{"a price", `1999`, `2999`, "value at"},
		{"a time in a sentence", `"Made at 2026-12-01T05:00:03Z by us"`, `"Made at 2026-12-01T05:00:04Z by us"`, "(time at x1)"},
		{"a built asset", `"/build/assets/app-D4f3c2b1.js"`, `"/build/assets/app-9f3c2b1a.js"`, "(asset hash at x1)"},
		{"an id in a URL", `"/files/550e8400-e29b-41d4-a716-446655440000.pdf"`, `"/files/650e8400-e29b-41d4-a716-446655440000.pdf"`, "(uuid at x1)"},
		{"a date of HTTP in a sentence", `"At Tue, 01 Dec 2026 05:00:01 GMT."`, `"At Tue, 01 Dec 2026 05:00:02 GMT."`, "(time at x1)"},
		{"a time of the database in a sentence", `"At 2026-12-01 06:00:01."`, `"At 2026-12-01 06:00:02."`, "(time at x1)"},
		{"an old time in a sentence", `"At 2020-12-01 06:00:01."`, `"At 2020-12-01 06:00:02."`, "value at"},
		{"of Mix", `"/js/app.js?id=0123456789abcdef0123456789abcdef"`, `"/js/app.js?id=1123456789abcdef0123456789abcdef"`, "(asset hash at x1)"},
		{"two words", `"/js/user-settings.js"`, `"/js/user-payments.js"`, "value at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, m, jsonAnswer(`{"at":`+c.a+`}`), jsonAnswer(`{"at":`+c.b+`}`), c.want)
		})
	}
}

func TestMeasuresAndTokens(t *testing.T) {
	m := masks(t, MaskConfig{})
	expect(t, m, jsonAnswer(`{"duration_ms":1,"elapsed":2,"memory":3,"_token":"a","queryDuration":1.5}`),
		jsonAnswer(`{"duration_ms":9,"elapsed":8,"memory":7,"_token":"b","queryDuration":2.5}`),
		"(CSRF token _token x1)", "(measure duration_ms x1)", "(measure elapsed x1)", "(measure memory x1)", "(measure queryDuration x1)")
	expect(t, m, jsonAnswer(`{"memory":"8 GB"}`), jsonAnswer(`{"memory":"16 GB"}`), "value memory")
}

func TestMasksOfTheOperator(t *testing.T) {
	m := masks(t, MaskConfig{
		Paths: []string{"data[*].rank", "**.etag", "meta.*.seed", `["a.b"]`}, Patterns: []string{`v\d+`}, Unordered: []string{"tags", "data[*].ids"},
	})
	expect(t, m, jsonAnswer(`{"data":[{"rank":1},{"rank":2}]}`), jsonAnswer(`{"data":[{"rank":3},{"rank":4}]}`), "(path data[*].rank data[*].rank x2)")
	expect(t, m, jsonAnswer(`{"data":[{"rank":1}]}`), jsonAnswer(`{"data":[{}]}`), "(path data[*].rank data[*].rank x1)")
	expect(t, m, jsonAnswer(`{"etag":1,"x":{"y":[{"etag":1}]}}`), jsonAnswer(`{"etag":2,"x":{"y":[{"etag":2}]}}`),
		"(path **.etag etag x1)", "(path **.etag x.y[*].etag x1)")
	expect(t, m, jsonAnswer(`{"meta":{"a":{"seed":1},"seed":1}}`), jsonAnswer(`{"meta":{"a":{"seed":2},"seed":2}}`),
		"value meta.seed", "(path meta.*.seed meta.a.seed x1)")
	expect(t, m, jsonAnswer(`{"a.b":1}`), jsonAnswer(`{"a.b":2}`), `(path ["a.b"] ["a.b"] x1)`)
	expect(t, m, jsonAnswer(`{"x":"is v12"}`), jsonAnswer(`{"x":"is v9"}`), `(pattern v\d+ x x1)`)
	expect(t, m, jsonAnswer(`{"tags":["a","b","c"]}`), jsonAnswer(`{"tags":["c","a","b"]}`), "(order tags x1)")
	expect(t, m, jsonAnswer(`{"tags":["a","b","c"]}`), jsonAnswer(`{"tags":["c","a","x"]}`), "value tags[*]")
	expect(t, m, jsonAnswer(`{"tags":["a","b"]}`), jsonAnswer(`{"tags":["b"]}`), "missing tags[*]")
	expect(t, m, jsonAnswer(`{"data":[{"ids":[1,2]}]}`), jsonAnswer(`{"data":[{"ids":[2,1]}]}`), "(order data[*].ids x1)")
	// What the noise model has seen to permute is said anew for each comparison.
	o := m.Compare(jsonAnswer(`{"list":[{"id":1},{"id":2}]}`), jsonAnswer(`{"list":[{"id":2},{"id":1}]}`), "list")
	if said(o) != "(order list x1)" {
		t.Errorf("%s", said(o))
	}
}

// Masked values within items must not keep them from being recognised in another order.
func TestPermutedItemsWithTimes(t *testing.T) {
	m := masks(t, MaskConfig{})
	item := func(id, at int) string { return fmt.Sprintf(`{"id":%d,"at":"2026-12-01T05:00:0%dZ"}`, id, at) }
	a, b := jsonAnswer("["+item(1, 1)+","+item(2, 2)+"]"), jsonAnswer("["+item(2, 3)+","+item(1, 4)+"]")
	expect(t, m, a, b, "order body")
}

func TestHostileJSONIsBounded(t *testing.T) {
	m := masks(t, MaskConfig{Paths: []string{"**.**.**.x"}})
	deep := func(n int) *Answer { return jsonAnswer(strings.Repeat(`[`, n) + strings.Repeat(`]`, n)) }
	if o := m.Compare(deep(200_000), deep(200_001)); o.Uncompared == "" || said(o) != "body body" {
		t.Errorf("deep: %q, %s", o.Uncompared, said(o))
	}
	wide := func(last string) *Answer { return jsonAnswer("[" + strings.Repeat("1,", 300_000) + last + "]") }
	if o := m.Compare(wide("1"), wide("2")); o.Uncompared == "" || said(o) != "body body" {
		t.Errorf("wide: %q, %s", o.Uncompared, said(o))
	}
	many := func(v string) *Answer {
		return jsonAnswer(`{"a":[` + strings.TrimSuffix(strings.Repeat(`{"x`+v+`":`+v+`},`, 20_000), ",") + `]}`)
	}
	o := m.Compare(many("1"), many("2"))
	if len(o.Differences) != maxDifferences || o.More == 0 {
		t.Errorf("%d differences and %d more", len(o.Differences), o.More)
	}
	nested := jsonAnswer(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100))
	other := jsonAnswer(strings.Repeat(`{"a":`, 100) + "2" + strings.Repeat("}", 100))
	if o := m.Compare(nested, other); len(o.Differences) != 1 {
		t.Errorf("%s", said(o))
	}
}
