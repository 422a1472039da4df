package env

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

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
	// sharedMost is the largest share of samples on a shared core for which there is no suspicion, even if sharing may
	// have slowed the result by more than its interval allows for. It lets a result pass if one of ten runs was on a
	// shared core.
	sharedMost = 0.15
)

// Shared reports whether something else ran on the core just before or just after the sample.
func (p Probed) Shared() bool { return math.Max(p.SlowedBefore, p.SlowedAfter) > SharedFrom }

// sharedUnlike is the significance level of [SharedAlike].
const sharedUnlike = 0.01

// SharedAlike reports whether the two subjects of a comparison shared their cores about equally often. first[i] and
// second[i] say whether the samples of pair i did. If mostly one subject did, the probes of the other have probably
// missed some cases (exact sign test, McNemar 1947).
func SharedAlike(first, second []bool) bool {
	one, other := 0, 0
	for i := range first {
		switch {
		case first[i] && !second[i]:
			one++
		case second[i] && !first[i]:
			other++
		}
	}
	if one == other {
		return true
	}
	return 2*distuv.Binomial{N: float64(one + other), P: 0.5}.CDF(float64(min(one, other))) >= sharedUnlike
}

// Sharing tells of samples whose core something else used, too.
type Sharing struct {
	Samples, Of int     // number of samples on a shared core, and of all samples
	Slowed      float64 // typical share by which independent instructions took longer on the shared core
	Cost        Cost

	matters float64
}

// SharingOf returns what samples tell of sharing. A cost beyond the share matters is worth leaving out samples on a
// shared core. Without pauses (nil) nothing tells whether sharing recurs with a period.
func SharingOf(samples []Probed, pauses []Pause, matters float64) Sharing {
	s := Sharing{Of: len(samples), matters: matters}
	var slowed []float64
	for _, p := range samples {
		if p.Shared() {
			slowed = append(slowed, math.Max(p.SlowedBefore, p.SlowedAfter))
		}
	}
	if s.Samples = len(slowed); s.Samples > 0 {
		s.Slowed, s.Cost = stats.Median(slowed), costOf(samples, pauses)
	}
	return s
}

// Told reports whether the samples show that sharing the core slows the work.
func (s Sharing) Told() bool { return s.Cost.Known() && s.Cost.Lo > s.matters }

// Most returns the greatest share by which sharing may have slowed a typical sample, or a typical one of the others if
// those on a shared core are left out. It is at most what independent instructions lost, unless the samples show more.
func (s Sharing) Most(leftOut bool) float64 {
	cost := s.Cost.AtMost(s.Slowed)
	if leftOut || 2*s.Samples < s.Of {
		return cost.Unseen()
	}
	return cost.Hi
}

// Suspicion returns the reason why the figure may be slowed by a shared core, or an empty string if there is none. what
// is the noun for the samples in that text, and assumed the share beyond which sharing is taken to cost nothing unless that
// is shown.
func (s Sharing) Suspicion(what string, assumed float64) string {
	if float64(s.Samples) <= sharedMost*float64(s.Of) || !s.Cost.MayExceed(assumed) {
		return ""
	}
	return fmt.Sprintf("the core was shared: around %d of %d %s independent instructions took %s longer than on a core of their own, and the subject may have been slowed as much: a busy hyperthread, perhaps of another virtual machine; measure again when it is idle", s.Samples, s.Of, what, stats.Share(s.Slowed))
}
