package static

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRanges is how many parts of a file one request may ask for. With more it gets the whole file: each part
// costs a header of its own.
const maxRanges = 32

// send answers r with opened, or with a sidecar of it. http.ServeContent decides between 200, 206, 304, 412
// and 416; here are the headers it is not told by, and whether the body was whole.
func (f *Files) send(w http.ResponseWriter, r *http.Request, opened *file, name string) (Outcome, error) {
	k := kindOf(name)
	h := w.Header()
	body, encoding := opened, ""
	if k.compressible {
		h["Vary"] = append(h["Vary"], "Accept-Encoding")
		if side, coding := f.sidecar(opened, r.Header["Accept-Encoding"]); side != nil {
			defer side.Close()
			body, encoding = side, coding
		}
	}
	h["Content-Type"] = []string{k.contentType}
	h["Etag"] = []string{body.etag(encoding)}
	if isImmutable(name) {
		h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	}
	r = withoutOddRange(r)
	if strings.Contains(r.Header.Get("Range"), ",") {
		body.detach() // the parts are read by a goroutine that may end after us
	}
	now := f.now()
	out := &writer{ResponseWriter: w, encoding: encoding, size: body.size, now: now}
	http.ServeContent(out, r, "", opened.modified(now), body)
	return out.outcome(r, name)
}

// withoutOddRange takes from r a Range that RFC 9110 wants ignored and net/http does not ignore: with HEAD,
// or in a unit other than bytes; or that asks for too many parts.
func withoutOddRange(r *http.Request) *http.Request {
	value := r.Header.Get("Range")
	if value == "" {
		return r
	}
	odd := r.Method != http.MethodGet || !strings.HasPrefix(value, "bytes=") || strings.Count(value, ",") >= maxRanges
	if !odd && !strings.Contains(value, "-0") {
		return r
	}
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	if odd {
		plain.Header.Del("Range")
	} else {
		plain.Header.Set("Range", withoutNothing(value))
	}
	return plain
}

// withoutNothing takes the last no bytes, -0, out of a list of ranges: net/http takes them for a part of the
// file. A list of nothing else is one that no file satisfies.
func withoutNothing(value string) string {
	var some []string
	for item := range strings.SplitSeq(strings.TrimPrefix(value, "bytes="), ",") {
		last, ok := strings.CutPrefix(strings.TrimSpace(item), "-")
		if !ok || last == "" || strings.Trim(last, "0") != "" {
			some = append(some, item)
		}
	}
	if some == nil {
		some = []string{strconv.Itoa(math.MaxInt64) + "-"}
	}
	return "bytes=" + strings.Join(some, ",")
}

// firstStamp is the time before which a modification time says nothing: tools that build the same archive
// twice set 0, 1, or the first day of DOS.
const firstStamp = 315_705_600 // 1980-01-03

// etag returns a strong validator that is equal on all machines to which a file was copied with its time.
// Where that time is no time, it is one of this machine's file alone.
func (f *file) etag(encoding string) string {
	tag := make([]byte, 0, 64)
	tag = append(tag, '"')
	tag = strconv.AppendInt(tag, f.mtime.Nano(), 36)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, f.size, 36)
	if int64(f.mtime.Sec) < firstStamp {
		tag = append(tag, '-')
		tag = strconv.AppendInt(tag, f.ctime.Nano(), 36)
		tag = append(tag, '-')
		tag = strconv.AppendUint(tag, f.inode, 36)
	}
	if encoding != "" {
		tag = append(tag, '-')
		tag = append(tag, encoding...)
	}
	return string(append(tag, '"'))
}

// modified returns the time for Last-Modified: none where it says nothing, or lies in the future, which
// RFC 9110, 8.8.2.1, forbids.
func (f *file) modified(now time.Time) time.Time {
	mtime := time.Unix(f.mtime.Unix())
	if int64(f.mtime.Sec) < firstStamp || mtime.After(now) {
		return time.Time{}
	}
	return mtime
}
