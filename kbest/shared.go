package kbest

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// slowed is what the station's probe says of its core now.
func slowed(s *Station) float64 {
	if s.Slowed == nil {
		return nan
	}
	return s.Slowed()
}

const (
	// sharedFrom is by what share independent instructions take longer on a core that is
	// shared, at the least: alone they differ by 1 to 3 %, and beside a busy hyperthread
	// they took 15 to 80 % longer (Zen 4).
	sharedFrom = 0.1
	// sharedMost is the share of samples that may be shared where it is not known whether that
	// slows them: the value rests on the lower ones.
	sharedMost = 0.25
	// sharedWithin is the share of samples within which the sharing began or ended, from
	// which on it may have done so unseen in the others.
	sharedWithin = 0.1
	// fewestApart samples on a core of their own tell what the others lost.
	fewestApart = 8
)

// shared reports that something else ran on the core just before or just after the sample.
func (x *Sample) shared() bool { return math.Max(x.SlowedBefore, x.SlowedAfter) > sharedFrom }

// sharing is what the accepted samples say of a core that something else used too.
type sharing struct {
	samples, of int     // that were shared, of all
	within      int     // samples in which it began or ended
	slowed      float64 // how much independent instructions typically took longer meanwhile
	// costs is by what share samples took longer meanwhile; NaN where there are too few of
	// one kind to tell.
	costs float64
}

// sharingOf asks the samples.
func (c *conclusion) sharingOf(samples []*Sample) sharing {
	s := sharing{of: len(samples), costs: nan}
	var slowed, apart, together []float64
	for _, x := range samples {
		if !x.shared() {
			apart = append(apart, c.perCall(x))
			continue
		}
		together = append(together, c.perCall(x))
		slowed = append(slowed, math.Max(x.SlowedBefore, x.SlowedAfter))
		if math.Min(x.SlowedBefore, x.SlowedAfter) <= sharedFrom {
			s.within++
		}
	}
	if s.samples = len(together); s.samples == 0 {
		return s
	}
	s.slowed = stats.Median(slowed)
	if len(apart) >= max(fewestApart, 2*c.m.plan.K) {
		s.costs = stats.Median(together)/stats.Median(apart) - 1
	}
	return s
}

// told reports that sharing the core slows the subject, as samples of both kinds tell.
func (s sharing) told() bool { return s.costs > unexplainedShare }

// rejectShared leaves out all samples on a shared core.
func (c *conclusion) rejectShared() {
	for i := range c.Samples {
		if x := &c.Samples[i]; x.shared() {
			x.Rejected = Shared
		}
	}
	rejected := func(x *Sample) bool { return x.Rejected != "" }
	for _, samples := range []*[]*Sample{&c.full, &c.half, &c.surveys} {
		*samples = slices.DeleteFunc(*samples, rejected)
	}
}

// judgeSharing says where the figure is, or may be, that of a core that was shared.
func (c *conclusion) judgeSharing() {
	s := c.sharing
	switch {
	case math.IsNaN(s.costs) && float64(s.samples) > sharedMost*float64(s.of):
		c.Lower(stats.Suspect, "the core was shared: around %d of %d samples independent instructions took %.2g %% longer than on a core of their own, and the subject may have been slowed as much: a busy hyperthread, perhaps of another virtual machine; measure again when it is idle", s.samples, s.of, 100*s.slowed)
	case s.told() && float64(s.within) > sharedWithin*float64(s.of) && s.costs*float64(s.within) > unexplainedShare*float64(s.of):
		c.Lower(stats.Suspect, "the core was shared for a part of %d of %d samples, which slows the subject, and perhaps unseen for a part of the others: a busy hyperthread, perhaps of another virtual machine; measure again when it is idle", s.within, s.of)
	}
}
