package observe

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// encodeBoth encodes x in the short way and in zap's.
func encodeBoth(t testing.TB, entry zapcore.Entry, x *exchange) (short, general string) {
	t.Helper()
	encoder, err := newEncoder("json")
	if err != nil {
		t.Fatal(err)
	}
	var lines [2]string
	for i, e := range []zapcore.Encoder{encoder, encoder.(accessEncoder).Encoder} {
		buf, err := e.EncodeEntry(entry, []zap.Field{zap.Inline(x)})
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = buf.String()
		buf.Free()
	}
	return lines[0], lines[1]
}

func accessEntry() zapcore.Entry {
	return zapcore.Entry{Level: zap.InfoLevel, Message: "request", Time: time.Date(2026, 7, 3, 14, 5, 9, 7_654_321, time.UTC)}
}

// ordinary is the exchange of a page that PHP made.
func ordinary() *exchange {
	x := &exchange{
		method: "GET", host: "shop.example", uri: "/products?page=2&token=abc", proto: "HTTP/1.1", client: "192.0.2.7",
		userAgent: `Mozilla/5.0 "x" \ é`, referer: "https://shop.example/", elapsed: 12_345_678, returned: true,
		record: Record{
			ID: "0123456789abcdef0123456789abcdef", Site: "shop.example", Variant: "fpm", Upstream: "fpm", Backend: "unix:/run/fpm.sock",
			Attempts: 1, Dial: 45_000, FirstByte: 12_000_000, Body: 120_900,
		},
	}
	x.writer.status, x.writer.written = 200, 5120
	return x
}

func TestAccessLine(t *testing.T) {
	const want = `{"level":"info","time":"2026-07-03T14:05:09.007Z","msg":"request","request_id":"0123456789abcdef0123456789abcdef",` +
		`"method":"GET","host":"shop.example","uri":"/products?page=2&token=***","proto":"HTTP/1.1","status":200,"bytes_out":5120,` +
		`"bytes_in":0,"duration_ms":12.345,"site":"shop.example","variant":"fpm","upstream":"fpm","backend":"unix:/run/fpm.sock",` +
		`"attempts":1,"reused":false,"queue_ms":0,"dial_ms":0.045,"first_byte_ms":12,"body_ms":0.12,"client":"192.0.2.7",` +
		`"user_agent":"Mozilla/5.0 \"x\" \\ é","referer":"https://shop.example/"}` + "\n"
	short, general := encodeBoth(t, accessEntry(), ordinary())
	if short != want {
		t.Errorf("line = %s\nwant   %s", short, want)
	}
	if general != want {
		t.Errorf("zap's line = %s\nwant         %s", general, want)
	}
}

