package observe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// Lines wait in memory for a fifth of a second at most: a person who watches does not notice, and a busy
// gateway writes some hundred lines with one call.
const (
	bufferSize    = 256 << 10
	flushInterval = 200 * time.Millisecond
)

// LogConfig describes a logger.
type LogConfig struct {
	Format string // "json" (zero) or "console"
	Level  string // "debug", "info" (zero), "warn" or "error"
	Output string // "stdout" (zero), "stderr" or the path of a file, which is appended to
}

// Logger is a zap logger that owns its buffer and its file.
type Logger struct {
	*zap.Logger
	buffer *zapcore.BufferedWriteSyncer
	file   io.Closer
}

// NewLogger returns a logger that gathers lines for a moment before it writes them. Close it.
func NewLogger(cfg LogConfig) (*Logger, error) {
	encoder, err := newEncoder(cfg.Format)
	if err != nil {
		return nil, err
	}
	level, err := parseLevel(cfg.Level)
	if err != nil {
		return nil, err
	}
	output, file, err := openOutput(cfg.Output)
	if err != nil {
		return nil, err
	}
	buffer := &zapcore.BufferedWriteSyncer{WS: output, Size: bufferSize, FlushInterval: flushInterval}
	core := zapcore.NewCore(encoder, buffer, level)
	return &Logger{Logger: zap.New(core), buffer: buffer, file: file}, nil
}

// Close writes what is still held and closes the file, if there is one. Nothing may be logged afterwards.
func (l *Logger) Close() error {
	err := l.buffer.Stop()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

func newEncoder(format string) (zapcore.Encoder, error) {
	cfg := zapcore.EncoderConfig{
		TimeKey:        "time",
		LevelKey:       "level",
		NameKey:        "logger",
		MessageKey:     "msg",
		LineEnding:     "\n",
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeTime:     zapcore.TimeEncoderOfLayout(timeLayout),
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	switch format {
	case "", "json":
		return accessEncoder{zapcore.NewJSONEncoder(cfg)}, nil
	case "console":
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		return lineEncoder{zapcore.NewConsoleEncoder(cfg)}, nil
	}
	return nil, fmt.Errorf("log.format: unknown %q; want json or console", format)
}

// lineEncoder keeps an entry on its line. The console format writes fields as JSON but the message as it
// is, and messages that net/http or another library makes may quote what a client sent.
type lineEncoder struct{ zapcore.Encoder }

func (e lineEncoder) Clone() zapcore.Encoder { return lineEncoder{e.Encoder.Clone()} }

func (e lineEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	entry.Message = clean(entry.Message)
	return e.Encoder.EncodeEntry(entry, fields)
}

func parseLevel(level string) (zapcore.Level, error) {
	switch level {
	case "debug":
		return zapcore.DebugLevel, nil
	case "", "info":
		return zapcore.InfoLevel, nil
	case "warn":
		return zapcore.WarnLevel, nil
	case "error":
		return zapcore.ErrorLevel, nil
	}
	return 0, fmt.Errorf("log.level: unknown %q; want debug, info, warn or error", level)
}

// openOutput hides the Sync of files: zap calls it at every flush, and to wait for a disk five times a
// second is not what an access log is worth.
func openOutput(output string) (zapcore.WriteSyncer, io.Closer, error) {
	switch output {
	case "", "stdout":
		return zapcore.AddSync(writerOnly{os.Stdout}), nil, nil
	case "stderr":
		return zapcore.AddSync(writerOnly{os.Stderr}), nil, nil
	}
	file, err := os.OpenFile(output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, nil, fmt.Errorf("log.output: %w", err)
	}
	return zapcore.AddSync(writerOnly{file}), file, nil
}
