package env

import (
	"context"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// probeEvery is the time between two probes of [ProbeCore].
const probeEvery = time.Millisecond

// ProbeCore probes the core of the caller's CPU for the time span. It returns the share of the probes in which something
// else used the core, such as a hyperthread of another virtual machine, and by which share independent instructions
// typically took longer then. Lock the goroutine to its thread before the call.
func ProbeCore(ctx context.Context, c clock.Rated, span time.Duration) (shared, slowed float64, err error) {
	probe, err := clock.NewPortProbe(c)
	if err != nil {
		return 0, 0, err
	}
	var all []float64
	probes := 0
	for begun := time.Now(); time.Since(begun) < span && ctx.Err() == nil; probes++ {
		if s := probe.Slowed(); s > SharedFrom {
			all = append(all, s)
		}
		time.Sleep(probeEvery)
	}
	if probes == 0 {
		return 0, 0, ctx.Err()
	}
	if len(all) == 0 {
		return 0, 0, nil
	}
	return float64(len(all)) / float64(probes), stats.Median(all), nil
}
