package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterpreter(t *testing.T) {
	folder := t.TempDir()
	for content, want := range map[string]string{
		"#!/bin/sh\necho\n": "/bin/sh", "#! /usr/bin/env bash": "/usr/bin/env bash", "\x7fELF": "", "": "", "#": "",
		"#!/" + strings.Repeat("x", 1000): "/" + strings.Repeat("x", longestInterpreter-3),
	} {
		name := filepath.Join(folder, "command")
		if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := interpreter(name); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
	if got := interpreter(filepath.Join(folder, "none")); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
