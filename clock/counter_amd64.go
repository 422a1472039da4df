package clock

import "sync/atomic"

// counterClocks are the ways to read the time stamp counter (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 3, "Time-Stamp Counter").
var counterClocks = map[string]opener{
	"tsc":        openCounter(instructionRDTSC, "RDTSC", counter, counterChain),
	"tsc-fenced": openCounter(instructionRDTSC, "LFENCE; RDTSC", counterFenced, counterFencedChain),
	"tscp":       openCounter(instructionRDTSCP, "RDTSCP", counterP, counterPChain),
}

func openCounter(i instruction, api string, read func() int64, chain func(int, []int64)) opener {
	return func() (*Clock, error) {
		note, err := tried(i)
		if err != nil {
			return nil, err
		}
		_, err = tried(instructionRDTSCP)
		rdtscp.Store(err == nil)
		return counterClock(api+note+trapped(read), read, chain), nil
	}
}

// rdtscp reports that RDTSCP was tried and works. Until a counter was opened
// nobody knows, whatever CPUID says, and CounterEnd does without.
var rdtscp atomic.Bool

func counterEnd() int64 {
	if rdtscp.Load() {
		return counterEndP()
	}
	return counterStart() // with a fence on either side, as a region's end needs it too
}

func counter() int64
func counterFenced() int64
func counterP() int64
func counterStart() int64
func counterEndP() int64

//go:noescape
func counterChain(work int, ticks []int64)

//go:noescape
func counterFencedChain(work int, ticks []int64)

//go:noescape
func counterPChain(work int, ticks []int64)
