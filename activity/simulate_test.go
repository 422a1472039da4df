package activity

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"chronoscope/machine"
)

// source is a simulated cause of gaps.
type source struct {
	cause     Cause
	periodNs  float64 // 0: at random
	phaseNs   float64
	perSecond float64 // where random
	leastNs   float64
	spreadNs  float64 // exponential above the least
	jitterNs  float64
	missing   float64 // share of the teeth that don't come
}

// happening is one simulated gap with what really caused it.
type happening struct {
	at, ns float64
	cause  Cause
}

func (s source) happen(rng *rand.Rand, lengthNs float64) []happening {
	var all []happening
	add := func(at float64) {
		if at > 0 && at < lengthNs && rng.Float64() >= s.missing {
			all = append(all, happening{at + s.jitterNs*rng.ExpFloat64(), s.leastNs + s.spreadNs*rng.ExpFloat64(), s.cause})
		}
	}
	if s.periodNs > 0 {
		for at := s.phaseNs; at < lengthNs; at += s.periodNs {
			add(at)
		}
		return all
	}
	for at := 0.0; at < lengthNs; at += 1e9 / s.perSecond * rng.ExpFloat64() {
		add(at)
	}
	return all
}

// simulate makes the trace that a thread would record under the sources, and the
// true cause of each of its gaps. What begins inside another gap is not seen.
func simulate(rng *rand.Rand, lengthNs, tickNs float64, sources []source) (*Trace, []Cause) {
	var all []happening
	for _, s := range sources {
		all = append(all, s.happen(rng, lengthNs)...)
	}
	slices.SortFunc(all, func(a, b happening) int { return int(math.Copysign(1, a.at-b.at)) })
	t := &Trace{Clock: "simulated", TickNs: tickNs, Threshold: int64(80 / tickNs), Length: int64(lengthNs / tickNs)}
	t.Kernel.Known = true
	var truth []Cause
	end, looked := 0.0, 0.0
	for _, h := range all {
		switch h.cause {
		case TimerTick:
			t.Kernel.TimerInterrupts++
		case Interrupt:
			t.Kernel.OtherInterrupts++
		}
		if h.at < end+200 || h.at+h.ns > lengthNs {
			continue
		}
		g := Gap{Start: int64(h.at / tickNs), Ticks: int64(h.ns / tickNs), Own: h.cause == Runtime}
		t.Gaps = append(t.Gaps, g)
		truth = append(truth, h.cause)
		end = h.at + h.ns
		if h.ns > joinNs && h.cause != Runtime {
			j := Join{From: len(t.Gaps) - 1, Gap: len(t.Gaps) - 1, Ticks: int64((end - looked) / tickNs), Throttled: h.cause == Throttled}
			j.Use = use(h, end-looked)
			t.Joins = append(t.Joins, j)
			looked = end
		}
	}
	return t, truth
}

// use is what a kernel would have counted of the happening, of a thread that
// otherwise ran since the last look.
func use(h happening, sinceNs float64) machine.ThreadUse {
	u := machine.ThreadUse{CPUNs: int64(sinceNs)}
	switch h.cause {
	case Preempted, Throttled:
		u.WaitNs, u.InvoluntarySwitches = int64(h.ns), 1
		u.CPUNs -= int64(h.ns)
	case Stopped:
		u.VoluntarySwitches = 1
		u.CPUNs -= int64(h.ns)
	case PageFault:
		u.MinorFaults = 1
	case Hypervisor:
		u.CPUNs -= int64(h.ns) // as steal
	}
	return u
}

