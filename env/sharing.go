package env

import (
	"fmt"
	"math"

	"chronoscope/stats"
)

// Probed is a sample with the results of [Core.Slowed] before and after it.
type Probed struct {
	// Ns is the time of the work.
	Ns float64
	// SlowedBefore and SlowedAfter are the shares by which independent instructions took longer than
	// on a core that nothing shares, just before and just after the sample; NaN if unknown.
	SlowedBefore, SlowedAfter float64
}

const (
	// SharedFrom is a share by which independent instructions take longer. If they take longer by more than
	// this, the core counts as shared. On a core that is not shared they differ by 1 to 3 %; with a busy
	// hyperthread they took 15 to 80 % longer (Zen 4).
	SharedFrom = 0.1
	// SharedTimes is an upper bound of the factor by which work takes longer because something
	// else uses its core, caches or memory. A busy hyperthread sibling makes work take up to
	// twice as long.
	SharedTimes = 2.5
	// sharedMost is the largest share of samples on a shared core for which a result is accepted
	// although it is not known whether sharing slows the work. The result then rests on the lower
	// samples.
	sharedMost = 0.25
	// sharedWithin is a share of samples. If sharing began or ended during at least this share,
	// it may also have begun and ended unnoticed within other samples.
	sharedWithin = 0.1
)

// Shared reports whether something else ran on the core just before or just after the sample.
func (p Probed) Shared() bool { return math.Max(p.SlowedBefore, p.SlowedAfter) > SharedFrom }

// Sharing compares samples on a shared core with samples on a core that was not shared.
type Sharing struct {
	Samples, Of int     // number of samples on a shared core, and of all samples
	Within      int     // number of samples during which sharing began or ended
	Slowed      float64 // typical share by which independent instructions took longer on the shared core
	// Costs is the share by which samples take longer while the core is shared; NaN if there are too
	// few samples of either kind, or if sharing comes and goes so often that both kinds shared the core for as long.
	Costs float64

	matters float64
}

// SharingOf compares samples on a shared core with samples on a core that was not shared, if there
// are at least fewestApart of the latter. Costs that exceed the share matters lower the verdict.
func SharingOf(samples []Probed, fewestApart int, matters float64) Sharing {
	s := Sharing{Of: len(samples), Costs: math.NaN(), matters: matters}
	var slowed, apart, together []float64
	for _, p := range samples {
		if !p.Shared() {
			apart = append(apart, p.Ns)
			continue
		}
		together = append(together, p.Ns)
		slowed = append(slowed, math.Max(p.SlowedBefore, p.SlowedAfter))
		if math.Min(p.SlowedBefore, p.SlowedAfter) <= SharedFrom {
			s.Within++
		}
	}
	if s.Samples = len(together); s.Samples == 0 {
		return s
	}
	s.Slowed = stats.Median(slowed)
	if len(apart) >= fewestApart {
		s.Costs = s.whileShared(stats.Median(together)/stats.Median(apart) - 1)
	}
	return s
}

// whileShared returns the cost of sharing for the whole of a sample. Samples that count as shared took longer than the
// others by a share, but were shared for a part of their time, and the others may have been so for a part of theirs.
func (s Sharing) whileShared(longer float64) float64 {
	if s.Within == 0 {
		return longer
	}
	shared, changed := s.ends()
	if changed > hardlyStays {
		return math.NaN()
	}
	unseen := meanwhile(shared, changed)
	together := 1 - meanwhile(1-shared, changed)
	together += float64(s.Within) / float64(s.Samples) * (0.5 - together)
	if apart := together - unseen - unseen*math.Max(0, longer); apart > 0 {
		return longer / apart
	}
	return math.NaN()
}

// Told reports whether the samples show that sharing the core slows the work.
func (s Sharing) Told() bool { return s.Costs > s.matters }

// Suspicion returns the reason why the figure is or may be slowed by a shared core, or an empty
// string if there is none. what is the noun for the samples in that text.
func (s Sharing) Suspicion(what string) string {
	const whose = "a busy hyperthread, perhaps of another virtual machine; measure again when it is idle"
	switch {
	case math.IsNaN(s.Costs) && float64(s.Samples) > sharedMost*float64(s.Of):
		return fmt.Sprintf("the core was shared: around %d of %d %s independent instructions took %s longer than on a core of their own, and the subject may have been slowed as much: %s", s.Samples, s.Of, what, stats.Share(s.Slowed), whose)
	case s.Told() && float64(s.Within) > sharedWithin*float64(s.Of) && s.Costs*float64(s.Within) > s.matters*float64(s.Of):
		return fmt.Sprintf("the core was shared for a part of %d of %d %s, which slows the subject, and perhaps unseen for a part of the others: %s", s.Within, s.Of, what, whose)
	}
	return ""
}

// hardlyStays is an upper limit of a ratio in [Sharing.Unseen]: the share of samples whose two ends differ in sharing,
// divided by the share that would differ if the two ends were independent. Above the limit, the difference from
// independence may be chance.
const hardlyStays = 0.9

// Unseen returns the typical share of a sample during which the core was shared although it was not shared just
// before and just after. It is computed from how often sharing began or ended during samples, if it comes and
// goes at random, as a Markov chain of two states does.
func (s Sharing) Unseen() float64 {
	if s.Samples == 0 || s.Within == 0 {
		return 0
	}
	shared, changed := s.ends()
	if changed > hardlyStays { // the ends of a sample are as good as independent
		return shared
	}
	return meanwhile(shared, changed)
}

// ends returns the share of the ends of samples that were on a shared core, and the share of samples whose ends differ,
// divided by what that would be if the two ends were independent.
func (s Sharing) ends() (shared, changed float64) {
	shared = (float64(s.Samples) - float64(s.Within)/2) / float64(s.Of)
	return shared, math.Min(1, float64(s.Within)/float64(s.Of)/(2*shared*(1-shared)))
}

// meanwhile returns the typical share of a sample during which a Markov chain was in a state that it was not in at both
// ends: it is in that state for a share of the time, and the ends of samples differ by a share of independent ones.
func meanwhile(share, changed float64) float64 {
	stays := 1 - changed
	both := 1 + stays + 2*changed/math.Log(stays)
	return share * (1 - share) * both / (1 - share + share*stays)
}
