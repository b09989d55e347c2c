package observe

import (
	"time"

	"go.uber.org/zap/zapcore"
)

// MarshalLogObject writes the access line. Whatever a client, an application or a backend can choose
// goes through clean, addresses of pages through BlankURI before.
func (x *exchange) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	rec := &x.record
	enc.AddString("request_id", rec.ID)
	enc.AddString("method", clean(x.method))
	enc.AddString("host", clean(x.host))
	enc.AddString("uri", clean(BlankURI(x.uri)))
	enc.AddString("proto", clean(x.proto))
	enc.AddInt("status", x.status())
	enc.AddInt64("bytes_out", x.bytesOut())
	enc.AddInt64("bytes_in", x.bytesIn())
	enc.AddFloat64("duration_ms", milliseconds(x.elapsed))
	addText(enc, "site", rec.Site)
	addText(enc, "variant", rec.Variant)
	if rec.Upstream != "" {
		addUpstream(enc, rec)
	}
	x.addClient(enc)
	return x.addOutcome(enc)
}

func addUpstream(enc zapcore.ObjectEncoder, rec *Record) {
	enc.AddString("upstream", rec.Upstream)
	addText(enc, "backend", rec.Backend)
	enc.AddInt("attempts", rec.Attempts)
	enc.AddBool("reused", rec.Reused)
	enc.AddFloat64("queue_ms", milliseconds(rec.Queue))
	enc.AddFloat64("dial_ms", milliseconds(rec.Dial))
	enc.AddFloat64("first_byte_ms", milliseconds(rec.FirstByte))
	enc.AddFloat64("body_ms", milliseconds(rec.Body))
}

func (x *exchange) addClient(enc zapcore.ObjectEncoder) {
	client := x.record.ClientAddr
	if client == "" {
		client = x.client
	}
	enc.AddString("client", clean(client))
	addText(enc, "user_agent", x.userAgent)
	addText(enc, "referer", BlankURI(x.referer))
}

func (x *exchange) addOutcome(enc zapcore.ObjectEncoder) error {
	rec := &x.record
	addFlag(enc, "static", rec.Static)
	addFlag(enc, "truncated", rec.Truncated)
	addFlag(enc, "aborted", !x.returned)
	addText(enc, "note", rec.Note)
	if rec.Err != nil {
		// Not AddReflected or zap.Error: those add a second, verbose form that may hold line breaks.
		addText(enc, "error", rec.Err.Error())
	}
	if len(rec.Stderr) == 0 {
		return nil
	}
	return enc.AddArray("stderr", lines(rec.Stderr))
}

func addText(enc zapcore.ObjectEncoder, key, value string) {
	if value != "" {
		enc.AddString(key, clean(value))
	}
}

func addFlag(enc zapcore.ObjectEncoder, key string, set bool) {
	if set {
		enc.AddBool(key, true)
	}
}

// milliseconds keeps three decimals: below a microsecond there is only noise.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type lines []string

func (l lines) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, line := range l {
		enc.AppendString(clean(line))
	}
	return nil
}
