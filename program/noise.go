package program

import (
	"context"
	"math"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// noiseChecks are looks at what interrupts took of the CPUs, made between the runs of the programs since
// that changes from second to second.
type noiseChecks struct {
	// watch looks at the caller's CPU for the given time; nil where that is not possible.
	watch func(context.Context, time.Duration) machine.Noise
	looks []machine.Noise
	next  time.Time // from when on the next look is due; zero before the first one
}

// The first look, later ones, and those where others want the CPU last so long. They take a twentieth of
// the time, or a sixth where others want the CPU.
const (
	firstLook, nextLook, crowdedLook = 50 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond
	lookAfter                        = 500 * time.Millisecond
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

// look watches one of the given CPUs, or the caller's where none is given, if the next look is due. It
// returns whether it did.
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

// span is the length of the next look. It is longer where competitors had most of the last one.
func (w *noiseChecks) span() time.Duration {
	switch n := len(w.looks); {
	case w.next.IsZero():
		return firstLook
	case n > 0 && w.looks[n-1].WatchedNs < float64(nextLook)/2:
		return crowdedLook
	}
	return nextLook
}

// joined is the noise of all looks together, and shareError the error of its share.
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
	}
	all.SliceNs, all.SwitchNs = math.NaN(), stats.Median(switches)
	if !all.Known() {
		return all, 0
	}
	all.IrregularShare, all.IrregularPerSecond = lostNs/all.WatchedNs, perSecond/all.WatchedNs
	// What was seen one time may as well not have been, or twice.
	shareError = math.Max(machine.NoiseError*math.Min(mostLost, all.IrregularShare), math.Min(mostLost, all.IrregularWorstNs/all.WatchedNs))
	return all, math.Max(shareError, shareErrors*w.standardError(all))
}

// shareErrors is how many standard errors the share may be off: more than the usual two,
// since most looks see little and few see much.
const shareErrors = 3

// standardError is that of the mean share, from how the looks differ; 0 of a single one.
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
