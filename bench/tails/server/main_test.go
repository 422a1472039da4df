package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Each has percentiles, whatever they are.
func TestServer(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-rate", "200", "-duration", "1s", "-stall", "0"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"generator, from when it was due p50", "meter 1 in 1   from when due    p50", "meter 1 in 128 from Start"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %q in\n%s", name, &out)
		}
	}
	if err := run(t.Context(), []string{"-rate", "0"}, &out); err == nil {
		t.Error("a rate of 0 was taken")
	}
}

// A request is due when the generator itself means to send it.
func TestDue(t *testing.T) {
	const rate = 200
	began := time.Unix(1e9, 0)
	s := service{interval: time.Second / rate}
	s.began.Store(&began)
	for number := range 3 {
		wait, _ := vegeta.Rate{Freq: rate, Per: time.Second}.Pace(0, uint64(number))
		if due := s.due(number).Sub(began); due != wait {
			t.Errorf("request %d is due after %v, and sent after %v", number, due, wait)
		}
	}
}

// An interrupted attack ends with the stalls, and shows what it has.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var out strings.Builder
	err := run(ctx, []string{"-rate", "200", "-duration", "5s"}, &out)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(out.String(), "generator, from when it sent    p50") {
		t.Errorf("%v:\n%s", err, &out)
	}
	if strings.HasPrefix(out.String(), "1000 requests") {
		t.Error("the attack went on")
	}
}
