package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"chronoscope/bench/internal/onecpu"
	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/stats"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Setenv(onecpu.Marker, "1") // as far as the test's own thread goes
	os.Exit(m.Run())
}

// Every peer gets its line, alone and with a rival on the same CPU.
func TestRun(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err) // nothing can be pinned here
	}
	for _, load := range []string{"1", "2"} {
		var out bytes.Buffer
		err := run(context.Background(), []string{"-ns", "1000", "-repetitions", "1", "-load", load,
			"-cpu", machine.FormatCPUList(cpus[:1]), "-only", "kbest.Measure,K-best as in the source,testing.B 100 ms"}, &out)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"kbest.Measure", "K-best as in the source"} {
			if !strings.Contains(out.String(), name) {
				t.Errorf("no line of %s in\n%s", name, out.String())
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-ns", "1"}, {"-ns", "a"}, {"-load", "0"}, {"-repetitions", "0"}} {
		if err := run(context.Background(), args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "choose") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// What is counted of the answers: an answer of 101 to 100 is off by 1 %.
func TestRow(t *testing.T) {
	var r row
	r.add(answer{ns: 101, lo: 99, hi: 103, interval: true, verdict: stats.Trusted}, truth{100, 100}, time.Second)
	r.add(answer{ns: 98, lo: 97, hi: 99, interval: true, verdict: stats.Suspect}, truth{99.5, 100.5}, time.Second)
	if r.covered != 1 || r.trusted != 1 || math.Abs(r.errors[0]-0.01) > 1e-9 || math.Abs(r.errors[1]-0.02) > 1e-9 || math.Abs(r.widths[1]-0.01) > 1e-9 {
		t.Errorf("%+v", r)
	}
}
