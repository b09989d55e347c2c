package report

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestPageOfValidRun(t *testing.T) {
	golden(t, "valid.html", func(w io.Writer) error { return HTML(w, valid()) })
}

// The page needs nothing but itself, and says in words what its pictures show.
func TestPagesAreSelfContained(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := HTML(&b, run()); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(b.String(), "http://www.w3.org/2000/svg", "")
			if found := regexp.MustCompile(`<script|<link|<img|src=|href=|@import|https?://|ZgotmplZ|NaN|Inf`).FindString(text); found != "" {
				t.Errorf("the page has %q", found)
			}
			checkPictures(t, b.Bytes())
		})
	}
}

func checkPictures(t *testing.T, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, pictures := map[string]bool{}, 0
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("two elements have the id %s", a.Val)
				}
				ids[a.Val] = true
			}
		}
		if n.Type != html.ElementNode || n.Data != "svg" {
			continue
		}
		pictures++
		has := map[string]bool{}
		for child := range n.ChildNodes() {
			has[child.Data] = true
		}
		if !has["title"] || !has["desc"] {
			t.Error("a picture without title or description")
		}
	}
	if pictures < 2 {
		t.Errorf("%d pictures", pictures)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	r := valid()
	r.Arms[0].Name, r.Routes[0].Name, r.Verdict.Text = `<b onload="x">`, "</td><script>", "</style>"
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<b onload", "</td><script>", "text</style>"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestAxes(t *testing.T) {
	a := logAxis(2.3e6, 41e6, 100, 900)
	if a.low != 2e6 || math.Abs(a.high-50e6) > 1 || a.at(2e6) != 100 || a.at(50e6) != 900 || a.at(1) != 100 {
		t.Errorf("%+v", a)
	}
	var texts []string
	for _, tick := range a.ticks(shortTime) {
		texts = append(texts, tick.Text)
	}
	if got := strings.Join(texts, ", "); got != "2 ms, 5 ms, 10 ms, 20 ms, 50 ms" {
		t.Errorf("ticks %s", got)
	}
	for _, wide := range []axis{logAxis(1000, 6e10, 0, 1), logAxis(9.99e8, 1e9, 0, 1), {low: 0, high: 7, to: 1}, {low: 3, high: 3, to: 1}} {
		if n := len(wide.ticks(shortTime)); n > 12 || n < 1 {
			t.Errorf("%+v has %d ticks", wide, n)
		}
	}
}

func TestFartherDotsAreFartherFromOne(t *testing.T) {
	x := ratioAxis(0.25, 1.02, 0, 100)
	if !x.log || !(x.at(0.25) < x.at(0.5) && x.at(0.5) < x.at(1) && x.at(1) < 100) {
		t.Errorf("%+v", x)
	}
	if narrow := ratioAxis(1, 1, 0, 100); narrow.at(1) < 40 || narrow.at(1) > 60 {
		t.Errorf("%+v", narrow)
	}
}
