package kbest

import (
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// look is what the CPU lost during one stretch of short chains between the samples. All times are in
// nanoseconds.
type look struct {
	// ranNs is the length of the stretch without the losses.
	ranNs float64
	// atNs has the moments of the losses, in order, counted in ranNs. lostNs has the sum of the losses up to
	// and including each of these.
	atNs, lostNs []float64
}

// add appends a running time, and what was lost at its end.
func (l *look) add(ranNs, lostNs float64) {
	l.ranNs += ranNs
	if lostNs > 0 {
		l.atNs, l.lostNs = append(l.atNs, l.ranNs), append(l.lostNs, l.total()+lostNs)
	}
}

// total returns the sum of all losses.
func (l *look) total() float64 { return l.before(len(l.lostNs)) }

// before returns the sum of the first n losses.
func (l *look) before(n int) float64 {
	if n == 0 {
		return 0
	}
	return l.lostNs[n-1]
}

// between returns how much time was lost between two moments, which are counted in ranNs.
func (l *look) between(from, to float64) float64 {
	first, _ := slices.BinarySearch(l.atNs, from)
	last, _ := slices.BinarySearch(l.atNs, to)
	return l.before(last) - l.before(first)
}

// looks holds the looks of a measurement. One is made before the samples and the others between them, since a
// CPU's losses change from second to second.
type looks struct {
	all []look
	// ranNs and lostNs are the sums over all looks. awayNs is the part of both that the CPU time lacks, and
	// awayErrorNs the error of that.
	ranNs, lostNs, awayNs, awayErrorNs float64
}

const (
	lookNs = 20e6
	// lookShare is the time of all looks as a share of the samples' time, shortLookShare that share for
	// samples up to escapeNs: few interruptions hit these, so that they say little about interruptions.
	lookShare, shortLookShare = 0.25, 1
	lookWindow                = 48  // chains between two readings of the kernel's counts
	mostWindows               = 256 // that are tried in one look
	// leastLossNs, and leastLossShare of a chain, are more than chains differ without a loss.
	leastLossNs, leastLossShare = 200, 0.03
	// If a single loss of more than stolenNs is missing from the CPU time, a hypervisor took it. Looks leave
	// such losses out, since samples that lose as much are corrected by their CPU time.
	stolenNs = 2e5
)

// takeLook runs short chains for a while. The time by which a chain exceeds the typical chain is a loss.
// Stretches in which others had the CPU are left out.
func (s *Station) takeLook(o overhead, seen *looks) {
	if s.Spin == nil || s.Use == nil {
		return
	}
	var l look
	var awayNs float64
	windows := 0
	chains := make([]float64, lookWindow)
	for try := 0; try < mostWindows && l.ranNs < lookNs; try++ {
		before := s.look()
		first := s.Clock.Start()
		last := first
		for i := range chains {
			s.Spin()
			now := s.Clock.End()
			chains[i] = s.Clock.Ns(now - last)
			last = now
		}
		after := s.look()
		use := after.Since(before)
		if use.WaitNs > 0 || use.InvoluntarySwitches+use.VoluntarySwitches > 0 || after.CPU != before.CPU {
			continue
		}
		sorted := slices.Clone(chains)
		slices.Sort(sorted)
		typical := stats.Quantile(sorted, 0.25)
		away := s.Clock.Ns(last-first) - (float64(use.CPUNs) - o.lookNs)
		if longest := sorted[len(sorted)-1] - typical; longest > stolenNs && away > longest/2 {
			continue
		}
		for _, ns := range chains {
			if lost := ns - typical; lost > math.Max(leastLossNs, leastLossShare*typical) {
				l.add(typical, lost)
			} else {
				l.add(ns, 0)
			}
		}
		awayNs += away
		windows++
	}
	if windows == 0 {
		return
	}
	seen.all = append(seen.all, l)
	seen.ranNs, seen.lostNs, seen.awayNs = seen.ranNs+l.ranNs, seen.lostNs+l.total(), seen.awayNs+awayNs
	seen.awayErrorNs = math.Hypot(seen.awayErrorNs, 2*o.lookSpreadNs*math.Sqrt(float64(windows))+3e3)
}

// known reports whether there was a look.
func (l *looks) known() bool { return len(l.all) > 0 }

// share returns the time lost as a share of the running time; 0 if there was no look.
func (l *looks) share() float64 { return l.lostNs / math.Max(1, l.ranNs) }

// due reports whether it is time for another look, after samples of tookNs each that took samplesNs in all.
func (l *looks) due(samplesNs, tookNs float64) bool {
	share := lookShare
	if tookNs <= escapeNs {
		share = shortLookShare
	}
	return l.known() && float64(len(l.all))*lookNs < share*samplesNs
}

// disturbances is a model of what a CPU adds to the running time of a sample: the losses that the looks saw,
// replayed from random moments.
type disturbances struct {
	looks *looks
	// switches is the cost of a switch. spread is the standard deviation of the logarithm of a scenario's factor
	// that remains however many looks there are; draw adds more to it if there are few.
	switches switchCost
	spread   float64
}

// scenario is one possible truth about the disturbances.
type scenario struct {
	// looks are drawn with replacement from those of the measurement, as many as there are (a bootstrap).
	looks []*look
	// factor is the true loss divided by the loss that the looks saw. held is the share of the losses that CPU
	// time includes, as kernels may leave interrupts out of it.
	factor, held float64
	// switchNs is the cost of a switch.
	switchNs float64
	// unseenPerNs is the rate of interruptions so rare that the looks missed them, unseenNs their length.
	unseenPerNs, unseenNs float64
}

const (
	// These are standard deviations of the logarithm of a scenario's factor: factorSpread after one look,
	// keptSpread after many for samples that kept their CPU, and switchedSpread for others. Looks do not see
	// what comes with a switch, such as the tick that causes it (a figure was off by 0.5 % at 60 ms with three
	// loops on the EPYC, which loses 1.4 %).
	factorSpread, keptSpread, switchedSpread = 0.4, 0.15, 0.25
	// leastUnseenNs and mostUnseenNs bound the length of an interruption that the looks can have missed.
	leastUnseenNs, mostUnseenNs = 1e3, 2e5
)

// draw draws one scenario into w.
func (d disturbances) draw(rng *rand.Rand, w *scenario) {
	w.switchNs = d.switches.draw(rng)
	w.looks = w.looks[:0]
	n := len(d.looks.all)
	if n == 0 {
		return
	}
	for range n {
		w.looks = append(w.looks, &d.looks.all[rng.IntN(n)])
	}
	w.factor = math.Exp(rng.NormFloat64() * math.Hypot(d.spread, factorSpread/math.Sqrt(float64(n))))
	lackLeast, lackMost := d.looks.lacking()
	w.held = 1 - lackLeast - rng.Float64()*(lackMost-lackLeast)
	w.unseenPerNs = rng.ExpFloat64() / d.looks.ranNs
	w.unseenNs = leastUnseenNs * math.Exp(rng.Float64()*math.Log(mostUnseenNs/leastUnseenNs))
}

// lacking returns the share of the losses that CPU time does not include, at least and at most.
func (l *looks) lacking() (least, most float64) {
	within := func(share float64) float64 { return math.Max(0, math.Min(1, share)) }
	if l.lostNs == 0 {
		return 0, 1
	}
	least, most = within((l.awayNs-l.awayErrorNs)/l.lostNs), within((l.awayNs+l.awayErrorNs)/l.lostNs)
	if most < leastLacking {
		return 0, 0
	}
	return least, most
}

// leastLacking is a share of the losses. If CPU time lacks less than that, the lack is taken for an error, and
// CPU time counts as including all losses. CPU time always includes what a host takes. It includes the
// kernel's interrupts, unless the kernel accounts for them separately (CONFIG_IRQ_TIME_ACCOUNTING).
const leastLacking = 0.25

// add draws what disturbances add to a sample with the given running time.
func (w *scenario) add(rng *rand.Rand, runNs float64, x *Sample) float64 {
	lost := w.lost(rng, runNs)
	if x.Corrected != "" {
		lost *= w.held
	}
	return w.switchNs*float64(x.switches()) + lost
}

// lost draws what is lost within a running time.
func (w *scenario) lost(rng *rand.Rand, runNs float64) float64 {
	if len(w.looks) == 0 {
		return 0
	}
	var sum float64
	for left, from := runNs, rng.Float64(); left > 0; from = 0 {
		l := w.looks[rng.IntN(len(w.looks))]
		start := from * l.ranNs
		end := math.Min(l.ranNs, start+left)
		sum += l.between(start, end)
		left -= math.Max(end-start, 1)
	}
	sum *= w.factor
	for left := rng.ExpFloat64(); left < w.unseenPerNs*runNs; left += rng.ExpFloat64() {
		sum += w.unseenNs
	}
	return sum
}
