package main

import (
	"strings"
	"testing"
)

func TestBias(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-trials", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "intervals cover"); n != 48 || strings.Contains(out.String(), "NaN") {
		t.Errorf("%d lines:\n%s", n, &out)
	}
}
