package program

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Threads of a program of 50 ms may have spun for 0 to 10 ms in each run. Those that did used more
// CPU time; where they may have spun for as long in all runs, nothing tells.
func TestSpinningTakesCPUTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name        string
		share       float64 // of the time for which they may have spun
		leastMs     float64
		least, most float64
	}{
		{"they block", 0, 0, 0, 0.15},
		{"they spin half of the time", 0.5, 0, 0.5, 0.65},
		{"they spin", 1, 0, 1, 1},
		{"nothing tells", 0, 8, 1, 1},
	} {
		k := conclusion{Result: &Result{}}
		for range 60 {
			spunNs := ms * (c.leastMs + (10-c.leastMs)*rng.Float64())
			r := &Run{LowNs: 60*ms - spunNs, HighNs: 61 * ms, spunOffNs: spunNs, noted: true}
			r.traced.spunNs, r.traced.ranNs, r.traced.wallNs = spunNs, 50*ms+c.share*spunNs+0.2*ms*rng.NormFloat64(), 100*ms
			k.used, k.low, k.high = append(k.used, r), append(k.low, r.LowNs), append(k.high, r.HighNs)
		}
		k.allowForSpinning()
		if k.spins < c.least || k.spins > c.most {
			t.Errorf("%s: they spin for %.2f of it, want %v to %v", c.name, k.spins, c.least, c.most)
		}
		for i, r := range k.used {
			if want := 60*ms - k.spins*r.spunOffNs; math.Abs(k.low[i]-want) > 1 {
				t.Errorf("%s: at least %g ns, want %g", c.name, k.low[i], want)
			}
		}
	}
}

// Others take the CPU up to four times from a thread while another of the program waits for it. If the thread spins for
// that one, each time ends a spin that would have lasted for a time slice, and the program uses less CPU time.
func TestSpinsThatOthersEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		name           string
		spinsMs        float64
		fewest         int
		leastNs, mostN float64
	}{
		{"it blocks", 0, 0, 0, 0.2 * ms},
		{"it spins", 1.5, 0, 1.5 * ms, 1.5 * ms},
		{"it spins now and then", 0.5, 0, 0.8 * ms, 1.5 * ms},
		{"they take it as often in all runs", 0, 4, 1.5 * ms, 1.5 * ms},
	} {
		k := conclusion{Result: &Result{}, series: &series{peak: 1 << 16}}
		for range 40 {
			r := Run{noted: true}
			r.traced.displaced = c.fewest + max(0, rng.IntN(7-c.fewest)-2+c.fewest/2)
			r.traced.ranNs = 50*ms - c.spinsMs*ms*r.displaced() + 0.1*ms*rng.NormFloat64()
			k.Runs = append(k.Runs, r)
		}
		for i := range k.Runs {
			k.used = append(k.used, &k.Runs[i])
		}
		if got := k.spinPerDisplacementNs(); got < c.leastNs || got > c.mostN {
			t.Errorf("%s: up to %g ns, want %g to %g", c.name, got, c.leastNs, c.mostN)
		}
	}
}

// Refilling caches takes CPU time, too. Of a large program that may hide spins. A small one that uses more CPU time than
// that explains where others take its CPU does something else there.
func TestRefillsHideSpins(t *testing.T) {
	for name, c := range map[string]struct {
		largest, moreMs float64 // CPU time for each loss of the CPU
		tells           bool
	}{"a large program": {8 << 20, 0, false}, "a small program": {64 << 10, 0, true}, "it does more": {64 << 10, 1, false}} {
		k := conclusion{Result: &Result{}, series: &series{peak: int64(c.largest)}}
		for i := range 40 {
			r := Run{noted: true, favoured: i%2 == 0, Rejected: i%2 == 0}
			if !r.favoured {
				r.traced.displaced, r.traced.preemptions = 4+i%4, 4+i%4
			}
			r.traced.ranNs = 50*ms + c.moreMs*ms*r.displaced() + 0.01*ms*float64(i%5)
			k.Runs = append(k.Runs, r)
		}
		for i := range k.Runs {
			if !k.Runs[i].favoured {
				k.used = append(k.used, &k.Runs[i])
			}
		}
		if got := k.spinPerDisplacementNs(); got < leastSliceNs != c.tells {
			t.Errorf("%s: up to %g ns", name, got)
		}
	}
}
