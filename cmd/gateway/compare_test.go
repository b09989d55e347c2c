package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompareOfTwoFiles(t *testing.T) {
	good := filepath.Join("..", "..", "proxy", "bench", "report", "testdata", "schema1.json")
	var out bytes.Buffer
	err := compare(context.Background(), options{files: []string{good, good}}, &out, io.Discard)
	if text := out.String(); err != nil || !strings.Contains(text, "not to be compared") {
		t.Errorf("comparison: %v\n%s", err, text)
	}
	if err := compare(context.Background(), options{files: []string{good, "options.go"}}, io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "options.go: ") {
		t.Errorf("no result: %v", err)
	}
	for _, args := range [][]string{{"compare"}, {"compare", good}, {"compare", good, good, good}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is no fault", args)
		}
	}
}
