package env

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// NoiseChecks holds looks at the CPUs, which show how much time interrupts take. They are made between runs, since that
// time changes from second to second. The zero value and nil know nothing and do not look.
type NoiseChecks struct {
	// Watch looks at the caller's CPU for the given time; nil if that is not possible.
	Watch func(context.Context, time.Duration) machine.Noise
	looks []weighedLook
	last  time.Time         // when the last look ended; zero before the first one
	next  time.Time         // when the next look is due; zero before the first one
	drawn map[int][]float64 // results of typicalShares of these looks, by the number of looks that a run is as long as
}

// weighedLook is what a look saw, and for how much time it counts.
type weighedLook struct {
	machine.Noise
	weight float64
}

// firstLook, nextLook and contendedLook are the lengths of the first look, of later ones, and of those while others want
// the CPU. lookAfter is the pause after a look, and soonAfter that while the looks differ much. Looks take a twentieth of
// the time, or an eighth then, or a sixth while others want the CPU.
const (
	firstLook, nextLook, contendedLook = 50 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond
	lookAfter, soonAfter               = 500 * time.Millisecond, 175 * time.Millisecond
)

// ChecksOf returns checks that know the given noise, and do not look.
func ChecksOf(n machine.Noise) *NoiseChecks {
	w := &NoiseChecks{}
	w.Add(n)
	return w
}

// Add adds what a look saw. All that are added count alike.
func (w *NoiseChecks) Add(n machine.Noise) { w.add(n, float64(lookAfter)) }

func (w *NoiseChecks) add(n machine.Noise, weight float64) {
	if n.Known() {
		w.looks, w.drawn = append(w.looks, weighedLook{n, weight}), map[int][]float64{}
	}
}

