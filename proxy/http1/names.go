package http1

// canonical returns a field name as http.Header has it, and whether it is one at all (RFC 9110, 5.1). It allocates for
// names that are neither written that way nor well known.
func canonical(name string) (string, bool) {
	upper, changed := true, false
	for i := range len(name) {
		c := name[i]
		if !isToken[c] {
			return "", false
		}
		if upper && 'a' <= c && c <= 'z' || !upper && 'A' <= c && c <= 'Z' {
			changed = true
		}
		upper = c == '-'
	}
	if !changed {
		return name, name != ""
	}
	return recase(name), true
}

func recase(name string) string {
	var short [64]byte
	to := short[:0]
	upper := true
	for i := range len(name) {
		c := name[i]
		switch {
		case upper && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		case !upper && 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		to = append(to, c)
		upper = c == '-'
	}
	if known, ok := wellKnown[string(to)]; ok {
		return known
	}
	return string(to)
}

// wellKnown are names that clients send in lower case.
var wellKnown = set(
	"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection",
	"Content-Length", "Content-Type", "Cookie", "Dnt", "Expect", "Host", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Range", "Origin", "Pragma", "Priority", "Range", "Referer", "Sec-Ch-Ua", "Sec-Ch-Ua-Mobile", "Sec-Ch-Ua-Platform",
	"Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-Gpc", "Sec-Websocket-Extensions",
	"Sec-Websocket-Key", "Sec-Websocket-Protocol", "Sec-Websocket-Version", "Te", "Traceparent", "Tracestate",
	"Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "X-Csrf-Token", "X-Forwarded-For",
	"X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Inertia", "X-Inertia-Version", "X-Livewire",
	"X-Request-Id", "X-Requested-With", "X-Socket-Id", "X-Xsrf-Token",
)

func set(names ...string) map[string]string {
	m := make(map[string]string, len(names))
	for _, name := range names {
		m[name] = name
	}
	return m
}
