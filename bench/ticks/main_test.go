package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// Each part is printed, or says what this machine lacks.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-sleep", "20ms"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"A ran for 22 ms and is charged 30", "B ran for 8 ms and is charged 0"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines < 7 {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-sleep", "1ms"}} {
		if err := run(context.Background(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
