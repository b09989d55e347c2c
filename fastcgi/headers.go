package fastcgi

import (
	"net/http"
	"strings"
)

// appendHeaders appends one HTTP_ param for each header of the request that may reach PHP. No X-Forwarded header is
// added: to PHP we are the web server, and whoever calls has dropped those that a client may not send.
func appendHeaders(list []Param, r *http.Request) []Param {
	named := r.Header["Connection"]
	for name, values := range r.Header {
		if len(values) == 0 || isHop(name) || len(named) > 0 && listed(named, name) {
			continue
		}
		if param, ok := paramName(name); ok {
			list = append(list, Param{param, joinValues(name, values)})
		}
	}
	if r.Host != "" {
		list = append(list, Param{"HTTP_HOST", r.Host})
	}
	return list
}

// joinValues makes one value of a repeated header's, as RFC 9110, 5.3 and RFC 6265, 5.4 have it.
func joinValues(name string, values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	if name == "Cookie" {
		return strings.Join(values, "; ")
	}
	return strings.Join(values, ", ")
}

// paramName returns the name under which PHP gets a header, and false for one that it must not get. A name with
// anything but letters, digits and dashes could become the same param as another header; Proxy would become
// HTTP_PROXY, which libraries take for a setting; the content headers have params of their own.
func paramName(header string) (string, bool) {
	if param, ok := commonParams[header]; ok {
		return param, param != ""
	}
	for i := range len(header) {
		if c := header[i]; !isAlnum(c) && c != '-' {
			return "", false
		}
	}
	if param := foldName(header); !withheld(param) {
		return param, true
	}
	return "", false
}

// foldName is the rule of CGI (RFC 3875, 4.1.18). Names that differ only in what is folded here were refused before.
func foldName(header string) string {
	b := make([]byte, 0, 64)
	b = append(b, "HTTP_"...)
	for i := range len(header) {
		switch c := header[i]; {
		case c == '-':
			b = append(b, '_')
		case 'a' <= c && c <= 'z':
			b = append(b, c-'a'+'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// withheld are names that cannot come from a header, however it was spelled.
func withheld(param string) bool {
	switch param {
	case "HTTP_PROXY", "HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH", "HTTP_HOST", "HTTP_":
		return true
	}
	return false
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isHop reports whether a header, in canonical form, is about one connection and not about the message.
func isHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// listed reports whether name is one of the comma-separated tokens of values.
func listed(values []string, name string) bool {
	for _, value := range values {
		for token := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(token, " \t"), name) {
				return true
			}
		}
	}
	return false
}

// commonParams saves building the names that nearly every request has. It is never changed.
var commonParams = func() map[string]string {
	m := make(map[string]string)
	for _, name := range []string{
		"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Access-Control-Request-Headers",
		"Access-Control-Request-Method", "Authorization", "Cache-Control", "Cdn-Loop", "Cf-Connecting-Ip",
		"Cf-Ipcountry", "Cf-Ray", "Cf-Visitor", "Cookie", "Date", "Device-Memory", "Dnt", "Expect", "Forwarded", "From",
		"If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Origin", "Pragma",
		"Priority", "Purpose", "Range", "Referer", "Save-Data", "Sec-Ch-Ua", "Sec-Ch-Ua-Mobile",
		"Sec-Ch-Ua-Platform", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-Gpc",
		"Sec-Purpose", "Traceparent", "Tracestate", "True-Client-Ip", "Upgrade-Insecure-Requests", "User-Agent", "Via",
		"X-Amzn-Trace-Id", "X-Correlation-Id", "X-Csrf-Token", "X-Forwarded-For", "X-Forwarded-Host",
		"X-Forwarded-Port", "X-Forwarded-Proto", "X-Http-Method-Override", "X-Inertia", "X-Inertia-Partial-Component",
		"X-Inertia-Partial-Data", "X-Inertia-Version", "X-Livewire", "X-Real-Ip", "X-Request-Id",
		"X-Requested-With", "X-Socket-Id", "X-Xsrf-Token",
	} {
		m[name] = foldName(name)
	}
	for _, name := range []string{"Content-Length", "Content-Type", "Host", "Proxy"} {
		m[name] = ""
	}
	return m
}()
