package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/activity"
	"chronoscope/stats"
)

// aTrace returns a trace whose gaps are at random places, in order and apart from each other.
func aTrace(gaps int) activity.Analysis {
	random := rand.New(rand.NewPCG(3, uint64(gaps)))
	cpu := 1
	t := activity.Analysis{CPU: &cpu, Clock: "tsc", ThresholdNs: 40, Causes: map[activity.Cause]activity.Total{}}
	causes := activity.Causes()
	for i := range gaps {
		active := activity.TimedPeriod{Label: fmt.Sprintf("A%d", i), State: "active", StartNs: t.DurationNs, DurationNs: 50 + 4e5*random.Float64()}
		cause := causes[random.IntN(len(causes))]
		inactive := activity.TimedPeriod{Label: fmt.Sprintf("I%d", i), State: "inactive", StartNs: active.StartNs + active.DurationNs, DurationNs: 40 + 1e4*random.Float64(), Cause: &cause}
		t.Periods = append(t.Periods, active, inactive)
		t.DurationNs = inactive.StartNs + inactive.DurationNs
		total := t.Causes[cause]
		t.Causes[cause] = activity.Total{Count: total.Count + 1, TotalNs: total.TotalNs + inactive.DurationNs, MaxNs: max(total.MaxNs, inactive.DurationNs)}
	}
	t.ActiveRatio = stats.FloatOf(0.9)
	return t
}

// The gaps that the script unpacks are the trace's gaps, exact to the nanosecond however late in
// the trace. If there are too many gaps, the script gets the longest of them.
func TestPackedGaps(t *testing.T) {
	trace := aTrace(3000)
	for _, most := range []int{5000, 3000, 700, 1} {
		d := lanesOf(trace, most)
		var want []activity.TimedPeriod
		for _, p := range trace.Periods {
			if p.State == "inactive" {
				want = append(want, p)
			}
		}
		if len(want) > most {
			slices.SortFunc(want, func(a, b activity.TimedPeriod) int { return int(math.Copysign(1, b.DurationNs-a.DurationNs)) })
			want = want[:most]
			slices.SortFunc(want, func(a, b activity.TimedPeriod) int { return int(math.Copysign(1, a.StartNs-b.StartNs)) })
		}
		if len(d.Gaps) != 3*len(want) || d.Hidden != 3000-len(want) {
			t.Fatalf("most %d: %d numbers and %d hidden for %d gaps", most, len(d.Gaps), d.Hidden, len(want))
		}
		at := int64(0)
		for i, p := range want {
			at += d.Gaps[3*i]
			if math.Abs(float64(at)-p.StartNs) > 0.5 || d.Causes[d.Gaps[3*i+2]] != p.Cause.String() {
				t.Fatalf("most %d: gap %d starts at %d for %s, want %f for %s", most, i, at, d.Causes[d.Gaps[3*i+2]], p.StartNs, *p.Cause)
			}
			at += d.Gaps[3*i+1]
			if math.Abs(float64(at)-p.StartNs-p.DurationNs) > 0.5 {
				t.Fatalf("most %d: gap %d ends at %d, want %f", most, i, at, p.StartNs+p.DurationNs)
			}
		}
	}
}

// Gaps that overlap do not move other gaps, and a gap without a cause has a lane.
func TestPackedGapsOfUnsoundTrace(t *testing.T) {
	trace := activity.Analysis{DurationNs: 1e6}
	causes := activity.Causes()
	for i := range 1000 {
		trace.Periods = append(trace.Periods, activity.TimedPeriod{State: "inactive", StartNs: float64(100 * i), DurationNs: 250, Cause: &causes[i%len(causes)]})
	}
	trace.Periods = append(trace.Periods, activity.TimedPeriod{State: "inactive", StartNs: 9e5, DurationNs: 50})
	d := lanesOf(trace, mostGaps)
	if len(d.Causes) != len(causes)+1 {
		t.Errorf("%d lanes: %q", len(d.Causes), d.Causes)
	}
	at := int64(0)
	for i := 0; i < len(d.Gaps); i += 3 {
		if d.Gaps[i] < 0 || d.Gaps[i+1] < 0 || d.Gaps[i+2] >= int64(len(d.Causes)) {
			t.Fatalf("gap %d: %v", i/3, d.Gaps[i:i+3])
		}
		at += d.Gaps[i] + d.Gaps[i+1]
	}
	if at != 900_050 {
		t.Errorf("the last gap ends at %d, want 900050", at)
	}
}

