package fastcgi

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gateway/fastcgi/fcgitest"
)

// paramsOf sends r and returns what the responder was told.
func paramsOf(t *testing.T, r *http.Request) fcgitest.Request {
	t.Helper()
	responder := fcgitest.New(t, fcgitest.Reply(200, ""))
	send(t, newTransport(t, responder), r)
	return responder.Requests()[0]
}

func TestParamsOfLaravel(t *testing.T) {
	r := newRequest(t, "POST", "a=1")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "tester")
	got := map[string]string{}
	for _, p := range paramsOf(t, r).Params {
		got[p.Name] = p.Value
	}
	want := map[string]string{
		"DOCUMENT_ROOT": "/srv/shop/public", "SCRIPT_FILENAME": "/srv/shop/public/index.php",
		"SCRIPT_NAME": "/index.php", "DOCUMENT_URI": "/index.php", "REQUEST_URI": "/cart?id=7", "QUERY_STRING": "id=7",
		"REQUEST_METHOD": "POST", "CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "3",
		"SERVER_NAME": "shop.example", "SERVER_ADDR": "192.0.2.1", "SERVER_PORT": "443", "SERVER_PROTOCOL": "HTTP/1.1",
		"SERVER_SOFTWARE": "gateway", "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_SCHEME": "https", "HTTPS": "on",
		"REMOTE_ADDR": "198.51.100.9", "REMOTE_PORT": "40000", "REDIRECT_STATUS": "200",
		"HTTP_HOST": "shop.example", "HTTP_USER_AGENT": "tester",
	}
	if !maps.Equal(got, want) {
		t.Errorf("params =\n%v, want\n%v", got, want)
	}
}

func TestPlainHTTPHasNoHTTPS(t *testing.T) {
	env := newEnv()
	env.Scheme, env.RemotePort, env.ServerAddr = "", "", ""
	got := paramsOf(t, newRequestEnv(t, env, "GET", ""))
	for _, name := range []string{"HTTPS", "REMOTE_PORT", "SERVER_ADDR", "PATH_INFO", "REMOTE_USER"} {
		if value, ok := got.Lookup(name); ok {
			t.Errorf("%s = %q, want it left out", name, value)
		}
	}
	if got.Param("REQUEST_SCHEME") != "http" {
		t.Errorf("REQUEST_SCHEME = %q, want http", got.Param("REQUEST_SCHEME"))
	}
}

func TestRequestURIKeepsTheClientsBytes(t *testing.T) {
	env := newEnv()
	env.RequestURI = "/a%2Fb//c/%e9?x=%zz&y[]=1#not?a?fragment"
	got := paramsOf(t, newRequestEnv(t, env, "GET", ""))
	if got.Param("REQUEST_URI") != env.RequestURI || got.Param("QUERY_STRING") != "x=%zz&y[]=1#not?a?fragment" {
		t.Errorf("REQUEST_URI = %q, QUERY_STRING = %q", got.Param("REQUEST_URI"), got.Param("QUERY_STRING"))
	}
}

func TestContentLengthIsWhatIsSent(t *testing.T) {
	for _, c := range []struct{ header, body, want string }{
		{"", "", ""},            // as nginx
		{"0", "", "0"},          // said by the client
		{"50", "12345", "5"},    // the header is not believed
		{"50", "", "0"},         // nor here: PHP would wait for ever
		{"", "chunked?", "8"},   // spooled
		{"x", "chunked?", "8"},  // nonsense
		{"-1", "chunked?", "8"}, // nonsense
	} {
		r := newRequest(t, "POST", c.body)
		if c.header != "" {
			r.Header.Set("Content-Length", c.header)
		}
		if got := paramsOf(t, r); got.Param("CONTENT_LENGTH") != c.want || string(got.Stdin) != c.body {
			t.Errorf("header %q: CONTENT_LENGTH = %q, %d bytes sent, want %q, %d", c.header,
				got.Param("CONTENT_LENGTH"), len(got.Stdin), c.want, len(c.body))
		}
	}
}

func TestHeadersThatReachPHP(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		param string
		want  string
	}{
		{"Accept", []string{"a", "b"}, "HTTP_ACCEPT", "a, b"},
		{"Cookie", []string{"a=1", "b=2"}, "HTTP_COOKIE", "a=1; b=2"},
		{"X-Own-9", []string{"v"}, "HTTP_X_OWN_9", "v"},
		{"Authorization", []string{"Basic Og=="}, "HTTP_AUTHORIZATION", "Basic Og=="},
		{"Dnt", []string{""}, "HTTP_DNT", ""},
		{"X-Ü", []string{"\xff\x80"}, "", ""},
		{"X_Own", []string{"v"}, "", ""},
		{"X.Own", []string{"v"}, "", ""},
		{"Proxy", []string{"http://evil"}, "", ""},
		{"PROXY", []string{"http://evil"}, "", ""},
		{"content-type", []string{"x"}, "", ""},
		{"Content_Length", []string{"5"}, "", ""},
		{"host", []string{"other"}, "", ""},
		{"", []string{"v"}, "", ""},
		{"X-None", nil, "", ""},
		{"Connection", []string{"close"}, "", ""},
		{"Keep-Alive", []string{"5"}, "", ""},
		{"Te", []string{"trailers"}, "", ""},
		{"Transfer-Encoding", []string{"chunked"}, "", ""},
		{"Upgrade", []string{"h2c"}, "", ""},
	} {
		r := &http.Request{Header: http.Header{c.name: c.lines}}
		params := appendHeaders(nil, r)
		var want []Param
		if c.param != "" {
			want = []Param{{c.param, c.want}}
		}
		if !slices.Equal(params, want) {
			t.Errorf("%q: params = %v, want %v", c.name, params, want)
		}
	}
}

