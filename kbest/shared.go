package kbest

import (
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// slowed is what the station's probe says of its core now.
func slowed(s *Station) float64 {
	if s.Slowed == nil {
		return nan
	}
	return s.Slowed()
}

// fewestApart samples on a core of their own tell what the others lost.
const fewestApart = 8

// probed is a sample with what the probes said around it.
func (c *conclusion) probed(x *Sample) env.Probed {
	return env.Probed{Ns: c.perCall(x), SlowedBefore: x.SlowedBefore, SlowedAfter: x.SlowedAfter}
}

// sharingOf asks the samples.
func (c *conclusion) sharingOf(samples []*Sample) env.Sharing {
	var probed []env.Probed
	for _, x := range samples {
		probed = append(probed, c.probed(x))
	}
	return env.SharingOf(probed, max(fewestApart, 2*c.m.plan.K), unexplainedShare)
}

// rejectShared leaves out all samples on a shared core.
func (c *conclusion) rejectShared() {
	for i := range c.Samples {
		if x := &c.Samples[i]; c.probed(x).Shared() {
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
	if why := c.sharing.Suspicion("samples"); why != "" {
		c.Lower(stats.Suspect, "%s", why)
	}
}