// Gaps beyond the end of a trace, as a prepared record has them, are cut off. Drawing such a gap once panicked.
func TestPackedGapsEndWithTheTrace(t *testing.T) {
	trace := activity.Analysis{}
	for _, startNs := range []float64{-1e300, 0, 5e5, 2e6, 9e18, 1e300} {
		trace.Periods = append(trace.Periods, activity.TimedPeriod{State: "inactive", StartNs: startNs, DurationNs: 1e6})
	}
	for _, endNs := range []float64{-1e300, 0, 1, 1e6, 1e300} {
		trace.DurationNs = endNs
		lanes := lanesOf(trace, mostGaps)
		for g := range lanes.Each {
			if g.StartNs < 0 || g.EndNs < g.StartNs || g.EndNs > lanes.EndNs {
				t.Errorf("a trace of %g ns, which ends at %d, has the gap %+v", endNs, lanes.EndNs, g)
			}
		}
	}
}

// With more traces than gaps that a page shows, each trace keeps its longest gap. This once panicked.
func TestMoreTracesThanGaps(t *testing.T) {
	gap := activity.TimedPeriod{State: "inactive", StartNs: 1, DurationNs: 1}
	traces := slices.Repeat([]activity.Analysis{{DurationNs: 5, Periods: []activity.TimedPeriod{gap}}}, mostGaps+1)
	if s := traceLanes(traces); len(s.Charts) != len(traces) || len(s.Charts[0].Lanes.Gaps) != 3 {
		t.Errorf("%d charts for %d traces", len(s.Charts), len(traces))
	}
}

func TestCapitalized(t *testing.T) {
	for text, want := range map[string]string{"": "", "clock, quality": "Clock, quality", "öffnen": "Öffnen", "CPU 1": "CPU 1"} {
		if got := capitalized(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// An earlier version of the figures lacked the source's triangles at timer interrupts. A tick that
// begins a gap is placed at the gap's start, one within a longer gap at the time of the tick, and a
// tick without a gap is left out.
func TestTimerTicksOfATrace(t *testing.T) {
	gap := func(startNs, durationNs float64, cause activity.Cause) activity.TimedPeriod {
		return activity.TimedPeriod{State: "inactive", StartNs: startNs, DurationNs: durationNs, Cause: &cause}
	}
	trace := activity.Analysis{
		DurationNs: 5.5e6,
		Combs:      []activity.Comb{{Source: activity.Hypervisor, PeriodNs: 1e5}, {Source: activity.TimerTick, PeriodNs: 1e6, PhaseNs: 3e5}},
		Periods: []activity.TimedPeriod{
			gap(3e5+2000, 4000, activity.TimerTick), gap(9e5, 6e5, activity.Preempted), gap(2e6, 1000, activity.Interrupt),
			gap(3.3e6, 4000, activity.TimerTick), gap(4.2e6, 1e4, activity.Interrupt), gap(5.3e6, 4000, activity.TimerTick),
		},
	}
	at, got := int64(0), []int64{}
	for _, tick := range lanesOf(trace, 100).Ticks {
		at += tick
		got = append(got, at)
	}
	if want := []int64{302000, 1300000, 3300000, 5300000}; !slices.Equal(got, want) {
		t.Errorf("ticks at %d, want %d", got, want)
	}
	for _, broken := range []activity.Comb{{PeriodNs: 0}, {PeriodNs: math.NaN()}, {PeriodNs: 1e-9}, {PeriodNs: 1e6, PhaseNs: math.Inf(-1)}, {PeriodNs: 1e6, PhaseNs: -1e300}} {
		broken.Source = activity.TimerTick
		trace.Combs = []activity.Comb{broken}
		if ticks := lanesOf(trace, 100).Ticks; len(ticks) > 0 {
			t.Errorf("%+v: %d ticks", broken, len(ticks))
		}
	}
}