// Simulated traces with several combs, jitter, missing teeth and all other
// causes: the tick's period within 0.1 %, its least cost within one tick of the
// clock in 97 of 100 traces (in the others a shorter interrupt happens to fall
// just where a tooth would), and 97 in 100 gaps put down to what caused them.
func TestSimulatedTraces(t *testing.T) {
	const n = 600
	type outcome struct {
		right, gaps int
		least       bool // the tick's least cost came out
		wrong       map[[2]Cause]int
	}
	outcomes := make([]outcome, n)
	var all sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := worker; i < n; i += runtime.GOMAXPROCS(0) {
				rng := rand.New(rand.NewPCG(uint64(i), 6))
				hz := []float64{100, 250, 300, 1000}[rng.IntN(4)]
				tick := source{cause: TimerTick, periodNs: 1e9 / hz * (1 + 1e-4*rng.NormFloat64()), phaseNs: 1e6 * rng.Float64(),
					leastNs: 1000 + 4000*rng.Float64(), spreadNs: 3000 * rng.Float64(), jitterNs: 300, missing: 0.02}
				sources := []source{
					tick,
					{cause: Interrupt, perSecond: 50, leastNs: 1500, spreadNs: 3000},
					{cause: Preempted, perSecond: 20, leastNs: 50e3, spreadNs: 2e6},
					{cause: PageFault, perSecond: 10, leastNs: 6e3, spreadNs: 3e3},
					{cause: Stopped, perSecond: 1, leastNs: 1e6, spreadNs: 20e6},
					{cause: Throttled, perSecond: 1, leastNs: 5e6, spreadNs: 20e6},
					{cause: Runtime, periodNs: 500e3, leastNs: 900, spreadNs: 200},
					{cause: Unexplained, perSecond: 500, leastNs: 100, spreadNs: 60},
				}
				virtual := rng.IntN(2) == 0
				host := source{cause: Hypervisor, periodNs: 700e3 + 11e6*rng.Float64(), phaseNs: 1e6 * rng.Float64(),
					leastNs: 2000 + 2000*rng.Float64(), spreadNs: 2000, jitterNs: 500, missing: 0.02}
				if virtual {
					sources = append(sources, host)
				}
				trace, truth := simulate(rng, 2e9, 0.4, sources)
				trace.Kernel.TickHz, trace.Kernel.Virtual = hz, virtual
				a := Analyse(trace)
				o := outcome{wrong: map[[2]Cause]int{}}
				for j, g := range trace.Gaps {
					o.gaps++
					if g.Cause == truth[j] {
						o.right++
					} else {
						o.wrong[[2]Cause{truth[j], g.Cause}]++
					}
				}
				outcomes[i] = o
				if a.Tick == nil {
					t.Errorf("seed %d: no tick of %v Hz found", i, hz)
					continue
				}
				if off := math.Abs(a.Tick.PeriodNs.Value/tick.periodNs - 1); off > 1e-3 {
					t.Errorf("seed %d: tick of %.1f ns found as %.1f", i, tick.periodNs, a.Tick.PeriodNs.Value)
				}
				least := math.Inf(1)
				for j, c := range truth {
					if c == TimerTick {
						least = math.Min(least, trace.Ns(trace.Gaps[j].Ticks))
					}
				}
				outcomes[i].least = math.Abs(a.Tick.LeastNs-least) <= trace.TickNs
				hosts := slices.DeleteFunc(slices.Clone(a.Combs), func(c Comb) bool { return c.Source != Hypervisor })
				if virtual && (len(hosts) == 0 || math.Abs(hosts[0].PeriodNs.Value/host.periodNs-1) > 1e-3) {
					t.Errorf("seed %d: the host's comb of %.1f ns, beside a tick of %v Hz, came out as %d combs", i, host.periodNs, hz, len(hosts))
				}
			}
		})
	}
	all.Wait()
	right, gaps, poor, least := 0, 0, 0, 0
	wrong := map[[2]Cause]int{}
	for _, o := range outcomes {
		right, gaps = right+o.right, gaps+o.gaps
		if o.least {
			least++
		}
		if float64(o.right) < 0.97*float64(o.gaps) {
			poor++
		}
		for k, v := range o.wrong {
			wrong[k] += v
		}
	}
	t.Logf("%d of %d gaps right (%.2f %%), %d of %d traces below 97 %%, least cost within a tick in %d; wrong: %v", right, gaps, 100*float64(right)/float64(gaps), poor, n, least, wrong)
	if least < n*97/100 {
		t.Errorf("the tick's least cost came out in %d of %d traces", least, n)
	}
	if float64(right) < 0.97*float64(gaps) || poor > n/50 {
		t.Errorf("%d of %d gaps are put down to their cause, and %d of %d traces have less than 97 %%", right, gaps, poor, n)
	}
}
