package clock

import "math"

// counterClocks opens each of the clocks that read the virtual counter (Arm Architecture
// Reference Manual for A-profile, "The Generic Timer").
var counterClocks = map[string]opener{
	"cntvct":        openCounter("MRS CNTVCT_EL0", counter, counterChain),
	"cntvct-fenced": openCounter("ISB; MRS CNTVCT_EL0", counterFenced, counterFencedChain),
}

func openCounter(api string, read func() int64, chain func(int, []int64)) opener {
	return func() (*Clock, error) {
		note, err := tried(instructionCNTVCT)
		if err != nil {
			return nil, err
		}
		return counterClock(api+note+trapped(read), read, chain), nil
	}
}

// counterEnd needs the same two barriers as counterStart, since no instruction
// of this architecture waits for the earlier ones by itself.
func counterEnd() int64 { return counterStart() }

// The rounds of the shorter chain (10 us at about 4 GHz), and the cycles of one operation (add).
const coreShortRounds, coreOperationCycles = 2400, 1

// processorRates returns the rate that the firmware wrote into CNTFRQ_EL0 (Arm Architecture
// Reference Manual, "The Generic Timer"). It returns none if the counter can't be read, because
// the same bit of the system's control register allows both.
func processorRates() []CrossCheck {
	if _, err := tried(instructionCNTVCT); err != nil {
		return nil
	}
	hz := counterFrequency()
	if hz <= 0 {
		return nil
	}
	return []CrossCheck{{Source: "CNTFRQ_EL0", Hz: float64(hz)}}
}

func counterFrequency() int64

// identified reports whether the processor has the instruction. Every processor of this
// architecture has the virtual counter.
func identified(i instruction) bool { return i == instructionCNTVCT }

// AdditionsPerCycle returns NaN: the rate of these processors is not known.
func AdditionsPerCycle() float64 { return math.NaN() }
