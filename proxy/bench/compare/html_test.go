package compare

import (
	"fmt"
	"strings"
	"testing"
)

const laravelPage = `<!DOCTYPE html>
<html lang="en"><head>
<meta name="csrf-token" content="%[1]s">
<link rel="stylesheet" href="/build/assets/app-%[2]s.css" nonce="%[3]s">
<script src="/js/app.js?id=%[4]s" integrity="sha384-%[4]s"></script>
<script nonce="%[3]s">window.Laravel = {"csrfToken":"%[1]s"}</script>
</head><body>
<form method="POST"><input type="hidden" name="_token" value="%[1]s"><input name="q" value="shoes"></form>
<div wire:id="%[5]s" wire:snapshot="{&quot;data&quot;:{&quot;count&quot;:%[6]d},&quot;memo&quot;:{&quot;id&quot;:&quot;%[5]s&quot;,&quot;name&quot;:&quot;counter&quot;},&quot;checksum&quot;:&quot;%[4]s&quot;}">%[6]d</div>
<div id="app" data-page="{&quot;component&quot;:&quot;Home&quot;,&quot;props&quot;:{&quot;user&quot;:{&quot;name&quot;:&quot;Ann&quot;}%[7]s},&quot;version&quot;:&quot;%[4]s&quot;}"></div>
<p>Made at 2026-12-01 05:00:0%[6]d</p>
</body></html>`

func laravel(which int, count int, props string) *Answer {
	letter := string(rune('a' + which))
	return htmlAnswer(fmt.Sprintf(laravelPage, strings.Repeat("T"+letter, 20), "Bx3d5_7"+letter, "nonce"+letter+"12345", strings.Repeat(letter+"1", 16),
		strings.Repeat(letter, 20), count, props))
}

func TestWhatLaravelPutsIntoAPageIsMasked(t *testing.T) {
	m := masks(t, MaskConfig{})
	o := expect(t, m, laravel(0, 1, ""), laravel(1, 1, ""),
		"(CSRF token html html/head/meta@content x1)",
		"(asset hash html html/head/link@href x1)",
		"(nonce html html/head/link@nonce x1)",
		"(asset hash html html/head/script@integrity x1)",
		"(asset hash html html/head/script@src x1)",
		"(nonce html html/head/script@nonce x1)",
		"(CSRF token html html/head/script x1)",
		"(CSRF token html html/body/form/input@value x1)",
		"(Livewire id html html/body/div@wire:id x1)",
		"(path checksum html html/body/div@wire:snapshot: checksum x1)",
		"(path memo.id html html/body/div@wire:snapshot: memo.id x1)",
		"(path version html html/body/div@data-page: version x1)")
	if !o.Equal() {
		t.Error("it is a difference")
	}
}

// Shared props of one group of middleware that leak into another show as keys that one side lacks.
func TestInertiaPropsAreComparedByPath(t *testing.T) {
	m := masks(t, MaskConfig{})
	expect(t, m, laravel(0, 1, ""), laravel(0, 1, `,&quot;admin&quot;:{&quot;role&quot;:&quot;root&quot;}`),
		"missing html html/body/div@data-page: props.admin")
	script := func(name string) *Answer {
		return htmlAnswer(`<script data-page="app" type="application/json">{"props":{"name":"` + name + `"}}</script>`)
	}
	expect(t, m, script("Ann"), script("Bob"), "value html script: props.name")
}

func TestLivewireStateIsCompared(t *testing.T) {
	m := masks(t, MaskConfig{})
	expect(t, m, laravel(0, 1, ""), laravel(0, 2, ""),
		"value html html/body/div@wire:snapshot: data.count", "value html html/body/div", "(time html html/body/p x1)")
}

func TestHTML(t *testing.T) {
	m := masks(t, MaskConfig{Patterns: []string{`served by \w+`}})
	for _, c := range []struct {
		name, a, b string
		want       []string
	}{
		{"white space and order of attributes", "<p class=a id=b>x  y</p>", "<p id=\"b\"\n class='a'>\n x y </p>", nil},
		{"white space that is shown", "<pre>a  b</pre>", "<pre>a b</pre>", []string{"value html pre"}},
		{"text", "<ul><li>a</li><li>b</li></ul>", "<ul><li>a</li><li>c</li></ul>", []string{"value html ul/li"}},
		{"an attribute", `<a href="/x">x</a>`, `<a href="/y">x</a>`, []string{"value html a@href"}},
		{"an attribute less", `<a href="/x" rel="nofollow">x</a>`, `<a href="/x">x</a>`, []string{"missing html a@rel"}},
		{"an item more", "<ul><li>a</li><li>c</li></ul>", "<ul><li>a</li><li>b</li><li>c</li></ul>", []string{"missing html ul/li", "missing html ul/li"}},
		{"a comment", "<p><!-- served by web1 --></p>", "<p><!-- served by web2 --></p>", []string{`(pattern served by \w+ html p x1)`}},
		{"another tag", "<b>x</b>", "<i>x</i>", []string{"missing html b", "missing html i"}},
		{"an end tag less", "<p>a", "<p>a</p>", []string{"missing html p"}},
		{"void tags do not nest", "<br><p>a</p>", "<br><p>b</p>", []string{"value html p"}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, m, htmlAnswer(c.a), htmlAnswer(c.b), c.want...) })
	}
}

func TestPasswordsInFormsAreNotKept(t *testing.T) {
	m := masks(t, MaskConfig{})
	form := func(secret string) *Answer {
		return htmlAnswer(`<form><input type="password" name="pw" value="` + secret + `"><input name="email" value="` + secret + `@x.test"></form>`)
	}
	o := m.Compare(form("hunter2"), form("hunter3"))
	if len(o.Differences) != 2 {
		t.Fatalf("%s", said(o))
	}
	for _, d := range append(o.Differences, m.Compare(form("hunter2"), htmlAnswer("<form></form>")).Differences...) {
		if strings.Contains(d.A+d.B, "hunter") {
			t.Errorf("%+v", d)
		}
	}
}

func TestHostileHTMLIsBounded(t *testing.T) {
	m := masks(t, MaskConfig{})
	for name, body := range map[string]func(v string) string{
		"tags":       func(v string) string { return strings.Repeat("<a>", 300_000) + v },
		"nesting":    func(v string) string { return strings.Repeat("<div>", 40_000) + v },
		"attributes": func(v string) string { return "<a " + strings.Repeat("b=c ", 200_000) + v + ">" },
		"one text":   func(v string) string { return strings.Repeat("x", 900_000) + v },
		"lines":      func(v string) string { return strings.Repeat(v+"<p>"+v, 10_000) },
	} {
		o := m.Compare(htmlAnswer(body("1")), htmlAnswer(body("2")))
		if o.Equal() || len(o.Differences) > maxDifferences {
			t.Errorf("%s: %d differences", name, len(o.Differences))
		}
		for _, d := range o.Differences {
			if len(d.A) > 2*maxSample || len(d.Path) > 1000 {
				t.Errorf("%s: kept %d bytes at a path of %d", name, len(d.A), len(d.Path))
			}
		}
	}
}
