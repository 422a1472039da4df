package activity

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/stats"
)

// Practice problem 9.2: in Figure 9.5 timer interrupts came with I48, I50, I52, I53 and I55 while
// the process was active. Others came while it was inactive: half-way between those that are 20 ms
// apart, and one interval after the last. The longest inactivity exceeds an interval by what
// serving an interrupt takes, and the longest activity is shorter than it by as much.
func TestFigure95Ticks(t *testing.T) {
	trace := figure(t, "9.5", 548.1)
	a := Analyse(trace)
	const origin, interval = 191514104, 5471848 // in cycles; I48 to I50 and I50 to I55 give the same interval
	want := []struct {
		cycles int64
		hidden bool
	}{
		{196739065, false},
		{202210927, false}, {(202210927 + 213154606) / 2, true},
		{213154606, false}, {(213154606 + 224098278) / 2, true},
		{224098278, false}, {(224098278 + 235042017) / 2, true},
		{235042017, false}, {235042017 + interval, true},
	}
	ticks := trace.Ticks(a.Tick)
	if len(ticks) != len(want) {
		t.Fatalf("%d ticks: %+v", len(ticks), ticks)
	}
	for i, k := range ticks {
		if off := k.AtNs/trace.TickNs - float64(want[i].cycles-origin); math.Abs(off) > 100 || k.Hidden() != want[i].hidden || k.Interpolated != want[i].hidden {
			t.Errorf("tick %d: %+v, off by %.0f cycles; want hidden %v", i, k, off, want[i].hidden)
		}
	}
	var longest [2]int64
	for p := range trace.Periods {
		state := 0
		if p.Active {
			state = 1
		}
		longest[state] = max(longest[state], p.Ticks)
	}
	const cost = 247557 // cost of I48, during which nothing else happened
	if over, short := longest[0]-interval, interval-longest[1]; math.Abs(float64(over-cost)) > 0.05*cost || math.Abs(float64(short-cost)) > 0.05*cost {
		t.Errorf("inactive for up to %d cycles over the interval, active up to %d short of it; want some %d", over, short, cost)
	}
}

// Practice problem 9.5: in Figure 9.3 each of the seven ticks finds the process active. That makes
// 70 ms of user time and no system time, while it was really active for 63.7 ms. In Figure 9.5 five
// of nine ticks find it active: 50 ms, while it was active for 47.6 ms (53.0 % of 89.8).
func TestFiguresCharged(t *testing.T) {
	for _, c := range []struct {
		number                 string
		mhz, activeMs          float64
		ticks, segments        int
		heldAtLeast, heldUnder float64 // in ms, by practice problem 9.4
	}{
		{"9.3", 549.9, 63.7, 7, 1, 60, 80},
		{"9.5", 548.1, 47.6, 5, 4, 10, 90},
	} {
		trace := figure(t, c.number, c.mhz)
		a := Analyse(trace)
		if ticks, segments, _ := trace.charge(a.Tick); ticks != c.ticks || segments != c.segments {
			t.Errorf("Figure %s: %d ticks in %d segments, want %d in %d", c.number, ticks, segments, c.ticks, c.segments)
		}
		if active := trace.Ns(trace.Length-trace.Inactive()) / 1e6; math.Abs(active-c.activeMs) > 0.05 {
			t.Errorf("Figure %s: active for %.2f ms, want %.1f", c.number, active, c.activeMs)
		}
		got := trace.Accounting(a.Tick)
		if got.ChargedNs != float64(c.ticks)*10e6 || got.AboveNs != c.heldAtLeast*1e6 || got.BelowNs != c.heldUnder*1e6 {
			t.Errorf("Figure %s: %+v", c.number, got)
		}
		if got.UsedNs < c.activeMs*1e6-50e3 || got.UsedNs <= got.AboveNs || got.UsedNs >= got.BelowNs {
			t.Errorf("Figure %s: used %v ns, active for %v ms, which the ticks put from %v to %v ns", c.number, got.UsedNs, c.activeMs, got.AboveNs, got.BelowNs)
		}
	}
}

// ticking is a simulated trace whose ticks are known.
type ticking struct {
	trace *Trace
	comb  Comb
	atNs  []float64
	// hidden tells for each tick whether another thread had the CPU.
	hidden []bool
}

