package program

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// simulatedExecNs is the time of the exec of simulated programs, by the clock of tracepoints.
const simulatedExecNs = 5e9

// tracepointsOf are what the kernel would tell of a simulated run to those who have the rights.
func tracepointsOf(out clocktest.CrowdRun) wakeupEvents {
	number := func(n int) int32 {
		switch {
		case n > 0:
			return int32(simulatedTID + n)
		case n < 0:
			return int32(10*simulatedTID - n)
		}
		return 0
	}
	at := func(ns float64) int64 { return simulatedExecNs + int64(ns) }
	var events []tracepoint.Event
	for _, x := range out.Turns {
		states := map[clocktest.CrowdEventKind]tracepoint.State{clocktest.CrowdPreempted: tracepoint.Runnable, clocktest.CrowdBlocked: tracepoint.Sleeping, clocktest.CrowdExited: tracepoint.Ended}
		events = append(events, tracepoint.Event{AtNs: at(x.AtNs), CPU: int32(x.CPU), Kind: tracepoint.Switched, Thread: number(x.From), Other: number(x.To), Value: int32(states[x.FromState])})
	}
	for _, x := range out.Wakings {
		e := tracepoint.Event{AtNs: at(x.AtNs), CPU: int32(x.ByCPU), Kind: tracepoint.Waking, Thread: number(x.By), Other: number(x.Thread)}
		if x.By == 0 {
			e.Context = tracepoint.InInterrupt
			before := e
			if before.Kind = tracepoint.TimerExpired; x.ByDevice {
				before.Kind = tracepoint.Interrupt
			}
			events = append(events, before)
		}
		if events = append(events, e); x.ByDevice {
			e.Kind = tracepoint.InterruptEnd
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b tracepoint.Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
	return wakeupEvents{events: events, execNs: simulatedExecNs}
}

// without leaves out a share of the events, as the kernel does without a word.
func (e wakeupEvents) without(rng *rand.Rand, share float64) wakeupEvents {
	e.events = slices.DeleteFunc(e.events, func(tracepoint.Event) bool { return rng.Float64() < share })
	return e
}

// otherProgramPatterns are programs that wait for what others do for them.
var otherProgramPatterns = map[string]func(*rand.Rand, int) func(float64) []clocktest.Step{
	"a client of a server": func(rng *rand.Rand, load int) func(float64) []clocktest.Step {
		n, asks, serves := 1+rng.IntN(10), logUniform(rng, 1e5, 1e7), logUniform(rng, 1e5, 1e7)
		return func(f float64) []clocktest.Step {
			var server, client []clocktest.Step
			for range n {
				server = append(server, clocktest.Step{Wait: 1}, clocktest.Step{WorkNs: f * serves}, clocktest.Step{Post: 2})
				client = append(client, clocktest.Step{WorkNs: f * asks}, clocktest.Step{Post: 1}, clocktest.Step{Wait: 2})
			}
			return append(append([]clocktest.Step{{OtherProgram: true, Start: server}}, client...), clocktest.Step{WorkNs: 1e5})
		}
	},
	"a client that works before it reads the answer": func(rng *rand.Rand, load int) func(float64) []clocktest.Step {
		n, works, serves := 1+rng.IntN(10), logUniform(rng, 1e6, 1e7), 1+2*rng.Float64()
		return func(f float64) []clocktest.Step {
			var server, client []clocktest.Step
			for range n {
				server = append(server, clocktest.Step{Wait: 1}, clocktest.Step{WorkNs: f * serves * works}, clocktest.Step{Post: 2})
				client = append(client, clocktest.Step{WorkNs: 1e5}, clocktest.Step{Post: 1}, clocktest.Step{WorkNs: f * works}, clocktest.Step{Wait: 2})
			}
			return append(append([]clocktest.Step{{OtherProgram: true, Start: server}}, client...), clocktest.Step{WorkNs: 1e5})
		}
	},
	"a server that another calls": func(rng *rand.Rand, load int) func(float64) []clocktest.Step {
		n, every, serves := 2+rng.IntN(10), logUniform(rng, 1e6, 1e7), logUniform(rng, 1e5, 5e6)
		return func(f float64) []clocktest.Step {
			var caller, server []clocktest.Step
			for range n {
				caller = append(caller, clocktest.Step{SleepNs: every}, clocktest.Step{WorkNs: 1e5}, clocktest.Step{Post: 1})
				server = append(server, clocktest.Step{Wait: 1}, clocktest.Step{WorkNs: f * serves})
			}
			return append([]clocktest.Step{{OtherProgram: true, Start: caller}}, append(server, clocktest.Step{WorkNs: 1e5})...)
		}
	},
	"a time-out that passes where another thread is late": func(rng *rand.Rand, load int) func(float64) []clocktest.Step {
		work := logUniform(rng, 3e6, 1e8)
		timeout := work * (1.05 + 0.5*rng.Float64())
		return func(f float64) []clocktest.Step {
			answers := []clocktest.Step{{Bind: 2}, {WorkNs: f * work}, {Post: 1}, {WorkNs: 1e4}}
			return []clocktest.Step{{Bind: 1}, {Start: answers}, {Wait: 1, SleepNs: timeout}, {WorkNs: 1e5}}
		}
	},
	"a lock that threads fight for": func(rng *rand.Rand, load int) func(float64) []clocktest.Step {
		n, threads, free, locked := 5+rng.IntN(20), 2, logUniform(rng, 1e5, 3e6), logUniform(rng, 1e4, 3e6)
		return func(f float64) (all []clocktest.Step) {
			all = append(all, clocktest.Step{Post: 1})
			for range threads {
				var steps []clocktest.Step
				for range n {
					steps = append(steps, clocktest.Step{WorkNs: f * free}, clocktest.Step{Wait: 1}, clocktest.Step{WorkNs: f * locked}, clocktest.Step{Post: 1})
				}
				all = append(all, clocktest.Step{Start: steps})
			}
			return append(all, clocktest.Step{Join: true}, clocktest.Step{WorkNs: 1e5})
		}
	},
}

func wakeupPatterns() map[string]func(*rand.Rand, int) func(float64) []clocktest.Step {
	all := maps.Clone(patterns)
	maps.Copy(all, togetherPatterns)
	maps.Copy(all, otherProgramPatterns)
	return all
}

// wokenCase is one on two CPUs; load 0 stands for neighbours that come and go.
func wokenCase(seed uint64, pattern string, load int) simulatedCase {
	c := randomCaseOf(wakeupPatterns(), seed, pattern, max(1, load))
	c.crowd.CPUs, c.unnotedShare = 2, 0.02*float64(seed%2)
	if otherProgramPatterns[pattern] != nil { // what interrupts take of others is as it is
		c.crowd.InterruptShare = 0
	}
	if load == 0 {
		rng := rand.New(rand.NewPCG(seed, 0x15))
		for range 1 + rng.IntN(3) {
			c.crowd.Beside = append(c.crowd.Beside, visitor(logUniform(rng, 1e-2, 0.5), logUniform(rng, 1e5, 1e7)))
		}
	}
	return c
}

// With tracepoints intervals cover, what is trusted is right, and more is usable than without, also where
// the kernel leaves out one event in fifty.
func TestWokenMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	each := perPattern(5)
	loads := []int{0, 1, 2, 4}
	names := slices.Sorted(maps.Keys(wakeupPatterns()))
	n := len(names) * len(loads) * each
	cases, with, without := make([]simulatedCase, n), make([]*Result, n), make([]*Result, n)
	parallel(n, func(i int) {
		cases[i] = wokenCase(uint64(i), names[i/each/len(loads)], loads[i/each%len(loads)])
		without[i] = cases[i].measure(simulatedPlan)
		cases[i].rights = true
		with[i] = cases[i].measure(simulatedPlan)
	})
	type both struct{ with, without tally }
	strata := map[string]*both{}
	for i, r := range with {
		truth := cases[i].truthNs()
		load := loads[i/each%len(loads)]
		for _, name := range []string{"all", fmt.Sprintf("all, load %d", load), fmt.Sprintf("%s, load %2d", cases[i].pattern, load)} {
			if strata[name] == nil {
				strata[name] = &both{}
			}
			strata[name].with.add(r, truth)
			strata[name].without.add(without[i], truth)
		}
		if off := math.Abs(r.Estimate.Value/truth - 1); r.Verdict == stats.Trusted && (off > 0.03 || off > math.Max(0.01, 2*r.Estimate.RelativeHalfWidth())) {
			t.Errorf("wrongly trusted: seed %d, %s at load %d: %.5g ns measured as %+v (%s)", i, cases[i].pattern, load, truth, r.Estimate, r.Explanation)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		a, b := &strata[name].with, &strata[name].without
		t.Logf("%-52s %4d: usable %4d (%4d), trusted %4d (%4d), covered %4d (%4d); half-width %5.2g %% (%5.2g %%)",
			name, a.n, a.usable, b.usable, a.trusted, b.trusted, a.covered, b.covered, 100*stats.Median(a.widths), 100*stats.Median(b.widths))
		if a.covered < atLeast(a.usable) {
			t.Errorf("%s: %d of %d intervals cover, want %d", name, a.covered, a.usable, atLeast(a.usable))
		}
	}
	if all := strata["all"]; all.with.usable <= all.without.usable || all.with.trusted < all.without.trusted {
		t.Errorf("with tracepoints %d usable, %d trusted; without %d and %d", all.with.usable, all.with.trusted, all.without.usable, all.without.trusted)
	}
}

// A client blocks while others keep its server from a CPU for moments: those come off, and the figure is
// trusted. They were counted as none, since the client itself was not kept, so that its bounds contradicted
// one another in one case of four.
func TestServerKeptForMoments(t *testing.T) {
	const cases = 100
	all := &tally{}
	for seed := range uint64(cases) {
		c := wokenCase(seed, "a client of a server", 0)
		c.rights, c.unnotedShare = true, 0
		r, truth := c.measure(simulatedPlan), c.truthNs()
		all.add(r, truth)
		if off := math.Abs(r.Estimate.Value/truth - 1); r.Verdict == stats.Trusted && off > 0.02 {
			t.Errorf("wrongly trusted: seed %d: %g ns measured as %+v", seed, truth, r.Estimate)
		}
	}
	if all.covered < atLeast(all.usable) || all.trusted < cases*9/10 {
		t.Errorf("%d usable, %d covered, %d trusted", all.usable, all.covered, all.trusted)
	}
}

// Two threads fight for a lock, beside others. Who gets it first depends on when those kept them from their
// CPUs, so that the longest path of a run may be longer than any alone: 5 of 60 intervals lay above the truth.
func TestOrderInWhichThreadsGetALock(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const each = 60
	results, truths := make([]*Result, each), make([]float64, each)
	parallel(each, func(i int) {
		c := wokenCase(uint64(i)+5000, "a lock that threads fight for", 2)
		c.rights = true
		results[i], truths[i] = c.measure(simulatedPlan), c.truthNs()
	})
	for i, r := range results {
		if r.Estimate.Lo > truths[i] {
			t.Errorf("seed %d: %g ns measured as %+v, %s", i+5000, truths[i], r.Estimate, r.Verdict)
		}
	}
}