// Look watches one of the given CPUs, or the caller's if none is given, if the next look is due. It reports whether it
// did so.
func (w *NoiseChecks) Look(ctx context.Context, cpus []int) bool {
	if w == nil || w.Watch == nil || time.Now().Before(w.next) {
		return false
	}
	span := w.span()
	defer func() {
		pause := lookAfter
		if span == firstLook {
			pause *= 2
		} else if span == nextLook && w.differ() {
			pause = soonAfter
		}
		w.next = time.Now().Add(pause)
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(cpus) > 0 {
		restore, err := machine.Pin(cpus)
		if err != nil {
			return false
		}
		defer func() { _ = restore() }()
	}
	seen, weight := w.Watch(ctx, span), float64(lookAfter)
	now := time.Now()
	if !w.last.IsZero() { // looks may be denser at some times than at others
		weight = math.Min(float64(now.Sub(w.last)), mostWeight*weight)
	}
	w.add(seen, weight)
	w.last = now
	return true
}

// span returns the length of the next look. It is longer if other threads had the CPU for most of the last one.
func (w *NoiseChecks) span() time.Duration {
	switch n := len(w.looks); {
	case w.next.IsZero():
		return firstLook
	case n > 0 && w.looks[n-1].WatchedNs < float64(nextLook)/2:
		return contendedLook
	}
	return nextLook
}

// differ reports whether the looks differ so much that a typical short run's share is known less well than it would be after
// many looks, by enough to matter.
func (w *NoiseChecks) differ() bool {
	if !w.Known() {
		return false
	}
	shares := w.typicalShares(1)
	share := stats.Quantile(shares, 0.5)
	return stats.Quantile(shares, 1-sharesTail)-share > math.Max(machine.NoiseError*share, smallShare)
}

// Known reports whether there was a look.
func (w *NoiseChecks) Known() bool { return w != nil && len(w.looks) > 0 }

// Disturbance is what interrupts take of a typical run. The share of its running time that it loses is
// Noise.LostShare, or less by up to LessShare, or more by up to MoreShare.
type Disturbance struct {
	machine.Noise
	LessShare, MoreShare float64
}

// WithInterruptsOf returns the disturbance with what interrupts take by another one; the zero value stands for
// none.
func (d Disturbance) WithInterruptsOf(other Disturbance) Disturbance {
	d.LostShare, d.LossesPerSecond, d.LongestLossNs = other.LostShare, other.LossesPerSecond, other.LongestLossNs
	d.LessShare, d.MoreShare = other.LessShare, other.MoreShare
	return d
}

// Typical returns the disturbance of a typical run that has the CPUs for ranNs. Where some looks saw much more than
// others, most short runs lost less than the mean, and most long runs lost about the mean.
func (w *NoiseChecks) Typical(ranNs float64) (d Disturbance) {
	if w == nil {
		return d
	}
	var lostNs, perSecond float64
	var switches []float64
	for _, n := range w.looks {
		d.WatchedNs += n.WatchedNs
		lostNs += n.WatchedNs * n.LostShare
		perSecond += n.WatchedNs * n.LossesPerSecond
		d.LongestLossNs = math.Max(d.LongestLossNs, n.LongestLossNs)
		if n.SwitchNs > 0 {
			switches = append(switches, n.SwitchNs)
		}
		if n.MostColdNs(0) > d.MostColdNs(0) { // the longest refill of all looks counts: neighbours that use the caches come and go
			d.RefillNs, d.Refills = n.RefillNs, n.Refills
		}
	}
	d.SwitchNs = stats.Median(switches)
	if !d.Known() {
		return d
	}
	runLooks := 1
	if ranNs > 0 {
		runLooks = max(1, int(math.Min(ranNs, longestRunNs)/float64(nextLook)))
	}
	shares := w.typicalShares(runLooks)
	share := stats.Quantile(shares, 0.5)
	d.LostShare = share
	if lostNs > 0 { // the number of interrupts is taken to be proportional to what they take
		d.LossesPerSecond = perSecond / lostNs * share
	}
	// An interruption that was seen once could by chance have been seen twice, or not at all. So the share may be off
	// by the longest one.
	once := math.Min(MostLost, d.LongestLossNs/d.WatchedNs)
	believed := math.Min(MostLost, share)
	few := math.Min(mostLookError, float64(nextLook)/d.WatchedNs)
	d.LessShare = max(once, share-stats.Quantile(shares, sharesTail), believed*math.Hypot(looksError, few))
	d.MoreShare = max(once, stats.Quantile(shares, 1-sharesTail)-share, believed*math.Max(machine.NoiseError, few))
	return d
}

// MostLost is the largest share of running time that interrupts are believed to take.
const MostLost = 0.5

const (
	// looksError is the relative error of the share that many looks saw. On a machine that lost 6 to 8 %, long and short
	// chains of instructions and gaps between readings agreed within 5 % of that. The differences of few looks tell
	// little of it: after n looks 1/n is added, at most mostLookError.
	looksError, mostLookError = 0.05, 0.4
	// smallShare is a share of the time that is not worth another look.
	smallShare = 0.002
	// mostWeight is the most that a look counts, compared with one after the usual pause: of a long pause it says little.
	mostWeight = 4
	// resamples is the number of Monte Carlo draws of a typical run's share. Each takes about sampledLooks looks, in
	// fewestGroups groups or more that are as long as a run.
	resamples, sampledLooks, fewestGroups = 100, 100, 15
	// sharesTail is the part of the draws beyond each bound. It is less than 0.025 since bootstrap intervals of few looks
	// that differ much are too narrow.
	sharesTail = 0.01
	// mostPicks bounds the looks of a group, of which others may have left hardly any time.
	mostPicks = 200
	// longestRunNs is a length of runs from which on a typical run loses the mean.
	longestRunNs = 1e9
)

// typicalShares draws what a typical run that is as long as the given number of looks may have lost, as shares in order (a
// bootstrap). Each draw takes other looks, and the median of what groups of these lost that are as long as the run.
func (w *NoiseChecks) typicalShares(runLooks int) []float64 {
	if len(w.looks) == 1 {
		return []float64{w.looks[0].LostShare}
	}
	if shares, ok := w.drawn[runLooks]; ok {
		return shares
	}
	rng := rand.New(rand.NewPCG(1, 2))
	drawn, until := make([]*weighedLook, len(w.looks)), make([]float64, len(w.looks)) // until sums the weights
	shares, groups := make([]float64, 0, resamples), make([]float64, 0, sampledLooks)
	for range resamples {
		for i := range drawn {
			drawn[i] = &w.looks[rng.IntN(len(w.looks))]
			until[i] = drawn[i].weight
			if i > 0 {
				until[i] += until[i-1]
			}
		}
		groups = groups[:0]
		for len(groups) < max(fewestGroups, sampledLooks/runLooks) {
			var watchedNs, lostNs float64
			for picks := 0; watchedNs < (float64(runLooks)-0.5)*float64(nextLook) && picks < mostPicks; picks++ {
				i, _ := slices.BinarySearch(until, rng.Float64()*until[len(until)-1])
				n := drawn[i]
				watchedNs, lostNs = watchedNs+n.WatchedNs, lostNs+n.WatchedNs*n.LostShare
			}
			groups = append(groups, lostNs/watchedNs)
		}
		shares = append(shares, stats.Median(groups))
	}
	slices.Sort(shares)
	w.drawn[runLooks] = shares
	return shares
}
