package activity

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// crowdedTrace returns a trace of 10 s with about the given number of gaps: a tick, a host's comb,
// and many short gaps.
func crowdedTrace(gaps int) (world, simulated) {
	rng := rand.New(rand.NewPCG(uint64(gaps), 9))
	w := world{lengthNs: 10e9, hz: 250, tick: someTick(rng, 250), virtual: true, others: []source{
		{cause: Hypervisor, perSecond: 1.19 * float64(gaps) / 10, leastNs: 150, upToNs: 5000}}}
	w.tick.leastNs, w.tick.spreadNs = 12e3, 3e3
	w.combs = []source{someHost(rng, 10e6*(1+20e-6*rng.NormFloat64()))}
	w.combs[0].leastNs, w.combs[0].spreadNs = 7000, 2000
	return w, w.simulate(rng)
}

// In a trace of 10 s on a noisy machine, with a million gaps, the combs are found, and the trace
// and all that its analysis allocates fit into 100 MB.
func TestAnalysisOfAMillionGaps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	w, trace := crowdedTrace(1_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Analyse(trace.Trace)
	runtime.ReadMemStats(&after)
	held := keptGaps*unsafe.Sizeof(Gap{}) + keptJoins*unsafe.Sizeof(Join{})
	if bytes := uint64(held) + after.TotalAlloc - before.TotalAlloc; bytes > 100e6 {
		t.Errorf("%d gaps and their analysis take %.1f MB", len(trace.Gaps), float64(bytes)/1e6)
	}
	if o := judge(w, trace); o.found != o.combs || o.false > 0 || !o.tick || o.right < o.gaps*97/100 {
		t.Errorf("%d of %d combs found and %d false ones, %d of %d gaps right: %v", o.found, o.combs, o.false, o.right, o.gaps, o.wrong)
	}
}

func BenchmarkAnalyse(b *testing.B) {
	for _, gaps := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(gaps), func(b *testing.B) {
			_, t := crowdedTrace(gaps)
			b.ReportAllocs()
			for b.Loop() {
				Analyse(t.Trace)
			}
			b.ReportMetric(float64(len(t.Gaps)), "gaps")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.Gaps)), "ns/gap")
		})
	}
}
