package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"chronoscope/process"
)

// If a run fails, the pairs before it are printed.
func TestFailedRun(t *testing.T) {
	var out strings.Builder
	e := experiment{pairs: 5, until: time.Now().Add(time.Hour), stdout: &out}
	runs := 0
	err := e.compare(t.Context(), "switches", func(traced bool) (process.Run, error) {
		if runs++; runs > 4 {
			return process.Run{}, errors.New("interrupted")
		}
		r := process.Run{WallNs: 200e6, UserNs: 100e6}
		if traced {
			r.UserNs = 103e6
		}
		return r, nil
	}, func() {})
	if err == nil || !strings.Contains(out.String(), "2 pairs of 100.0 ms of CPU time: CPU time +3.00 %") {
		t.Errorf("%v: %q", err, out.String())
	}
}

// A subject for which there was no time has a line that says so.
func TestNoPair(t *testing.T) {
	var out strings.Builder
	e := experiment{pairs: 5, until: time.Now(), stdout: &out}
	if err := e.compare(t.Context(), "[sleep 0.05]", nil, nil); err != nil || strings.Join(strings.Fields(out.String()), " ") != "[sleep 0.05] no pair within -time" {
		t.Errorf("%v: %q", err, out.String())
	}
}
