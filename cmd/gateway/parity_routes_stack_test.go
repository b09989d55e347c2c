//go:build stack

package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"gateway/testdata/stack"
)

// routeCases ask for every route once, as a browser does; those with bodies, streams and failures stand apart.
var routeCases = []parityCase{
	get("/"),
	get("/api/ping"),
	get("/api/ping", "User-Agent: Mozilla/5.0", "Accept: application/json", "Accept-Encoding: gzip, br"),
	get("/api/users?page=2"),
	get("/api/users/7"),
	get("/api/users/5001"),
	get("/api/users/x"),
	get("/nowhere"),
	get("/nowhere", "Accept: application/json"),
	get("/api/echo/a/b?x=1&x=2&y[]=3", "Accept: */*"),
	get("/api/state"),
	get("/api/large/1"),
	get("/api/large/64"),
	get("/api/large/1024"),
	get("/api/slow/20"),
	get("/api/untyped").only("fpm resident"), // FrankenPHP guesses a type
	get("/api/link/1"),
	get("/api/link/20"),
	get("/api/count/parity"),
	get("/api/ended/nothing"),
	get("/cookies"),
	get("/early-hints"),
	get("/redirect"),
	get("/redirect", "Accept: application/json", "X-Requested-With: XMLHttpRequest"),
	get("/redirect/absolute"),
	get("/after"),
	get("/download/php"),
	get("/download/inline"),
	get("/api/download/2"),
	one("64 MiB", func(c *client) answer {
		a := c.get("/api/download/64")
		if a.size != 64<<20 {
			c.t.Errorf("%d bytes of the download, want 64 MiB: %s", a.size, a.line)
		}
		return a
	}),
	one("HEAD /api/ping", func(c *client) answer { return c.do("HEAD", "/api/ping", nil) }),
	one("HEAD /benchmark", func(c *client) answer { return c.do("HEAD", "/benchmark", nil) }),
	one("HEAD /api/download/64", func(c *client) answer { return c.do("HEAD", "/api/download/64", nil) }),
	one("HEAD /api/stream/2/10", func(c *client) answer { return c.do("HEAD", "/api/stream/2/10", nil) }),
	one("HEAD /redirect", func(c *client) answer { return c.do("HEAD", "/redirect", nil) }),
	one("HEAD /nowhere", func(c *client) answer { return c.do("HEAD", "/nowhere", nil) }),
	one("OPTIONS", func(c *client) answer { return c.do("OPTIONS", "/api/users", nil) }),
	one("method not allowed", func(c *client) answer { return c.do("POST", "/api/users", []byte("a=1")) }),
	{name: "statuses", run: statuses},
	{name: "conditional", run: conditional},
	{name: "session", run: session},
	{name: "form", run: form},
	{name: "form without a name", run: formWithoutName},
	{name: "form without a token", run: formWithoutToken},
	{name: "items", run: items},
}

// get is the case of a GET, named by its target and by how often it stands in the list.
func get(target string, lines ...string) parityCase {
	name := strings.Join(append([]string{target}, lines...), " ")
	return one(name, func(c *client) answer { return c.get(target, lines...) })
}

func statuses(c *client) (all []answer) {
	for _, code := range strings.Fields("200 201 202 203 204 205 206 301 302 303 304 307 308 400 401 402 403 404 405 409 410 413 418 " +
		"419 422 423 426 429 431 451 500 501 502 503 504 505 511 520 599") {
		all = append(all, c.get("/api/status/"+code), c.do("HEAD", "/api/status/"+code, nil))
	}
	return all
}

func conditional(c *client) []answer {
	first := c.get("/api/conditional")
	return []answer{
		first,
		c.get("/api/conditional", "If-None-Match: "+headerValue(first, "etag")),
		c.get("/api/conditional", "If-None-Match: \"other\""),
		c.get("/api/conditional", "If-Modified-Since: "+headerValue(first, "last-modified")),
		c.do("HEAD", "/api/conditional", nil, "If-None-Match: "+headerValue(first, "etag")),
		c.get("/api/conditional", "Range: bytes=0-3"),
	}
}

func session(c *client) (all []answer) {
	for range 3 {
		all = append(all, c.get("/benchmark"))
	}
	return all
}

const formType = "Content-Type: application/x-www-form-urlencoded"

// submit loads the form, sends it and loads it again for the message.
func submit(c *client, fields func(token string) url.Values) []answer {
	shown := c.get("/form")
	if shown.token == "" {
		c.t.Error("form without a token")
	}
	sent := c.do("POST", "/form", []byte(fields(shown.token).Encode()), formType)
	return []answer{shown, sent, c.get("/form")}
}

func form(c *client) []answer {
	return submit(c, func(token string) url.Values { return url.Values{"_token": {token}, "name": {"Ada & Björn"}} })
}

func formWithoutName(c *client) []answer {
	return submit(c, func(token string) url.Values { return url.Values{"_token": {token}} })
}

func formWithoutToken(c *client) []answer {
	return submit(c, func(string) url.Values { return url.Values{"name": {"Ada"}} })
}

// counted makes names, each for one use.
var counted atomic.Int64

func items(c *client) []answer {
	body := []byte("a=1&b[]=2&b[]=3&name=%C3%A4")
	return []answer{
		c.do("PUT", "/api/items/7", body, formType),
		c.do("PATCH", "/api/items/7", body, formType),
		c.do("DELETE", "/api/items/7", nil),
		c.do("DELETE", "/api/items/7", []byte(`{"a":[1,{"b":null}]}`), "Content-Type: application/json"),
		c.do("PUT", "/api/items/7", []byte(`{"a":`), "Content-Type: application/json"),
		c.do("POST", "/api/items/7", []byte("_method=PATCH&a=1"), formType),
		c.do("POST", "/api/items/7", []byte("a=1"), formType, "X-HTTP-Method-Override: DELETE"),
		c.do("PUT", "/api/items/7", []byte{}),
		c.do("POST", fmt.Sprintf("/api/count/parity-%d", counted.Add(1)), []byte{}),
	}
}

// route is one of the application, as artisan lists it.
type route struct{ Method, URI string }

// matches says whether METHOD TARGET leads to the route.
func (r route) matches(request string) bool {
	method, target, _ := strings.Cut(request, " ")
	path, _, _ := strings.Cut(target, "?")
	pattern := "^"
	for segment := range strings.SplitSeq(strings.Trim(r.URI, "/"), "/") {
		switch {
		case strings.HasSuffix(segment, "?}"):
			pattern += "(/.*)?"
		case strings.HasSuffix(segment, "}"):
			pattern += "/[^/]+"
		default:
			pattern += "/" + regexp.QuoteMeta(segment)
		}
	}
	return regexp.MustCompile(pattern+"$").MatchString(path) && strings.Contains("|"+r.Method+"|", "|"+method+"|")
}

func applicationRoutes(t *testing.T) (routes []route) {
	t.Helper()
	app := stack.App(t)
	artisan := exec.Command("php8.2", filepath.Join(app.Source, "laravel/artisan"), "route:list", "--json")
	artisan.Env = append(os.Environ(), "APP_VAR="+app.Var)
	list, err := artisan.Output()
	if err == nil {
		err = json.Unmarshal(list, &routes)
	}
	if err != nil || len(routes) == 0 {
		t.Fatalf("artisan route:list: %v\n%.500s", err, list)
	}
	return routes
}
