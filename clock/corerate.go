package clock

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"chronoscope/stats"
)

const (
	corePairs   = 200 // number of pairs of a short and a long chain
	coreFastest = 10  // number of the fastest chains of each length that are used
)

// CoreRate measures the rate of the core on which it runs, in Hz. It times a chain of
// instructions of known latency, each of which needs the result of the one before, with a
// calibrated counter. The core's rate is not the counter's rate, and it changes with load,
// temperature and what the neighbours do: measure it at the same time as the work that it is to
// explain. CoreRate takes about 6 ms.
//
// On amd64 the instruction is imul r64, r64, which takes 3 cycles on every Intel core since
// Nehalem and on every Zen core (Fog, Instruction tables; uops.info). On arm64 it is an addition
// of registers, which takes 1 cycle on the cores of Arm and Apple. A core that takes more cycles
// for it seems to be slower than it is, and CoreRate can't detect that.
//
// The time of a long chain minus that of a short one does not contain the cost of the readings.
// Only the fastest chains of many are used, because interrupts and neighbours only slow a chain
// down. The interval covers the spread of the fastest, the counter's step and the interval of
// the counter's rate.
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

// stepOf returns how far a reading of the clock may be from the truth: the clock's step, or the
// cost of a reading if that is larger.
func stepOf(c *Clock) int64 {
	readings := make([]int64, 64)
	c.Chain(0, readings)
	return leastStep(readings)
}

// coreChains times short chains and chains of twice that length in turn. It returns the times of
// both in ticks, sorted.
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
