package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/clock"
)

// Two runs add up in their file.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counts.json")
	var out bytes.Buffer
	for range 2 {
		out.Reset()
		err := run(context.Background(), []string{"-duration", "200ms", "-busy", "1", "-merge", file}, &out)
		var missing *clock.Unavailable
		if errors.As(err, &missing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(out.String(), "the truth; off by") {
		t.Error(out.String())
	}
	if err := run(context.Background(), []string{"-clients", "0"}, &out); err == nil {
		t.Error("no clients were accepted")
	}
}
