package clock

// processorRates is what the firmware wrote into CNTFRQ_EL0 (Arm Architecture
// Reference Manual, "The Generic Timer"), where the counter can be read at all:
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
