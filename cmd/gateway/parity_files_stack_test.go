//go:build stack

package main_test

// fileCases ask for what is in the public folder, and for what is not.
var fileCases = []parityCase{
	file("/robots.txt"),
	file("/hello.txt"),
	file("/1k.txt"),
	file("/css/app.css"),
	get("/1k.txt?v=2"),
	get("/1k.txt", "Accept-Encoding: gzip, br, zstd"),
	get("/%31k.txt"),
	get("//1k.txt"),
	get("/css//app.css"),
	get("/css/../1k.txt"),
	get("/1K.TXT"),
	get("/1k.txt/"),
	get("/1k.txt/x"),
	get("/css"),
	get("/css/"),
	get("/css/none.css"),
	get("/build/assets/app-D4f7Gh1k.js"),
	get("/favicon.ico"),
	get("/none.png"),
	get("/hello.php"),
	get("/hello.php/x"),
	get("/hello.php~"),
	get("/none.php"),
	get("/.env"),
	get("/.git/config"),
	get("/css/.hidden"),
	get("/x.env"),
	get("/.well-known/security.txt"),
	get("/.well-known/.env"),
	get("/%2eenv"),
	get("/api/.env"),
	get("/robots.txt%00.png"),
	get("/../1k.txt"),
	get("/css/%2e%2e/1k.txt"),
	one("POST to a file", func(c *client) answer { return c.do("POST", "/1k.txt", []byte("a=1"), formType) }),
	one("PUT to a file", func(c *client) answer { return c.do("PUT", "/1k.txt", []byte("a")) }),
	one("OPTIONS of a file", func(c *client) answer { return c.do("OPTIONS", "/1k.txt", nil) }),
	one("file to HTTP/1.0", func(c *client) answer { return c.raw("GET /1k.txt HTTP/1.0\r\n\r\n") }),
	{name: "ranges", run: ranges},
	{name: "conditional ranges", run: conditionalRanges},
}

// file asks for a file in all the ordinary ways.
func file(target string) parityCase {
	return parityCase{name: "file " + target, run: func(c *client) []answer {
		first := c.get(target)
		etag, modified := headerValue(first, "etag"), headerValue(first, "last-modified")
		return []answer{
			first,
			c.do("HEAD", target, nil),
			c.get(target, "If-None-Match: "+etag),
			c.get(target, "If-None-Match: \"x\", "+etag),
			c.get(target, "If-None-Match: W/"+etag),
			c.get(target, "If-None-Match: *"),
			c.get(target, "If-None-Match: \"x\""),
			c.do("HEAD", target, nil, "If-None-Match: "+etag),
			c.get(target, "If-Modified-Since: "+modified),
			c.get(target, "If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT"),
			c.get(target, "If-Modified-Since: nonsense"),
			c.get(target, "If-None-Match: \"x\"", "If-Modified-Since: "+modified),
			c.get(target, "If-Match: "+etag),
			c.get(target, "If-Match: \"x\""),
			c.get(target, "If-Unmodified-Since: "+modified),
			c.get(target, "If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT"),
		}
	}}
}

func ranges(c *client) (all []answer) {
	for _, value := range []string{
		"bytes=0-99", "bytes=0-0", "bytes=1000-", "bytes=-100", "bytes=-2000", "bytes=1000-5000", "bytes=0-", "bytes=0-1023",
		"bytes=1024-", "bytes=5-4", "bytes=-0", "bytes=", "bytes=a-b", "bytes= 0-9", "lines=0-9", "bytes=0-9,20-29",
		"bytes=0-9, 5-14", "bytes=0-9,2000-3000",
	} {
		all = append(all, c.get("/1k.txt", "Range: "+value))
	}
	return append(all, c.do("HEAD", "/1k.txt", nil, "Range: bytes=0-99"))
}

func conditionalRanges(c *client) []answer {
	first := c.get("/1k.txt")
	etag, modified := headerValue(first, "etag"), headerValue(first, "last-modified")
	part := "Range: bytes=0-99"
	return []answer{
		c.get("/1k.txt", part, "If-Range: "+etag),
		c.get("/1k.txt", part, "If-Range: \"x\""),
		c.get("/1k.txt", part, "If-Range: W/"+etag),
		c.get("/1k.txt", part, "If-Range: "+modified),
		c.get("/1k.txt", part, "If-Range: Mon, 01 Jan 2001 00:00:00 GMT"),
		c.get("/1k.txt", part, "If-None-Match: "+etag),
		c.get("/1k.txt", part, "If-Match: \"x\""),
	}
}
