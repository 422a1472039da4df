package kbest

import (
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// fewestApart is the smallest number of samples on a core of their own that count without the others.
const fewestApart = 8

// fewestBeside is the least number of samples on a shared core, and of other samples, in a block that shows the
// cost of sharing.
const fewestBeside = 2

// probed returns a sample's time per call with what the probes around it said.
func (c *conclusion) probed(x *Sample) env.Probed {
	return env.Probed{Ns: c.perCall(x), SlowedBefore: x.SlowedBefore, SlowedAfter: x.SlowedAfter}
}

// sharingOf compares samples on a shared core with the others. If the shared ones take longer, only samples
// that were taken one after the other are compared, if there are enough: the cost of the work itself may change
// in phases.
func (c *conclusion) sharingOf(samples []*Sample) env.Sharing {
	var probed []env.Probed
	for _, x := range samples {
		probed = append(probed, c.probed(x))
	}
	s := env.SharingOf(probed, nil, unexplainedShare)
	if s.Told() {
		if near := env.SharingOf(besideEachOther(probed), nil, unexplainedShare); near.Samples > 0 && near.Cost.Known() && !near.Told() {
			s.Cost = near.Cost
		}
	}
	return s
}

// leavesOutShared reports whether samples on a shared core are left out: if these took longer, and the others are enough.
func (c *conclusion) leavesOutShared() bool {
	return c.sharing.Told() && c.mayLeaveOut()
}

// mayLeaveOut reports whether the samples that did not share a core are enough.
func (c *conclusion) mayLeaveOut() bool {
	return len(c.full)-c.sharing.Samples >= max(fewestApart, 2*c.m.plan.K)
}

// besideEachOther returns the samples of those blocks in which some samples shared the core and others did not,
// each divided by the median of its block's unshared samples.
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

// judgeSharing lowers the verdict if samples on a shared core count, and don't tell what that costs.
func (c *conclusion) judgeSharing() {
	if c.Rejected[Shared] > 0 {
		return
	}
	if why := c.sharing.Suspicion("samples", c.sharing.Slowed); why != "" {
		c.Lower(stats.Suspect, "%s", why)
	}
}
