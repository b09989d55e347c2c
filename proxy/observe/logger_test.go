package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestCloseWritesWhatIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logger, err := NewLogger(LogConfig{Output: path, Level: "warn"})
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("below the level")
	logger.Warn("backend unhealthy", zap.String("backend", "unix:/a"))
	if err := logger.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	appended, kept := strings.CutPrefix(string(got), "before\n")
	if !kept || strings.Count(appended, "\n") != 1 ||
		!strings.Contains(appended, `"level":"warn"`) || !strings.Contains(appended, `"backend":"unix:/a"`) {
		t.Errorf("file holds %q", got)
	}
}

func TestLoggersForTerminals(t *testing.T) {
	for _, output := range []string{"", "stdout", "stderr"} {
		logger, err := NewLogger(LogConfig{Format: "console", Level: "error", Output: output})
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("not written")
		if err := logger.Close(); err != nil {
			t.Errorf("close %q: %v", output, err)
		}
	}
}

func TestBadLogConfigNamesKeyValueAndChoices(t *testing.T) {
	cases := []struct {
		cfg  LogConfig
		want string
	}{
		{LogConfig{Format: "xml"}, `log.format: unknown "xml"; want json or console`},
		{LogConfig{Level: "loud"}, `log.level: unknown "loud"; want debug, info, warn or error`},
		{LogConfig{Output: "/nowhere/at/all"}, "log.output: open /nowhere/at/all: no such file or directory"},
	}
	for _, c := range cases {
		if _, err := NewLogger(c.cfg); err == nil || err.Error() != c.want {
			t.Errorf("error = %v, want %s", err, c.want)
		}
	}
}

func TestDebugLevelWritesDebug(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	logger, err := NewLogger(LogConfig{Output: path, Level: "debug", Format: "console"})
	if err != nil {
		t.Fatal(err)
	}
	logger.Named("certs").Debug("fine")
	logger.Close()
	if got, _ := os.ReadFile(path); !strings.Contains(string(got), "DEBUG\tcerts\tfine\n") {
		t.Errorf("file holds %q", got)
	}
}