// simulateTicks simulates a thread that is interrupted by ticks, and loses its CPU at random times.
func simulateTicks(rng *rand.Rand) ticking {
	period := 1e6 + 9e6*rng.Float64()
	phase := period * rng.Float64()
	k := ticking{trace: &Trace{TickNs: 1, CPU: 0}, comb: Comb{Period: stats.Estimate{Value: period}, PhaseNs: phase}}
	end := 0.0
	length := period * (5 + 40*rng.Float64())
	lost := period * rng.ExpFloat64()
	gap := func(from, ns float64, cause Cause) {
		k.trace.Gaps = append(k.trace.Gaps, Gap{Start: int64(from), Ticks: int64(ns), Cause: cause})
		end = from + ns
	}
	for at := phase; at < length; at += period {
		for lost < at-1000 && lost < length {
			if lost > end+1000 {
				gap(lost, math.Min(2*period*rng.ExpFloat64()+2000, length-lost), Preempted)
			}
			lost = math.Max(lost, end) + 1500 + 2*period*rng.ExpFloat64()
		}
		k.atNs = append(k.atNs, at)
		k.hidden = append(k.hidden, at < end)
		if at > end && rng.Float64() < 0.95 { // interrupts without a gap were too short to be seen
			k.comb.Gaps = append(k.comb.Gaps, len(k.trace.Gaps))
			gap(at, math.Min(500+1e4*rng.Float64(), length-at), TimerTick)
		}
	}
	k.trace.Length = int64(math.Max(length, end)) + 1
	return k
}

// Every tick is found within a nanosecond, those that fell into inactive time are recognised, and
// each is charged to the thread that had the CPU.
func TestTicksOfSimulatedTraces(t *testing.T) {
	for seed := range uint64(1000) {
		k := simulateTicks(rand.New(rand.NewPCG(seed, 95)))
		ticks := k.trace.Ticks(&k.comb)
		if len(ticks) != len(k.atNs) {
			t.Fatalf("seed %d: %d ticks, want %d", seed, len(ticks), len(k.atNs))
		}
		hidden := 0
		for i, tick := range ticks {
			if math.Abs(tick.AtNs-k.atNs[i]) > 1 || tick.Hidden() != k.hidden[i] {
				t.Errorf("seed %d: %+v, want %v, hidden %v", seed, tick, k.atNs[i], k.hidden[i])
			}
			if k.hidden[i] {
				hidden++
			}
		}
		charged, segments, used := k.trace.charge(&k.comb)
		if charged != len(ticks)-hidden {
			t.Errorf("seed %d: charged %d ticks of %d with %d hidden", seed, charged, len(ticks), hidden)
		}
		checkBounds(t, "the thread", charged, segments, k.comb.Period.Value, used)
		left := k.trace.Length
		for _, g := range k.trace.Gaps {
			if g.Cause == Preempted {
				left -= g.Ticks
			}
		}
		if math.Abs(used-float64(left)) > 1 {
			t.Errorf("seed %d: %v ns used, want %v", seed, used, left)
		}
	}
}

// A tick that fell into a gap is charged to the thread that had the CPU in the gap.
func TestHiddenTicksByCause(t *testing.T) {
	for cause, want := range map[Cause]int{
		Preempted: 0, Throttled: 0, Stopped: 0, Migrated: 0,
		PageFault: 1, Runtime: 1, Interrupt: 1, Hypervisor: 1, Unexplained: 1,
	} {
		trace := &Trace{TickNs: 1, Length: 1e6, Gaps: []Gap{{Start: 400e3, Ticks: 200e3, Cause: cause}}}
		if ticks, _, _ := trace.charge(&Comb{Period: stats.Estimate{Value: 1e6}, PhaseNs: 500e3}); ticks != want {
			t.Errorf("%v: charged %d, want %d", cause, ticks, want)
		}
	}
}

// Two gaps without the CPU that touch have no segment between them.
func TestTouchingLosses(t *testing.T) {
	trace := &Trace{TickNs: 1, Length: 100, Gaps: []Gap{
		{Start: 10, Ticks: 10, Cause: Preempted}, {Start: 20, Ticks: 5, Cause: Stopped}, {Start: 60, Ticks: 5, Cause: Preempted},
	}}
	if _, segments, used := trace.charge(&Comb{Period: stats.Estimate{Value: 100}, PhaseNs: 50}); segments != 3 || used != 80 {
		t.Errorf("%v ns in %d segments", used, segments)
	}
}

// Empty combs and traces lead neither to an endless loop nor to a panic.
func TestTicksOfNothing(t *testing.T) {
	for _, period := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		comb := Comb{Period: stats.Estimate{Value: period}}
		if ticks := (&Trace{TickNs: 1, Length: 100}).Ticks(&comb); len(ticks) > 0 {
			t.Errorf("a period of %v: %v", period, ticks)
		}
	}
	if ticks := (&Trace{TickNs: 1}).Ticks(&Comb{Period: stats.Estimate{Value: 10}}); len(ticks) != 0 {
		t.Errorf("%v", ticks)
	}
}
