package observe

import (
	"time"

	"go.uber.org/zap/zapcore"
)

// fields is what the access line needs of a format. There are two: jsonLine, and zap's encoders for all else.
type fields interface {
	// text adds a value that somebody else chose, made harmless by clean.
	text(key, value string)
	integer(key string, n int64)
	flag(key string, set bool)
	milliseconds(key string, d time.Duration)
	// texts adds a list; each of its values is as in text.
	texts(key string, values []string)
}

// describe writes the access line, but for what begins every line of a log. Addresses of pages go through BlankURI.
func (x *exchange) describe(f fields) {
	rec := &x.record
	f.text("request_id", rec.ID)
	f.text("method", x.method)
	f.text("host", x.host)
	f.text("uri", BlankURI(x.uri))
	f.text("proto", x.proto)
	f.integer("status", int64(x.status()))
	f.integer("bytes_out", x.bytesOut())
	f.integer("bytes_in", x.bytesIn())
	f.milliseconds("duration_ms", x.elapsed)
	optional(f, "site", rec.Site)
	optional(f, "variant", rec.Variant)
	if rec.Upstream != "" {
		describeUpstream(f, rec)
	}
	x.describeClient(f)
	x.describeOutcome(f)
}

func describeUpstream(f fields, rec *Record) {
	f.text("upstream", rec.Upstream)
	optional(f, "backend", rec.Backend)
	f.integer("attempts", int64(rec.Attempts))
	f.flag("reused", rec.Reused)
	f.milliseconds("queue_ms", rec.Queue)
	f.milliseconds("dial_ms", rec.Dial)
	f.milliseconds("first_byte_ms", rec.FirstByte)
	f.milliseconds("body_ms", rec.Body)
}

func (x *exchange) describeClient(f fields) {
	client := x.record.ClientAddr
	if client == "" {
		client = x.client
	}
	f.text("client", client)
	optional(f, "user_agent", x.userAgent)
	optional(f, "referer", BlankURI(x.referer))
}

func (x *exchange) describeOutcome(f fields) {
	rec := &x.record
	ifSet(f, "static", rec.Static)
	ifSet(f, "truncated", rec.Truncated)
	ifSet(f, "aborted", !x.returned)
	optional(f, "note", rec.Note)
	if rec.Err != nil {
		optional(f, "error", rec.Err.Error())
	}
	if len(rec.Stderr) > 0 {
		f.texts("stderr", rec.Stderr)
	}
}

func optional(f fields, key, value string) {
	if value != "" {
		f.text(key, value)
	}
}

func ifSet(f fields, key string, set bool) {
	if set {
		f.flag(key, true)
	}
}

// MarshalLogObject describes the exchange to an encoder of zap's.
func (x *exchange) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	f := zapFields{enc: enc}
	x.describe(&f)
	return f.err
}

// zapFields are fields in a format of zap's.
type zapFields struct {
	enc zapcore.ObjectEncoder
	err error
}

func (f *zapFields) text(key, value string)      { f.enc.AddString(key, clean(value)) }
func (f *zapFields) integer(key string, n int64) { f.enc.AddInt64(key, n) }
func (f *zapFields) flag(key string, set bool)   { f.enc.AddBool(key, set) }

func (f *zapFields) milliseconds(key string, d time.Duration) {
	f.enc.AddFloat64(key, milliseconds(d))
}

func (f *zapFields) texts(key string, values []string) { f.err = f.enc.AddArray(key, lines(values)) }

// milliseconds keeps three decimals: below a microsecond there is only noise.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type lines []string

func (l lines) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, line := range l {
		enc.AppendString(clean(line))
	}
	return nil
}
