package clock

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"chronoscope/stats"
)

const (
	corePairs   = 200 // pairs of a short and a long chain
	coreFastest = 10  // of each are believed
)

// CoreRate measures the rate of the core that it runs on, in Hz: a chain of
// instructions of known latency, each of which waits for the one before, timed
// with a calibrated counter. That rate is not the counter's, and changes with
// load, heat and neighbours: measure it beside what it is to explain. It takes
// some 6 ms.
//
// On amd64 the instruction is imul r64, r64, of 3 cycles on every Intel core
// since Nehalem and on every Zen core (Fog, Instruction tables; uops.info). On
// arm64 it is an addition of registers, of 1 cycle on the cores of Arm and
// Apple; a core that takes longer shows as a slower one, and nothing here
// tells.
//
// A long chain less a short one leaves the cost of the readings out. The
// fastest of many are used, as interrupts and neighbours only slow a chain
// down; their spread, the counter's step and the interval of its rate make the
// interval.
func CoreRate(counter *Clock, rate Rate) (stats.Estimate, error) {
	if coreOperationCycles == 0 {
		return stats.Estimate{}, errors.New("no instruction of known latency on " + runtime.GOARCH)
	}
	short, long := coreChains(counter)
	cycles := float64(coreShortRounds * coreRoundOperations * coreOperationCycles)
	step := stepOf(counter)
	least, most := long[0]-short[coreFastest-1]-step, long[coreFastest-1]-short[0]+step
	if least <= 0 {
		return stats.Estimate{}, fmt.Errorf("%s does not tell a chain from one twice as long: it is too coarse, or the machine too busy", counter.Name)
	}
	middle := long[coreFastest/2] - short[coreFastest/2]
	return stats.Estimate{
		Value: cycles / float64(middle) * rate.Hz.Value,
		Lo:    cycles / float64(most) * rate.Hz.Lo,
		Hi:    cycles / float64(least) * rate.Hz.Hi,
		Unit:  "Hz", Statistic: "min-k",
		N: 2 * coreFastest, Discarded: 2 * (corePairs - coreFastest),
	}, nil
}

// stepOf is how far a reading of the clock may lie from the truth: its step, or
// the cost of a reading where that is more.
func stepOf(c *Clock) int64 {
	readings := make([]int64, 64)
	c.Chain(0, readings)
	return leastStep(readings)
}

// coreChains times chains of the one length and of twice that, in turn, and
// sorts the times in ticks.
func coreChains(counter *Clock) (short, long []int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	short, long = make([]int64, corePairs), make([]int64, corePairs)
	for i := range corePairs {
		short[i] = coreChain(counter, coreShortRounds)
		long[i] = coreChain(counter, 2*coreShortRounds)
	}
	slices.Sort(short)
	slices.Sort(long)
	return short, long
}

func coreChain(counter *Clock, rounds int) int64 {
	start := counter.Start()
	dependentChain(rounds)
	return counter.End() - start
}
