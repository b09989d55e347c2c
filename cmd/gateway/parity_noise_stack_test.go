//go:build stack

package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// What differs between two answers to the same request by chance or by design of the test is made alike before they
// are compared. Each rule says what it hides; there are no others.

// textNoise is replaced wherever it stands in a header or in a text.
var textNoise = []struct {
	pattern *regexp.Regexp
	by      string
}{
	// Laravel encrypts these cookies with a random vector.
	{regexp.MustCompile(`\b(laravel_session|XSRF-TOKEN|secret|gone)=[^;]+`), "$1=ENCRYPTED"},
	// They expire so long after now.
	{regexp.MustCompile(`expires=[A-Z][a-z]{2}, \d{2}[- ][A-Z][a-z]{2}[- ]\d{4} \d{2}:\d{2}:\d{2} GMT`), "expires=TIME"},
	// Laravel counts down to it from when it set the cookie, which may be in the second before.
	{regexp.MustCompile(`Max-Age=7199\b`), "Max-Age=7200"},
	{regexp.MustCompile(`Max-Age=599\b`), "Max-Age=600"},
	// Each session has a token of its own.
	{tokenInput, `name="_token" value="TOKEN"`},
	// Of the parts of an answer to several ranges.
	{regexp.MustCompile(`(boundary=|\n--|^--)([0-9]{20}|[0-9a-f]{60})`), "${1}BOUNDARY"},
	// When an event was made.
	{regexp.MustCompile(`"at":\d+`), `"at":TIME`},
}

// leafNoise is replaced in the members of a JSON object, by name.
var leafNoise = map[string]string{
	"REQUEST_TIME":       "TIME",
	"REQUEST_TIME_FLOAT": "TIME",
	"pid":                "PID",
	"memory":             "BYTES",
	"handled":            "COUNT", // by this worker; the two sides share the workers
}

var tokenInput = regexp.MustCompile(`name="_token" value="([^"]+)"`)

func findToken(body []byte) string {
	if m := tokenInput.FindSubmatch(body); m != nil {
		return string(m[1])
	}
	return ""
}

// quieten makes an answer comparable. The two sides listen on different ports, and each exchange comes from another:
// both are replaced by words where they are the right ones. Where backends get connections of their own, and no word
// of the client's port, REMOTE_PORT is that of such a connection.
func quieten(a *answer, server, client string, resumed bool) {
	_, port, _ := net.SplitHostPort(server)
	_, from, _ := net.SplitHostPort(client)
	text := func(s string) string {
		for _, noise := range textNoise {
			s = noise.pattern.ReplaceAllString(s, noise.by)
		}
		return replacePort(s, port)
	}
	for name, values := range a.header {
		for i, value := range values {
			values[i] = text(value)
			if _, err := http.ParseTime(value); name == "date" && err == nil {
				values[i] = "NOW"
			}
		}
	}
	a.leaves = leaves(a)
	for path, value := range a.leaves {
		name := path[strings.LastIndexByte(path, '.')+1:]
		switch by, noisy := leafNoise[name]; {
		case noisy:
			value = by
		case name == "REMOTE_PORT" && (resumed || value == from):
			value = "CLIENT"
		case value == port:
			value = "PORT"
		}
		a.leaves[path] = text(value)
	}
	if int64(len(a.body)) == a.size && a.leaves == nil {
		a.body = []byte(text(string(a.body)))
	}
}

// replacePort replaces :PORT, but not the beginning of a longer number.
func replacePort(s, port string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, ":"+port)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after != "" && '0' <= after[0] && after[0] <= '9' {
			b.WriteString(":" + port)
		} else {
			b.WriteString(":PORT")
		}
		s = after
	}
}

// leaves flattens a JSON body: {"a":[1]} is a.0 = 1. What is no JSON object has none.
func leaves(a *answer) map[string]string {
	if len(a.body) == 0 || a.body[0] != '{' {
		return nil
	}
	var value map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(a.body)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	flat := make(map[string]string)
	flattenJSON(flat, "", value)
	return flat
}

func flattenJSON(flat map[string]string, path string, value any) {
	join := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			flattenJSON(flat, join(key), member)
		}
	case []any:
		for i, item := range v {
			flattenJSON(flat, join(strconv.Itoa(i)), item)
		}
	default:
		flat[path] = fmt.Sprint(v)
	}
}
