package conf

// form is a way to write a value as a string. No form takes the empty one: it means that an optional
// key is not set.
type form struct {
	want  string
	parse func(src *source, s string) (any, error)
}

var forms = map[string]form{
	"":         {"a string", plain(func(s string) (string, error) { return s, nil })},
	"upstream": {"the name of an upstream", plain(func(s string) (string, error) { return s, nil })},
	"secret":   {"a string", plain(func(s string) (string, error) { return s, nil })},
	"duration": {`a duration such as "500ms", "30s", "10m", "1h30m" or "30d"`, plain(parseDuration)},
	"size":     {`a size such as "512B", "64KiB", "128MiB" or "1GiB"`, plain(parseSize)},
	"host":     {`a name such as "shop.example", "*.shop.example", or "*" for all others`, plain(parseHost)},
	"name":     {`a name such as "shop.example"`, plain(checked(checkName))},
	"token":    {"a name of letters, digits, - and _", plain(checked(checkToken))},
	"file":     {`a file below root such as "index.php"`, plain(parseFile)},
	"path":     {"a path", func(src *source, s string) (any, error) { return parsePath(src, s) }},
	"output":   {`"stdout", "stderr" or a path`, parseOutput},
	"range":    {`a network such as "10.0.0.0/8", an address, "private", "loopback" or "file:/etc/gateway/proxies.txt"`, parseRange},
	"listen":   {`an address such as "https://:443" or "http://127.0.0.1:8080"`, plain(parseListen)},
	"admin":    {`"unix:/run/gateway/admin.sock" or an address such as "http://127.0.0.1:9180"`, plain(parseAdmin)},
	"fastcgi":  {`an address such as "unix:/run/php/php8.2-fpm.sock" or "127.0.0.1:9000"`, plain(parseFastCGI)},
	"http":     {`an address such as "127.0.0.1:8000" or "unix:/run/octane.sock"`, plain(parseHTTP)},
	"rate":     {`a rate such as "10/s", "300/m" or "5000/h"`, plain(parseFrequency)},
	"rate_key": {`"client", "site" or "header:NAME"`, plain(parseRateKey)},
	"url":      {`a URL such as "http://127.0.0.1:9091/api/verify"`, plain(checked(checkURL))},
	"words":    {"a line of text", plain(checked(checkWords))},
	"header":   {"the name of a header, of letters, digits and -", plain(parseHeaderName)},
	"https":    {"a URL that begins with https://", plain(parseHTTPS)},
	"resolver": {`an address such as "1.1.1.1:53"`, plain(parseResolver)},
	"redis":    {`an address such as "127.0.0.1:6379" or "unix:/run/redis/redis.sock"`, plain(parseRedis)},
	"hash_key": {`"client", "uri", "header:NAME" or "cookie:NAME"`, plain(parseHashKey)},
}

// plain lets a parser that does not care for its file serve as one of a form.
func plain[T any](parse func(string) (T, error)) func(*source, string) (any, error) {
	return func(_ *source, s string) (any, error) { return parse(s) }
}

func checked(check func(string) error) func(string) (string, error) {
	return func(s string) (string, error) { return s, check(s) }
}

func parseOutput(src *source, s string) (any, error) {
	if s == "stdout" || s == "stderr" {
		return s, nil
	}
	return parsePath(src, s)
}
