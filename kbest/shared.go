package kbest

import (
	"math"
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

// fewestBeside samples of either kind in a block tell what sharing cost there.
const fewestBeside = 2

// probed is a sample with what the probes said around it.
func (c *conclusion) probed(x *Sample) env.Probed {
	return env.Probed{Ns: c.perCall(x), SlowedBefore: x.SlowedBefore, SlowedAfter: x.SlowedAfter}
}

// sharingOf compares samples on a shared core with others. Where these take longer, only samples that
// follow one another are compared, if enough do: the cost of the work itself may change in phases.
func (c *conclusion) sharingOf(samples []*Sample) env.Sharing {
	var probed []env.Probed
	for _, x := range samples {
		probed = append(probed, c.probed(x))
	}
	fewest := max(fewestApart, 2*c.m.plan.K)
	s := env.SharingOf(probed, fewest, unexplainedShare)
	if s.Told() {
		if near := env.SharingOf(besideEachOther(probed), fewest, unexplainedShare); !math.IsNaN(near.Costs) && !near.Told() {
			s.Costs = near.Costs
		}
	}
	return s
}

// besideEachOther are the samples of blocks in which the core was shared in some and not in others,
// each divided by the median of its block.
func besideEachOther(probed []env.Probed) (beside []env.Probed) {
	for block := range slices.Chunk(probed, blockOf) {
		var apart []float64
		for _, p := range block {
			if !p.Shared() {
				apart = append(apart, p.Ns)
			}
		}
		if few := min(len(apart), len(block)-len(apart)); few < fewestBeside {
			continue
		}
		typical := stats.Median(apart)
		for _, p := range block {
			p.Ns /= typical
			beside = append(beside, p)
		}
	}
	return beside
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
