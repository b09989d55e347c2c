//go:build stack

package main_test

// environmentCases compare the whole CGI environment, as PHP has it in $_SERVER.
var environmentCases = []parityCase{
	server("plain"),
	server("a browser", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)", "Accept: text/html;q=0.9", "Accept-Encoding: gzip, deflate, br",
		"Accept-Language: de,en;q=0.5", "Referer: http://localhost/form?a=b", "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Site: same-origin",
		"Cache-Control: no-cache", "Pragma: no-cache", "DNT: 1", "Priority: u=0, i", "X-XSRF-TOKEN: eyJpdiI6=", "X-CSRF-TOKEN: a"),
	server("cookies in one line", "Cookie: a=1; b=2"),
	server("cookies in two lines", "Cookie: a=1", "Cookie: b=2"),
	server("Basic authorization", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
	server("Bearer authorization", "Authorization: Bearer abc.def"),
	server("repeated headers", "X-Many: 1", "X-Many: 2", "Accept: a/b", "Accept: c/d"),
	server("empty header", "X-Empty:", "X-Blank:   "),
	server("odd case and dashes", "x-lOWER: 1", "X-A-B-C: 2", "X--Double: 3"),
	server("bytes in a header", "X-Bytes: \xc3\xa4", "X-Tab: a\tb", "X-Quote: \"a\\\"b\""),
	server("names that could forge", "X_Under: 1", "Content_Length: 5", "X-Dot.Dot: 2", "Remote_Addr: 9.9.9.9", "HTTPS: on"),
	server("names of Octane", "Remote-Addr: 9.9.9.9", "Server-Port: 1", "Https: on", "Scheme: https").
		only("fpm resident"), // behind nginx FrankenPHP takes either Remote-Addr, by chance
	server("httpoxy", "Proxy: http://evil.example"),
	server("claims of a proxy", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example",
		"X-Forwarded-Port: 1", "X-Forwarded-Prefix: /x", "X-Real-IP: 6.6.6.6", "Forwarded: for=6.6.6.6", "Via: 1.1 x"),
	server("file hand-over", "X-Sendfile-Type: X-Accel-Redirect", "X-Accel-Mapping: /=/"),
	server("hop by hop", "Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "TE: trailers"),
	server("upgrade to h2c", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"),
	server("upgrade to WebSocket", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Version: 13"),
	server("conditions and ranges", "If-None-Match: \"x\"", "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT", "Range: bytes=0-9", "If-Range: \"x\""),
	server("type without a body", "Content-Type: text/plain"),
	server("request id and traces", "X-Request-Id: abc", "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
	one("server/port in Host", func(c *client) answer {
		return c.raw("GET /api/server HTTP/1.1\r\nHost: localhost:" + port(c) + "\r\n\r\n")
	}),
	one("server/Host in capitals with a dot", func(c *client) answer {
		return c.raw("GET /api/server HTTP/1.1\r\nHost: LocalHost.\r\n\r\n")
	}),
	one("server/POST with a length", func(c *client) answer {
		return c.do("POST", "/api/server", []byte("a=1"), formType)
	}),
	one("server/POST in chunks", func(c *client) answer {
		return c.chunked("POST", "/api/server", []string{"a=", "1"}, formType)
	}),
	one("server/POST with nothing", func(c *client) answer { return c.do("POST", "/api/server", []byte{}) }),
	one("server/DELETE", func(c *client) answer { return c.do("DELETE", "/api/server", nil) }),
	one("server/HTTP/1.0", func(c *client) answer {
		return c.raw("GET /api/server?a HTTP/1.0\r\nHost: localhost\r\n\r\n")
	}),
	one("server/HTTP/1.0 kept", func(c *client) answer {
		return c.raw("GET /api/server HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n")
	}),
	one("server/HTTP/1.0 without Host", func(c *client) answer { return c.raw("GET /api/server HTTP/1.0\r\n\r\n") }),
	get("/api/server/index.php/more?index.php"),
	get("/index.php/api/server"),
	get("/index.php/api/server?x=1"),
	get("/api/echo", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example"),
	one("echo with a port in Host", func(c *client) answer {
		return c.raw("GET /api/echo HTTP/1.1\r\nHost: localhost:" + port(c) + "\r\n\r\n")
	}),
	one("links with a port in Host", func(c *client) answer {
		return c.raw("GET /redirect HTTP/1.1\r\nHost: localhost:" + port(c) + "\r\n\r\n")
	}),
}

func server(name string, lines ...string) parityCase {
	return one("server/"+name, func(c *client) answer { return c.get("/api/server", lines...) })
}
