package program

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/process"
	"chronoscope/stats"
)

// visitor computes and sleeps for random times, so that it wants a CPU for such a share of the time.
func visitor(share, computesNs float64) func(*rand.Rand) []clocktest.Step {
	return func(rng *rand.Rand) []clocktest.Step {
		work := computesNs * rng.ExpFloat64()
		return []clocktest.Step{{SleepNs: computesNs * (1/share - 1) * rng.ExpFloat64()}, {WorkNs: work}}
	}
}

// visitedCase is a machine of some CPUs that other programs use now and then, from hardly ever to half
// of the time each.
func visitedCase(seed uint64, pattern string) simulatedCase {
	all := maps.Clone(patterns)
	maps.Copy(all, togetherPatterns)
	c := randomCaseOf(all, seed, pattern, 1)
	rng := rand.New(rand.NewPCG(seed, 0x15))
	c.crowd.CPUs = 1 + rng.IntN(4)
	for range 1 + rng.IntN(4) {
		c.crowd.Beside = append(c.crowd.Beside, visitor(logUniform(rng, 1e-4, 0.5), logUniform(rng, 1e5, 1e7)))
	}
	return c
}

func visitedPatterns() []string {
	return append(slices.Sorted(maps.Keys(patterns)), slices.Sorted(maps.Keys(togetherPatterns))...)
}

// perPattern is how many cases of each pattern are tried; VISITED_CASES asks for more.
func perPattern(least int) int {
	if n, err := strconv.Atoi(os.Getenv("VISITED_CASES")); err == nil {
		return n
	}
	return least
}

// Runs were delayed by no more than others ran, but for a few of programs that have more threads than
// CPUs: a delay may put their threads into an order in which they take longer (Graham, Bounds on
// Multiprocessing Timing Anomalies, 1969). Those move no median.
func TestOthersBoundTheDelay(t *testing.T) {
	names, each := visitedPatterns(), perPattern(40)
	for _, name := range names {
		worst, excluded, runs := 0.0, 0, 0
		for i := range each {
			c := visitedCase(uint64(i), name)
			c.spread, c.crowd.InterruptShare, c.crowd.ColdNs, c.crowd.SwitchNs = 0, 0, nil, nil
			alone := c.crowd
			alone.Beside = nil
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			truths := make([]float64, 15) // threads may run in any order
			for k := range truths {
				truths[k] = alone.Run(rng, c.script(1)).WallNs
			}
			most := slices.Max(truths)
			for range 10 {
				r := c.run(rng, false)
				runs++
				if over := float64(r.WallNs) - r.othersAtMostNs() - most; over > 1e3 {
					excluded++
					worst = math.Max(worst, over/most)
				}
			}
		}
		t.Logf("%-44s %4d of %d runs excluded what it takes alone, by up to %.2g %%", name, excluded, runs, 100*worst)
		if float64(excluded) > 0.03*float64(runs) {
			t.Errorf("%s: %d of %d runs", name, excluded, runs)
		}
	}
}

// On machines that others use now and then what is trusted is right, intervals cover, and where others
// hardly run they are narrow, whatever the program does.
func TestVisitedMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	names, each := visitedPatterns(), perPattern(10)
	cases, results := make([]simulatedCase, len(names)*each), make([]*Result, len(names)*each)
	parallel(len(cases), func(i int) {
		cases[i] = visitedCase(uint64(i%each), names[i/each])
		results[i] = cases[i].measure(simulatedPlan)
	})
	strata := map[string]*tally{}
	calm, trusted := 0, 0
	for i, r := range results {
		truth, name := cases[i].truthNs(), names[i/each]
		if strata[name] == nil {
			strata[name] = &tally{}
		}
		strata[name].add(r, truth)
		var othersNs []float64
		for _, run := range r.Runs {
			othersNs = append(othersNs, float64(run.Others.CPUNs))
		}
		if stats.Median(othersNs) < 0.005*truth {
			calm++
			if r.Verdict == stats.Trusted {
				trusted++
			}
		}
		half := (r.Estimate.Hi - r.Estimate.Lo) / 2
		if off := math.Abs(r.Estimate.Value - truth); r.Verdict == stats.Trusted && off > math.Max(0.01*truth, 2*half) {
			t.Errorf("wrongly trusted: seed %d, %s: %.5g ns measured as %+v (%s)", i%each, name, truth, r.Estimate, r.Explanation)
		}
	}
	t.Logf("others hardly ran in %d cases: %d trusted", calm, trusted)
	if float64(trusted) < 0.9*float64(calm) {
		t.Errorf("others hardly ran in %d cases: %d trusted", calm, trusted)
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		c := strata[name]
		t.Logf("%-44s %3d: %3d usable, %3d trusted, %3d covered; half-width median %.3g %%", name, c.n, c.usable, c.trusted, c.covered, 100*stats.Median(c.widths))
		if c.covered < atLeast(c.usable) {
			t.Errorf("%s: %d of %d intervals cover, want %d", name, c.covered, c.usable, atLeast(c.usable))
		}
	}
}

// A calm machine: two threads hand over to one another a hundred times, each for 0.4 ms, and an idle
// CPU takes 0.1 ms to be told that its thread may go on. The kernel counts that as waits for a CPU. As
// nobody else ran, it takes as long alone. Between 40 and 50 ms was said of it.
func TestNobodyElseRan(t *testing.T) {
	for _, c := range []struct {
		others process.OthersUse
		beside int64
		want   stats.Verdict
	}{
		{process.OthersUse{Known: true}, 20e3, stats.Trusted}, {process.OthersUse{Known: true, CPUNs: 0.3 * ms}, 20e3, stats.Trusted},
		{process.OthersUse{}, 0, stats.Suspect}, {process.OthersUse{Known: true, CPUNs: 60 * ms}, 0, stats.Suspect},
		{process.OthersUse{Known: true}, 60 * ms, stats.Suspect},
	} {
		s := series{probed: true}
		r := s.concluded(20, func(i int) Run {
			events := noted{{AtNs: -0.1 * ms, Kind: process.Forked, Thread: 1, Process: 1}, {AtNs: -0.1 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1}, {Kind: process.Executed, Thread: 1, Process: 1}}
			events = events.at(0, process.Forked, 2, 1, 1).at(0.01, process.SwitchedIn, 2, 1, 1).at(0.02, process.Blocked, 2, 1, 1)
			at := 0.
			for turn := range 100 {
				thread := turn%2 + 1
				events = events.at(at+0.4, process.Blocked, thread, 1, turn%2).at(at+0.5, process.SwitchedIn, 3-thread, 1, 1-turn%2)
				at += 0.5
			}
			events = events.at(at+0.1, process.Exited, 1, 1, 0).at(at+0.1, process.Blocked, 2, 1, 1).at(at+0.1, process.SwitchedIn, 2, 1, 1).at(at+0.1, process.Exited, 2, 1, 1)
			run := events.run(at+0.1, 40.1, process.Thread{ID: 1, CPUNs: 20.1 * ms, WaitNs: 5 * ms, ReadNs: int64((at + 0.1) * ms)})
			run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), 5*ms
			run.Others, run.BesideNs = c.others, c.beside
			return run
		})
		if r.Verdict != c.want || r.Verdict == stats.Trusted && !(r.Estimate.Lo > 49.6*ms && r.Estimate.Hi < 50.2*ms) {
			t.Errorf("%+v: %s, want %s: %+v %q", c, r.Verdict, c.want, r.Estimate, r.Reasons)
		}
	}
}
