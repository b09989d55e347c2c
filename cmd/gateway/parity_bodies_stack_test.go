//go:build stack

package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// bodyCases send bodies of every framing.
var bodyCases = []parityCase{
	upload("0 B", 0),
	upload("1 B", 1),
	upload("64 KiB", 64<<10),
	upload("20 MiB", 20<<20),
	one("upload in chunks", func(c *client) answer {
		body := multipart(content(64 << 10))
		return c.chunked("POST", "/api/upload", []string{body[:10], body[10:5000], body[5000:]}, multipartType)
	}),
	one("two files and fields", func(c *client) answer {
		return c.do("POST", "/api/upload", []byte(twoFiles), multipartType)
	}),
	sink("9 bytes in chunks", "POST", []string{"123", "456", "789"}),
	sink("3 MiB in chunks", "PUT", []string{content(1 << 20), content(2 << 20)}),
	sink("nothing in chunks", "POST", nil),
	one("chunk extensions and a trailer", func(c *client) answer {
		return c.raw(c.head("POST", "/api/sink", "Transfer-Encoding: chunked") + "3;a=b\r\nabc\r\n0\r\nX-Late: 1\r\n\r\n")
	}),
	one("a body of no length", func(c *client) answer { return c.do("POST", "/api/sink", nil) }),
	one("an empty body", func(c *client) answer { return c.do("POST", "/api/sink", []byte{}) }),
	one("8 MiB with a length", func(c *client) answer {
		return c.do("PUT", "/api/sink", []byte(content(8<<20)), "Content-Type: application/octet-stream")
	}),
	one("100-continue", func(c *client) answer {
		return c.expecting("POST", "/api/sink", content(100<<10), "Content-Type: text/plain")
	}),
	one("a form in chunks", func(c *client) answer {
		return c.chunked("POST", "/api/echo", []string{"a=1", "&b=2"}, formType)
	}),
	one("JSON", func(c *client) answer {
		return c.do("POST", "/api/echo", []byte(`{"a":{"b":[1,2]}}`), "Content-Type: application/json")
	}),
	one("GET with a body", func(c *client) answer {
		return c.do("GET", "/api/echo", []byte("a=1"), formType)
	}),
	one("DELETE with a body", func(c *client) answer {
		return c.do("DELETE", "/api/echo", []byte("a=1"), formType)
	}),
	one("body of a client that says close", func(c *client) answer {
		return c.do("POST", "/api/sink", []byte("abc"), "Connection: close")
	}),
}

// content is n bytes, 20 MiB at most, in which no part is like another for long.
func content(n int) string { return largest()[:n] }

var largest = sync.OnceValue(func() string {
	b := make([]byte, 0, 21<<20)
	for i := 0; len(b) < 20<<20; i++ {
		b = append(strconv.AppendInt(b, int64(i)*int64(i), 10), ',')
	}
	return string(b)
})

const (
	boundary      = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
	multipartType = "Content-Type: multipart/form-data; boundary=" + boundary
)

func multipart(file string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" +
		"--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"Über uns.bin\"\r\n" +
		"Content-Type: application/octet-stream\r\n\r\n" + file + "\r\n--" + boundary + "--\r\n"
}

var twoFiles = strings.ReplaceAll("--B\r\nContent-Disposition: form-data; name=\"files[]\"; filename=\"a.txt\"\r\n"+
	"Content-Type: text/plain\r\n\r\nfirst\r\n--B\r\nContent-Disposition: form-data; name=\"files[]\"; filename=\"b.txt\"\r\n"+
	"Content-Type: text/plain\r\n\r\nsecond\n\r\n--B\r\nContent-Disposition: form-data; name=\"k[x]\"\r\n\r\nv\r\n--B--\r\n",
	"--B", "--"+boundary)

func upload(name string, size int) parityCase {
	return one("upload of "+name, func(c *client) answer {
		a := c.do("POST", "/api/upload", []byte(multipart(content(size))), multipartType)
		if got := a.leaves["files.file.size"]; got != fmt.Sprint(size) {
			c.t.Errorf("PHP has %q bytes of the upload, want %d: %s", got, size, a.line)
		}
		return a
	})
}

func sink(name, method string, pieces []string) parityCase {
	return one(name, func(c *client) answer {
		return c.chunked(method, "/api/sink", pieces, "Content-Type: application/octet-stream")
	})
}
