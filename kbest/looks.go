package kbest

import (
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// look is what a stretch of short chains between the samples saw the CPU lose.
type look struct {
	// ranNs is the length of the stretch without what was lost.
	ranNs float64
	// atNs are where in ranNs something was lost, in order, and lostNs how much up to and
	// with each of these.
	atNs, lostNs []float64
}

// add appends what was lost after the given running time more.
func (l *look) add(ranNs, lostNs float64) {
	l.ranNs += ranNs
	if lostNs > 0 {
		l.atNs, l.lostNs = append(l.atNs, l.ranNs), append(l.lostNs, l.total()+lostNs)
	}
}

// total is all that was lost.
func (l *look) total() float64 { return l.before(len(l.lostNs)) }

// before is what the first n losses took.
func (l *look) before(n int) float64 {
	if n == 0 {
		return 0
	}
	return l.lostNs[n-1]
}

// between returns how much time was lost between two moments.
func (l *look) between(from, to float64) float64 {
	first, _ := slices.BinarySearch(l.atNs, from)
	last, _ := slices.BinarySearch(l.atNs, to)
	return l.before(last) - l.before(first)
}

// looks are the looks of a measurement, the first before the samples and the others between
// them: what a CPU loses changes from second to second.
type looks struct {
	all []look
	// ranNs is the length of all of them, lostNs what was lost, and awayNs what CPU time
	// lacks of both, with an error of awayErrorNs.
	ranNs, lostNs, awayNs, awayErrorNs float64
}

const (
	lookNs = 20e6
	// lookShare is how long the looks take in all beside the samples. Samples that few
	// interruptions hit say little themselves of what these take.
	lookShare, shortLookShare = 0.25, 1
	lookWindow                = 48  // chains between two looks at the kernel's counts
	mostWindows               = 256 // whatever becomes of them
	// leastLossNs and leastLossShare of a chain are more than chains differ by themselves.
	leastLossNs, leastLossShare = 200, 0.03
	// stolenNs of a single loss that CPU time lacks was taken by a hypervisor: samples that
	// lose as much are corrected by their CPU time.
	stolenNs = 2e5
)

// takeLook runs short chains for a while: what one takes beyond the typical was taken from
// it. Stretches in which others had the CPU are left out.
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

// known reports that there was a look.
func (l *looks) known() bool { return len(l.all) > 0 }

// share is which share of its running time the CPU lost; 0 where that is not known.
func (l *looks) share() float64 { return l.lostNs / math.Max(1, l.ranNs) }

// due reports that samples, each of tookNs, which ran for so long deserve another look.
func (l *looks) due(samplesNs, tookNs float64) bool {
	share := lookShare
	if tookNs <= escapeNs {
		share = shortLookShare
	}
	return l.known() && float64(len(l.all))*lookNs < share*samplesNs
}

// disturbances is a model of what a CPU adds to the running time of a sample: what the looks
// saw, again, from other moments on.
type disturbances struct {
	looks *looks
	// switches is what each switch adds, spread how far the factor of a scenario may lie from 1
	// after many looks, a standard deviation as a logarithm.
	switches switchCost
	spread   float64
}

// scenario is one possible truth about the disturbances.
type scenario struct {
	// looks are as many as there were, drawn from them (a bootstrap).
	looks []*look
	// factor is by how much more is lost than they saw, held the share of it that CPU time
	// holds, as kernels may leave interrupts out of it.
	factor, held float64
	// switchNs is what each switch takes.
	switchNs float64
	// unseenPerNs and unseenNs are of interruptions so rare that the looks missed them.
	unseenPerNs, unseenNs float64
}

const (
	// factorSpread is the standard deviation of a scenario's factor after one look, as a
	// logarithm, keptSpread after many for samples that kept their CPU, and switchedSpread for
	// others: looks see nothing of what comes with a switch, such as the tick that makes it
	// (off by 0.5 % at 60 ms beside three loops on the EPYC, where 1.4 % are lost).
	factorSpread, keptSpread, switchedSpread = 0.4, 0.15, 0.25
	// leastUnseenNs and mostUnseenNs are lengths of what looks can have missed.
	leastUnseenNs, mostUnseenNs = 1e3, 2e5
)

// draw chooses one possible truth about the disturbances.
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

// lacking is which share of the losses CPU time does not hold, at least and at most.
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

// leastLacking is a share of the losses below which CPU time holds all of them: what a host
// takes is never left out of it, nor are the kernel's interrupts where it does not account for
// them by themselves (CONFIG_IRQ_TIME_ACCOUNTING).
const leastLacking = 0.25

// add draws what is in a sample of that running time.
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
