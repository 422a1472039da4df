package env

import (
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Core measures how fast the core runs, by a chain of instructions of known latency. Its functions
// allocate nothing and take a few microseconds.
type Core struct {
	// CoreHz returns the present rate of the core. It is nil if the rate can't be measured; a slow
	// core then can't be told from slow work.
	CoreHz func() float64
	// CoreHzError is the largest relative error that all results of CoreHz have in common.
	CoreHzError float64
	// Spin executes instructions of constant speed for a few microseconds; nil if there are none.
	Spin func()
	// Slowed returns the share by which independent instructions now take longer than on a core that
	// nothing shares ([clock.PortProbe]); nil if unknown.
	Slowed func() float64
}

const (
	chainNs = 6e3
	// shortChains is the number of chains that are timed for one result of CoreHz. The fastest
	// counts, because disturbances only slow a chain down.
	shortChains = 3
	// chainTries is the number of tries for finding the number of rounds of the chain, and for
	// measuring the chain on a fast core.
	chainTries = 64
	// calibrations is the number of calibrations of the chain. Their differences show the error
	// of each, because the rate may change in between.
	calibrations = 3
)

// FollowCore calibrates a short chain against [clock.CoreRate]. It takes about 20 ms.
func FollowCore(c clock.Rated) Core {
	tick := c.TickNs
	rate, err := clock.NewRate(stats.Estimate{Value: 1e9 / tick.Value, Lo: 1e9 / tick.Hi, Hi: 1e9 / tick.Lo})
	if err != nil {
		return Core{}
	}
	rounds := roundsFor(c, chainNs)
	core := Core{Spin: func() { clock.Spin(rounds) }}
	if probe, err := clock.NewPortProbe(c); err == nil {
		core.Slowed = probe.Slowed
	}
	var cycles []float64 // of one chain
	for range calibrations {
		hz, err := clock.CoreRate(c.Clock, rate)
		if err != nil {
			return Core{Spin: core.Spin, Slowed: core.Slowed}
		}
		cycles = append(cycles, fastChain(c, rounds)*hz.Value/1e9)
		core.CoreHzError = math.Max(core.CoreHzError, hz.RelativeHalfWidth())
	}
	slices.Sort(cycles)
	chain := stats.Quantile(cycles, 0.5)
	core.CoreHzError += (cycles[len(cycles)-1] - cycles[0]) / 2 / chain
	core.CoreHz = func() float64 { return chain / leastChain(c, rounds, shortChains) * 1e9 }
	return core
}

// fastChain returns the nanoseconds that a chain takes while the core is fast. The caller
// multiplies them by the result of [clock.CoreRate], which also holds while the core is fast.
func fastChain(c clock.Rated, rounds int) float64 {
	var chains []float64
	for range chainTries {
		chains = append(chains, leastChain(c, rounds, shortChains))
	}
	return stats.QuantileOf(chains, 0.1)
}

// roundsFor returns the number of rounds of the chain that take ns nanoseconds.
func roundsFor(c clock.Rated, ns float64) int {
	const probe = 1000
	return max(1, int(probe*ns/leastChain(c, probe, chainTries)))
}

// leastChain returns the least nanoseconds that a chain took in the given number of tries, at least
// one tick.
func leastChain(c clock.Rated, rounds, tries int) float64 {
	least := math.Inf(1)
	for range tries {
		start := c.Start()
		clock.Spin(rounds)
		least = math.Min(least, c.Ns(c.End()-start))
	}
	return math.Max(least, c.TickNs.Value)
}
