package clock

// counterClocks are the ways to read the virtual counter (Arm Architecture
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

func counter() int64
func counterFenced() int64
func counterStart() int64

//go:noescape
func counterChain(work int, ticks []int64)

//go:noescape
func counterFencedChain(work int, ticks []int64)
