package activity

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
)

// finest opens the finest clock there is. If the length of its tick is only known by calibration, a
// nanosecond is assumed: no test here needs the time.
func finest(t *testing.T) *clock.Clock {
	t.Helper()
	for _, name := range []string{"tsc", "cntvct", "go-time-now"} {
		if c, err := clock.Open(name); err == nil {
			t.Cleanup(func() { c.Close() })
			return c
		}
	}
	t.Fatal("no clock can be read")
	return nil
}

// On any machine, active and inactive time add up to the length of the trace, exact to the tick,
// the periods follow one another, and each gap has a cause.
func TestLiveTraceAddsUp(t *testing.T) {
	trace, err := Record(t.Context(), finest(t), 0.5, Options{Duration: 100 * time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	a := Analyse(trace)
	var sum, end int64
	for p := range trace.Periods {
		if p.Start != end || p.Ticks < 0 || !p.Active && p.Ticks <= trace.Threshold {
			t.Fatalf("period %+v after %d", p, end)
		}
		sum += p.Ticks
		end = p.Start + p.Ticks
	}
	if sum != trace.Length || trace.Dropped != 0 {
		t.Errorf("periods of %d ticks in a trace of %d, %d dropped", sum, trace.Length, trace.Dropped)
	}
	count := 0
	for _, total := range a.Causes {
		count += total.Count
	}
	if count != len(trace.Gaps) || !(a.ActiveRatio.Value() > 0 && a.ActiveRatio.Value() <= 1) {
		t.Errorf("%d gaps have a cause, of %d; active %v", count, len(trace.Gaps), a.ActiveRatio)
	}
}

// If the length of a tick is 0, as UnitNs is for every counter, it is measured. An earlier version
// refused it.
func TestRecordMeasuresTheTick(t *testing.T) {
	c := finest(t)
	trace, err := Record(t.Context(), c, c.UnitNs, Options{Duration: time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	if c.UnitNs == 0 && !(trace.TickNs > 0.05 && trace.TickNs < 2000) {
		t.Errorf("a tick of %v ns", trace.TickNs)
	}
}

// A recording ends with its context, and after as many gaps as it was asked for.
func TestRecordEndsEarly(t *testing.T) {
	spells := 0
	trace := recordWith(t, -1, func() bool { spells++; return spells > 20 })
	if trace.Length == 0 {
		t.Errorf("nothing was recorded in %d spells", spells)
	}
	trace, err := Record(t.Context(), finest(t), 0.5, Options{Duration: LongestDuration, MostGaps: 3, CPU: -1, Root: os.DirFS("/")})
	if err != nil || len(trace.Gaps) != 3 {
		t.Errorf("%d gaps, %v; want 3", len(trace.Gaps), err)
	}
}

// A look at the kernel's counters may take longer than a gap that is worth a look (joinNs), as on machines
// whose system calls are slow. An earlier version then looked at the gap that each look had made, without
// end. Here ticks are said to be so long that a look takes twice joinNs.
func TestSlowLooksAreNotLookedAt(t *testing.T) {
	c := finest(t)
	release, err := env.Hold()
	if err != nil {
		t.Fatal(err)
	}
	thread, err := machine.OpenThread()
	if err != nil {
		release()
		t.Skip(err)
	}
	var took []int64
	for range 101 {
		before := c.Read()
		if _, err := thread.Look(); err != nil {
			t.Fatal(err)
		}
		took = append(took, c.Read()-before)
	}
	thread.Close()
	release()
	slices.Sort(took)
	tickNs := 2 * joinNs / float64(took[50])
	trace, err := Record(t.Context(), c, tickNs, Options{Duration: 200 * time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	row, longest := 0, 0
	for i, j := range trace.Joins {
		if i > 0 && j.Between && j.From == trace.Joins[i-1].Gap+1 && trace.Ns(trace.Gaps[j.From].Ticks) < 2*longLookNs {
			row++
		} else {
			row = 0
		}
		longest = max(longest, row)
	}
	if longest > 10 {
		t.Errorf("%d looks in a row at gaps that looks had made, of %d", longest, len(trace.Joins))
	}
}

func TestRecordRefusals(t *testing.T) {
	c := finest(t)
	for name, o := range map[string]Options{
		"negative duration": {Duration: -1},
		"huge duration":     {Duration: 24 * time.Hour},
		"threshold":         {ThresholdNs: 0.6},
		"CPU":               {CPU: 1 << 20},
	} {
		o.Root = os.DirFS("/")
		if trace, err := Record(t.Context(), c, 0.5, o); err == nil {
			t.Errorf("%s: accepted, as %d gaps", name, len(trace.Gaps))
		}
	}
}

// A trace that is full says how many gaps it dropped, and its times still add up.
func TestFullTraceSaysWhatItDropped(t *testing.T) {
	r, err := newRecorder(finest(t), 0.5, Options{Duration: time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	r.trace.Gaps = make([]Gap, 0, 2)
	r.take([]clock.Gap{{Before: 10, After: 20}, {Before: 30, After: 45}, {Before: 50, After: 57}, {Before: 60, After: 61}})
	if len(r.trace.Gaps) != 2 || r.trace.Dropped != 2 || r.trace.DroppedTicks != 8 || r.trace.Inactive() != 33 {
		t.Errorf("%+v", r.trace)
	}
}

var background = context.Background()

// childClock returns a clock that counts nanoseconds, so that a child needs no calibration.
func childClock() *clock.Clock {
	c, err := clock.Open("go-time-now")
	if err != nil {
		panic(err)
	}
	return c
}
