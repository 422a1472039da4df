package program

import (
	"context"
	"math"
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

// joined returns the noise of all looks together, and the error of its share.
func (w *noiseChecks) joined() (all machine.Noise, shareError float64) {
	var lostNs, perSecond float64
	var switches []float64
	for _, n := range w.looks {
		all.WatchedNs += n.WatchedNs
		lostNs += n.WatchedNs * n.ShareLost()
		perSecond += n.WatchedNs * n.IrregularPerSecond
		all.IrregularWorstNs = math.Max(all.IrregularWorstNs, n.IrregularWorstNs)
		if n.SwitchNs > 0 {
			switches = append(switches, n.SwitchNs)
		}
		if n.MostColdNs(0) > all.MostColdNs(0) { // a neighbour may have come since the looks before
			all.RefillNs, all.Refills = n.RefillNs, n.Refills
		}
	}
	all.SliceNs, all.SwitchNs = math.NaN(), stats.Median(switches)
	if !all.Known() {
		return all, 0
	}
	all.IrregularShare, all.IrregularPerSecond = lostNs/all.WatchedNs, perSecond/all.WatchedNs
	// An interruption that was seen once could by chance have been seen twice, or not at all. So the share may be off
	// by the longest one.
	shareError = math.Max(machine.NoiseError*math.Min(mostLost, all.IrregularShare), math.Min(mostLost, all.IrregularWorstNs/all.WatchedNs))
	return all, math.Max(shareError, shareErrors*w.standardError(all))
}

// shareErrors is the number of standard errors by which the share may be off. It is more than the usual two, since most
// looks see little and few see much.
const shareErrors = 3

// standardError returns the standard error of the mean share, from the differences of the looks; 0 for a single look.
func (w *noiseChecks) standardError(all machine.Noise) float64 {
	n := float64(len(w.looks))
	if n < 2 {
		return 0
	}
	var squares float64
	for _, look := range w.looks {
		off := (look.ShareLost() - all.IrregularShare) * look.WatchedNs / all.WatchedNs
		squares += off * off
	}
	return math.Sqrt(squares * n / (n - 1))
}
