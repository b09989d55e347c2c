package observe

import (
	"strings"
	"testing"
)

func TestSecretsAreBlanked(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"nothing to do", "/shop?page=2&sort=price", "/shop?page=2&sort=price"},
		{"no query", "/shop/cart", "/shop/cart"},
		{"signed route", "/unsubscribe?expires=17&signature=ab12", "/unsubscribe?expires=17&signature=***"},
		{"several, order kept", "/?token=a&b=c&password=d&e", "/?token=***&b=c&password=***&e"},
		{"case", "/?ToKeN=a", "/?ToKeN=***"},
		{"escaped name", "/?%74oken=a&api%5Fkey=b", "/?%74oken=***&api%5Fkey=***"},
		{"PHP array", "/?user[password]=a&user%5Bpassword%5D=b", "/?user[password]=***&user%5Bpassword%5D=***"},
		{"dots and dashes become underscores in PHP", "/?api.key=a&api-key=b&api+key=c", "/?api.key=***&api-key=***&api+key=***"},
		{"object storage", "/?X-Amz-Signature=a&X-Amz-Credential=b", "/?X-Amz-Signature=***&X-Amz-Credential=***"},
		{"value with equals signs", "/?token=a==&x=1", "/?token=***&x=1"},
		{"value with question mark", "/?next=/a?token=b", "/?next=/a?token=***"},
		{"semicolons", "/?a=1;token=b", "/?a=1;token=***"},
		{"matrix parameter", "/a;jsessionid=b", "/a;jsessionid=***"},
		{"fragment", "/#access_token=b", "/#access_token=***"},
		{"escaped address as a value", "/login?next=%2Fa%3Fx%3D1%26token%3Db", "/login?next=***"},
		{"twice escaped", "/login?next=%252Fa%253Ftoken%253Db", "/login?next=***"},
		{"escaped and harmless", "/login?next=%2Fa%3Fx%3D1", "/login?next=%2Fa%3Fx%3D1"},
		{"broken escapes", "/?%zz=1&to%=2&token=%", "/?%zz=1&to%=2&token=***"},
		{"name alone", "/?token", "/?token"},
		{"empty value", "/?token=&a=1", "/?token=&a=1"},
		{"short names only as a whole", "/?code=1&country_code=de&monkey=1&key=2", "/?code=***&country_code=de&monkey=1&key=***"},
		{"user in an address", "https://me:pw@shop.example/a?b=c", "https://***@shop.example/a?b=c"},
		{"user with odd bytes", "https://me:p;w@shop.example/", "https://***@shop.example/"},
		{"at sign in a path", "https://shop.example/@me", "https://shop.example/@me"},
		{"reset page", "/reset-password/abc123?email=a@b.example", "/reset-password/***?email=a@b.example"},
		{"older reset page", "https://shop.example/password/reset/abc/more", "https://shop.example/password/reset/***/more"},
		{"reset page without a token", "/reset-password/", "/reset-password/"},
		{"empty", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := BlankURI(c.in); got != c.want {
				t.Errorf("BlankURI(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzBlankURI(f *testing.F) {
	for _, seed := range []string{"/?token=a", "http://a@b/?c#d", "/;", "/?%", "/?%3D%26=%25", "/reset-password/x", "?=&;#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		once := BlankURI(uri)
		if twice := BlankURI(once); twice != once {
			t.Errorf("blanking again changes %q to %q", once, twice)
		}
		const secret = "sEcReTvAlUe"
		if strings.Contains(BlankURI("/?a="+strings.ReplaceAll(uri, "%", "")+"&token="+secret), secret) {
			t.Errorf("a token behind %q is not blanked", uri)
		}
	})
}
