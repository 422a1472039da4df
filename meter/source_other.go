//go:build !linux

package meter

import "chronoscope/clock"

// kernelTick returns an error: on these systems, clocks that advance at the tick are read through cgo or
// a system call, which costs more than a fine clock.
func kernelTick() (Source, error) {
	_, err := clock.Open("monotonic-coarse")
	if err != nil {
		return Source{}, err
	}
	return Source{}, &clock.Unavailable{Name: "monotonic-coarse", Reason: clock.OtherSystem, Remedy: "meter.Counter or meter.Own"}
}
