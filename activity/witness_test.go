package activity

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"chronoscope/machine"
)

// witness is a context that a recording checks once per spell, on its own thread. In this check the
// test can examine the thread, and end the recording.
type witness struct {
	context.Context
	spell func() (over bool)
	over  bool
}

func (w *witness) Err() error {
	if w.over = w.over || w.spell(); w.over {
		return context.Canceled
	}
	return nil
}

// recordWith records, on a clock of nanoseconds, until spell returns true.
func recordWith(t *testing.T, cpu int, spell func() (over bool)) *Trace {
	t.Helper()
	trace, err := Record(&witness{Context: t.Context(), spell: spell}, childClock(), 1, Options{Duration: LongestDuration, CPU: cpu, Root: os.DirFS("/")})
	if !Interrupted(err) {
		t.Fatal(err)
	}
	return trace
}

// tiles checks that the periods cover the trace from its beginning to its end without overlap,
// exact to the tick, and that none was dropped.
func tiles(t *testing.T, trace *Trace) {
	t.Helper()
	var active, inactive, end int64
	for p := range trace.Periods {
		if p.Start != end || p.Ticks < 0 || !p.Active && p.Ticks <= trace.Threshold {
			t.Fatalf("period %+v after %d", p, end)
		}
		if p.Active {
			active += p.Ticks
		} else {
			inactive += p.Ticks
		}
		end = p.Start + p.Ticks
	}
	if end != trace.Length || active+inactive != trace.Length || inactive != trace.Inactive() || trace.Dropped != 0 {
		t.Errorf("active for %d and inactive for %d of %d ticks, up to %d, %d dropped", active, inactive, trace.Length, end, trace.Dropped)
	}
}

// someCPU returns a CPU that this process may use: the last, since the first serves most of a
// machine's interrupts.
func someCPU(t *testing.T) int {
	t.Helper()
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skipf("threads can't be bound to a CPU: %v", err)
	}
	return slices.Max(cpus)
}

// childCommand returns a command that runs one test of this binary again, as a child that
// recognises its role by the environment. The child is killed if it does not end by itself.
func childCommand(t *testing.T, test, environment string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), environment+"=1", "GOMAXPROCS=1")
	child.Stderr = os.Stderr
	return child
}
