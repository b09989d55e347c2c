package fastcgi

import (
	"net/http"
	"strconv"
	"strings"
)

// appendRequest appends everything that r and env say. What gofast.BasicParamsMap guesses from the request is in env.
func appendRequest(list []Param, r *http.Request, env *Env) []Param {
	list = appendEnv(list, env)
	list = appendURI(list, r, env)
	list = appendAddresses(list, env)
	list = append(list,
		Param{"CONTENT_LENGTH", contentLength(r)},
		Param{"CONTENT_TYPE", r.Header.Get("Content-Type")},
		Param{"GATEWAY_INTERFACE", "CGI/1.1"},
		Param{"SERVER_PROTOCOL", r.Proto},
		Param{"REDIRECT_STATUS", "200"}, // PHP refuses to run without it
	)
	return appendHeaders(list, r)
}

// appendEnv names the script in the same resolved folder everywhere: where DOCUMENT_ROOT and SCRIPT_FILENAME, or the
// last parts of SCRIPT_NAME and SCRIPT_FILENAME, differ, Symfony computes a wrong base URL. No PATH_INFO is sent; the
// front controller routes by REQUEST_URI.
func appendEnv(list []Param, env *Env) []Param {
	script := or(env.Script, "/index.php")
	return append(list,
		Param{"DOCUMENT_ROOT", env.Root},
		Param{"SCRIPT_FILENAME", env.Root + script},
		Param{"SCRIPT_NAME", script},
		Param{"DOCUMENT_URI", script},
		Param{"SERVER_SOFTWARE", or(env.Software, "gateway")},
	)
}

// appendURI takes the query from the same bytes. They are not decoded or cleaned: signed URLs are checked against them.
func appendURI(list []Param, r *http.Request, env *Env) []Param {
	uri := env.RequestURI
	if uri == "" {
		uri = r.URL.RequestURI()
	}
	_, query, _ := strings.Cut(uri, "?")
	return append(list,
		Param{"REQUEST_URI", uri},
		Param{"QUERY_STRING", query},
		Param{"REQUEST_METHOD", or(r.Method, http.MethodGet)},
	)
}

// appendAddresses leaves HTTPS out when the scheme is http, since PHP code often only asks whether it is set, and
// REMOTE_HOST always, which would need a look-up.
func appendAddresses(list []Param, env *Env) []Param {
	scheme := or(env.Scheme, "http")
	list = append(list,
		Param{"REQUEST_SCHEME", scheme},
		Param{"SERVER_NAME", env.ServerName},
		Param{"SERVER_PORT", env.ServerPort},
		Param{"REMOTE_ADDR", env.RemoteAddr},
	)
	if scheme == "https" {
		list = append(list, Param{"HTTPS", "on"})
	}
	if env.ServerAddr != "" {
		list = append(list, Param{"SERVER_ADDR", env.ServerAddr})
	}
	if env.RemotePort != "" {
		list = append(list, Param{"REMOTE_PORT", env.RemotePort})
	}
	return list
}

// contentLength promises exactly what will be sent: PHP waits for ever for what is missing. A request without
// a body and without a length of its own has an empty CONTENT_LENGTH, as behind nginx.
func contentLength(r *http.Request) string {
	if r.ContentLength > 0 || len(r.Header["Content-Length"]) > 0 {
		return strconv.FormatInt(r.ContentLength, 10)
	}
	return ""
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
