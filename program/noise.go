package program

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// noiseChecks holds looks at the CPUs, which show how much time interrupts take. They are made between runs, since that
// time changes from second to second.
type noiseChecks struct {
	// watch looks at the caller's CPU for the given time; nil if that is not possible.
	watch func(context.Context, time.Duration) machine.Noise
	looks []machine.Noise
	next  time.Time // when the next look is due; zero before the first one
}

// firstLook, nextLook and contendedLook are the lengths of the first look, of later ones, and of those while others want
// the CPU. lookAfter is the pause after a look. Looks take a twentieth of the time, or a sixth while others want the
// CPU.
const (
	firstLook, nextLook, contendedLook = 50 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond
	lookAfter                          = 500 * time.Millisecond
)

// newNoiseChecks starts with the noise that the setting knows.
func newNoiseChecks(setting Setting) *noiseChecks {
	w := &noiseChecks{watch: setting.Watch}
	w.add(setting.Noise)
	return w
}

func (w *noiseChecks) add(n machine.Noise) {
	if n.Known() {
		w.looks = append(w.looks, n)
	}
}

// look watches one of the given CPUs, or the caller's if none is given, if the next look is due. It reports whether it
// did so.
func (w *noiseChecks) look(ctx context.Context, cpus []int) bool {
	if w.watch == nil || time.Now().Before(w.next) {
		return false
	}
	span := w.span()
	pause := lookAfter
	if span == firstLook {
		pause *= 2
	}
	defer func() { w.next = time.Now().Add(pause) }()
	if len(cpus) > 0 {
		restore, err := machine.Pin(cpus)
		if err != nil {
			return false
		}
		defer func() { _ = restore() }()
	}
	w.add(w.watch(ctx, span))
	return true
}

// span returns the length of the next look. It is longer if other threads had the CPU for most of the last one.
func (w *noiseChecks) span() time.Duration {
	switch n := len(w.looks); {
	case w.next.IsZero():
		return firstLook
	case n > 0 && w.looks[n-1].WatchedNs < float64(nextLook)/2:
		return contendedLook
	}
	return nextLook
}

// withoutInterrupts returns the checks as if interrupts took no time.
func (w *noiseChecks) withoutInterrupts() *noiseChecks {
	without := &noiseChecks{}
	for _, n := range w.looks {
		n.Regular, n.IrregularShare, n.IrregularPerSecond, n.IrregularWorstNs = nil, 0, 0, 0
		without.looks = append(without.looks, n)
	}
	return without
}

// disturbance is what interrupts take of a typical run. The share of its running time that it loses is
// Noise.ShareLost(), or less by up to lessShare, or more by up to moreShare.
type disturbance struct {
	machine.Noise
	lessShare, moreShare float64
}

// typical returns the disturbance of a typical run that has the CPUs for ranNs. Where some looks saw much more than
// others, most short runs lost less than the mean, and most long runs lost about the mean.
func (w *noiseChecks) typical(ranNs float64) (d disturbance) {
	var perSecond float64
	var switches []float64
	for _, n := range w.looks {
		d.WatchedNs += n.WatchedNs
		perSecond += n.WatchedNs * n.IrregularPerSecond
		d.IrregularWorstNs = math.Max(d.IrregularWorstNs, n.IrregularWorstNs)
		if n.SwitchNs > 0 {
			switches = append(switches, n.SwitchNs)
		}
		if n.MostColdNs(0) > d.MostColdNs(0) { // a neighbour may have come since the looks before
			d.RefillNs, d.Refills = n.RefillNs, n.Refills
		}
	}
	d.SliceNs, d.SwitchNs = math.NaN(), stats.Median(switches)
	if !d.Known() {
		return d
	}
	d.IrregularPerSecond = perSecond / d.WatchedNs
	shares := w.typicalShares(ranNs)
	share := stats.Quantile(shares, 0.5)
	d.IrregularShare = share
	// An interruption that was seen once could by chance have been seen twice, or not at all. So the share may be off
	// by the longest one.
	once := math.Min(mostLost, d.IrregularWorstNs/d.WatchedNs)
	believed := math.Min(mostLost, share)
	d.lessShare = max(once, share-stats.Quantile(shares, sharesTail), believed*math.Hypot(looksError, oneLookError/float64(len(w.looks))))
	d.moreShare = max(once, stats.Quantile(shares, 1-sharesTail)-share, believed*machine.NoiseError)
	return d
}

const (
	// looksError is the relative error of the share that many looks saw, and oneLookError that of a single look, which is
	// divided by their number. On a machine that lost 6 to 8 %, long and short chains of instructions and gaps between
	// readings agreed within 5 % of that.
	looksError, oneLookError = 0.05, 0.4
	// resamples is the number of Monte Carlo draws of a typical run's share, and sampledLooks the number of looks
	// that each takes, in groups of a run's length, of which there are fewestGroups at least.
	resamples, sampledLooks, fewestGroups = 100, 200, 15
	// sharesTail is the part of the draws beyond each bound. It is less than 0.025 since bootstrap intervals of few looks
	// that differ much are too narrow.
	sharesTail = 0.01
	// longestRunNs is a length of runs from which on a typical run loses the mean.
	longestRunNs = 1e9
)

// typicalShares draws what a typical run of ranNs may have lost, as shares in order (a bootstrap). Each draw takes other
// looks, and the median of what groups of these lost that are as long as the run.
func (w *noiseChecks) typicalShares(ranNs float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := make([]machine.Noise, len(w.looks))
	shares := make([]float64, 0, resamples)
	for range resamples {
		for i := range drawn {
			drawn[i] = w.looks[rng.IntN(len(w.looks))]
		}
		var groups []float64
		for looks := 0; looks < sampledLooks || len(groups) < fewestGroups; {
			var watchedNs, lostNs float64
			for watchedNs == 0 || watchedNs < math.Min(ranNs, longestRunNs) {
				n := drawn[rng.IntN(len(drawn))]
				watchedNs, lostNs = watchedNs+n.WatchedNs, lostNs+n.WatchedNs*n.ShareLost()
				looks++
			}
			groups = append(groups, lostNs/watchedNs)
		}
		shares = append(shares, stats.Median(groups))
	}
	slices.Sort(shares)
	return shares
}
