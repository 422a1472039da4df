package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{{"-busy", "1"}, {"-locked"}} {
		if err := run(context.Background(), append(args, "-runs", "1", "-iterations", "50"), &out); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(out.String(), "classic ") != 1 || strings.Count(out.String(), "discrete ") != 2 {
		t.Error(out.String())
	}
}
