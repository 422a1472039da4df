package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program that fails is noted, and the others have their lines and the sum below them.
func TestFailedProgram(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"chronoscope": `echo '{"results": [{"verdict": "trusted", "estimate": {"value": 5e6, "lo": 4.95e6, "hi": 5.05e6}, "reasons": []}]}'`,
		"hyperfine":   `for a; do case $a in --export-json=*) echo '{"results": [{"mean": 0.004, "stddev": 0.0004, "times": [1, 1, 1, 1]}]}' > "${a#--export-json=}";; esac; done`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	var out strings.Builder
	experiment{tool: "chronoscope", limit: time.Second}.table(t.Context(), &out, []program{{"one", "false", false}, {"two", "true", false}})
	for _, want := range []string{"one failed: exit status 1", "two trusted 5.000 1.00 % 4.000 10.00 %", "of 1: 1 usable, 1 trusted, 1 of these no wider than hyperfine's and 1 %"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