func TestAccessLineIsZapsByteForByte(t *testing.T) {
	cases := []struct {
		name string
		edit func(x *exchange, entry *zapcore.Entry)
	}{
		{"nothing known", func(x *exchange, _ *zapcore.Entry) { *x = exchange{} }},
		{"level and zone", func(_ *exchange, entry *zapcore.Entry) {
			entry.Level, entry.Time = zap.WarnLevel, entry.Time.In(time.FixedZone("", -19800))
		}},
		{"zone again in the same second", func(_ *exchange, entry *zapcore.Entry) { entry.Time = entry.Time.In(time.FixedZone("", 3600)) }},
		{"millisecond of three digits", func(_ *exchange, entry *zapcore.Entry) { entry.Time = entry.Time.Add(900 * time.Millisecond) }},
		{"year of five digits", func(_ *exchange, entry *zapcore.Entry) { entry.Time = entry.Time.AddDate(9000, 0, 0) }},
		{"named logger", func(_ *exchange, entry *zapcore.Entry) { entry.LoggerName = "a.b" }},
		{"control bytes", func(x *exchange, _ *zapcore.Entry) { x.uri = "/\x00\r\n\t\x1b[1m\x7f" }},
		{"invalid UTF-8", func(x *exchange, _ *zapcore.Entry) { x.userAgent = "a\xff\xc0b \xed\xa0\x80" }},
		{"separators and signs", func(x *exchange, _ *zapcore.Entry) { x.host = "\u2028\u2029\u202e\uFFFD\u0085" }},
		{"quotes and markup", func(x *exchange, _ *zapcore.Entry) { x.referer = `"<a href='\'>&amp;"` }},
		{"other scripts", func(x *exchange, _ *zapcore.Entry) { x.uri = "/日本/🙂" }},
		{"longest text", func(x *exchange, _ *zapcore.Entry) { x.userAgent = strings.Repeat("a", maxText) }},
		{"text too long", func(x *exchange, _ *zapcore.Entry) { x.userAgent = strings.Repeat("a", maxText+1) }},
		{"rune cut in two", func(x *exchange, _ *zapcore.Entry) { x.userAgent = "a" + strings.Repeat("é", maxText) }},
		{"every outcome", func(x *exchange, _ *zapcore.Entry) {
			x.returned = false
			x.record.Static, x.record.Truncated, x.record.Reused, x.record.Status = true, true, true, 499
			x.record.Note, x.record.Err = "spooled", errors.New("two\nlines")
			x.record.Stderr = []string{"PHP Warning: \"x\"", "", "\xff"}
		}},
		{"error without words", func(x *exchange, _ *zapcore.Entry) { x.record.Err = errors.New("") }},
		{"negative durations", func(x *exchange, _ *zapcore.Entry) { x.elapsed, x.record.Dial = -1, -1_234_567 }},
		{"longest duration", func(x *exchange, _ *zapcore.Entry) { x.elapsed = math.MaxInt64 }},
		{"numbers", func(x *exchange, _ *zapcore.Entry) {
			x.writer.written, x.tunnelIn, x.record.Attempts = math.MaxInt64, -1, math.MinInt
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x, entry := ordinary(), accessEntry()
			c.edit(x, &entry)
			wantSame(t, entry, x)
		})
	}
}

func wantSame(t *testing.T, entry zapcore.Entry, x *exchange) {
	t.Helper()
	short, general := encodeBoth(t, entry, x)
	if short != general {
		t.Errorf("line = %q\nzap's  %q", short, general)
	}
	if !json.Valid([]byte(short)) {
		t.Errorf("line is no JSON: %q", short)
	}
}

// zap's encoder writes as many digits as a float64 needs to be read again; the short way must come to the same.
func TestEveryMillisecondIsZaps(t *testing.T) {
	x := new(exchange)
	for us := int64(1); us < math.MaxInt64/1000; us += 1 + us/3 {
		for n := max(0, us-2); n < us+3; n++ {
			x.elapsed = time.Duration(n) * time.Microsecond
			if short, general := encodeBoth(t, accessEntry(), x); short != general {
				t.Fatalf("%d µs: line = %s\nzap's %s", n, short, general)
			}
		}
	}
}

func TestLoggerWithFieldsKeepsThem(t *testing.T) {
	logs := newSink()
	logs.logger(t, "json").With(zap.String("zone", "a")).Info("request", zap.Inline(ordinary()))
	wantFields(t, logs.nextJSON(t), map[string]any{"zone": "a", "status": 200.0})
}

func FuzzAccessLine(f *testing.F) {
	f.Add("/a?token=b", "Mozilla/5.0", "https://me:pw@shop.example/", "line", int64(1500), int64(1_767_225_599_999_999_999), true)
	f.Add("/\x00\n", "\u2028\xff", `"\`, "", int64(-1), int64(0), false)
	f.Add("", strings.Repeat("é", maxText), "\uFFFD", "\xed\xa0\x80", int64(math.MaxInt64), int64(-1), true)
	f.Fuzz(func(t *testing.T, uri, agent, referer, stderr string, nanoseconds, now int64, set bool) {
		x, entry := ordinary(), accessEntry()
		x.uri, x.userAgent, x.referer, x.host, x.elapsed, x.returned = uri, agent, referer, agent, time.Duration(nanoseconds), set
		x.record.Queue, x.record.Static, x.record.Reused = time.Duration(now), set, set
		x.record.Stderr, x.record.Err = []string{stderr, uri}, errors.New(stderr)
		x.writer.written = nanoseconds
		entry.Time = time.Unix(0, now)
		wantSame(t, entry, x)
	})
}