func TestHeadersNamedByConnection(t *testing.T) {
	r := newRequest(t, "GET", "")
	r.Header.Set("X-One-Hop", "1")
	r.Header.Set("Connection", "close, x-one-hop")
	if value, ok := paramsOf(t, r).Lookup("HTTP_X_ONE_HOP"); ok {
		t.Errorf("HTTP_X_ONE_HOP = %q, want it left out", value)
	}
}

func TestOperatorWins(t *testing.T) {
	env := newEnv()
	env.Params = []Param{{"HTTP_X_REAL_IP", "operator"}, {"PHP_VALUE", "memory_limit=1G"}, {"SERVER_NAME", "other"}}
	r := newRequestEnv(t, env, "GET", "")
	r.Header.Set("X-Real-Ip", "client")
	got := paramsOf(t, r)
	for _, p := range env.Params {
		if got.Param(p.Name) != p.Value {
			t.Errorf("%s = %q, want %q", p.Name, got.Param(p.Name), p.Value)
		}
	}
}

func TestNothingStaysForTheNextRequest(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, ""))
	tr := newTransport(t, r)
	first := newRequest(t, "GET", "")
	first.Header.Set("X-Secret", "of the first")
	send(t, tr, first)
	fetch(t, tr)
	if value, ok := r.Requests()[1].Lookup("HTTP_X_SECRET"); ok {
		t.Errorf("the second request has the header of the first: %q", value)
	}
}

func TestLargeParams(t *testing.T) {
	for _, total := range []int{33_000, 65_500, 65_520, 65_528, 65_529, 65_540, 66_000, 500_000, 1_000_000} {
		env := newEnv()
		for left := total; left > 0; left -= 9000 {
			env.Params = append(env.Params, Param{"P" + string(rune('a'+left/9000)), strings.Repeat("v", min(left, 9000))})
		}
		got := paramsOf(t, newRequestEnv(t, env, "GET", ""))
		for _, p := range env.Params {
			if got.Param(p.Name) != p.Value {
				t.Errorf("total %d: %s has %d bytes, want %d", total, p.Name, len(got.Param(p.Name)), len(p.Value))
			}
		}
		if largest := slices.Max(got.Records); largest > maxContent {
			t.Errorf("total %d: a record has %d bytes", total, largest)
		}
	}
}

func TestParamsTooLarge(t *testing.T) {
	huge := map[string][]Param{"one pair": {{"P", strings.Repeat("v", maxContent)}}}
	for i := range 20 {
		huge["together"] = append(huge["together"], Param{"P" + string(rune('a'+i)), strings.Repeat("v", 60_000)})
	}
	r := fcgitest.New(t)
	for name, params := range huge {
		env := newEnv()
		env.Params = params
		if e := refusal(t, newTransport(t, r), newRequestEnv(t, env, "GET", "")); !errors.Is(e, ErrParamsTooLarge) {
			t.Errorf("%s: error = %v, want ErrParamsTooLarge", name, e)
		}
	}
	if r.Conns() != 0 {
		t.Errorf("%d connections were made for requests that cannot be sent", r.Conns())
	}
}

func TestLengthEncoding(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []byte
	}{
		{0, []byte{0}}, {127, []byte{127}}, {128, []byte{0x80, 0, 0, 128}}, {65_535, []byte{0x80, 0, 0xff, 0xff}},
		{1<<31 - 1, []byte{0xff, 0xff, 0xff, 0xff}},
	} {
		if got := appendLength(nil, c.n); !bytes.Equal(got, c.want) || len(got) != lengthSize(c.n) {
			t.Errorf("length %d = % x, want % x", c.n, got, c.want)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add("NAME", "value", 3)
	f.Add("", "", 0)
	f.Add("N", strings.Repeat("v", 65_000), 5)
	f.Add(strings.Repeat("n", 128), strings.Repeat("v", 127), 40)
	f.Fuzz(func(t *testing.T, name, value string, n int) {
		var params []Param
		for i := range min(max(n, 0), 40) {
			params = append(params, Param{name + strings.Repeat("i", i), value})
		}
		b, err := appendParams(nil, params)
		if errors.Is(err, ErrParamsTooLarge) {
			return
		}
		var got []Param
		for r := bytes.NewReader(b); r.Len() > 0; {
			rec, err := fcgitest.ReadRecord(r)
			if err != nil {
				t.Fatal(err)
			}
			pairs, err := fcgitest.ParseParams(rec.Content)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pairs {
				got = append(got, Param{p.Name, p.Value})
			}
			if (len(rec.Content) == 0) != (r.Len() == 0) {
				t.Fatal("the empty record is not the last one")
			}
		}
		if !slices.Equal(got, params) {
			t.Errorf("%d params became %d", len(params), len(got))
		}
	})
}
