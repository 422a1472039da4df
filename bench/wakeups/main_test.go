package main

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"chronoscope/bench/internal/cprogram"
	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/process"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Exit(m.Run())
}

// A plan that is refused is told, although there is no result.
func TestRefusedPlan(t *testing.T) {
	err := run(t.Context(), []string{"-subject", "relative", "-load", "1", "-rights", "without", "-max-time", "0"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "a time above 0") {
		t.Error(err)
	}
}

// On a host that takes 8 % of the CPUs, runs of 100 ms are true for programs of 92 ms or a little less, not only of 99.
func TestTruthOfANoisyHost(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	known := truth{cpus: cpus, losses: cprogram.Losses{Watch: func(context.Context, time.Duration) machine.Noise {
		return machine.Noise{WatchedNs: 25e6, LostShare: 0.08}
	}}}
	for range 10 {
		known.add(t.Context(), process.Run{WallNs: 100e6})
	}
	// 1.3 times 8 % are 10.4 %.
	if e := known.estimate(); e.Value != 100e6 || math.Abs(e.Lo-89.6e6) > 1 || e.Hi != 100e6 {
		t.Errorf("%+v", e)
	}
}
