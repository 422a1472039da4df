//go:build !linux

package meter

import "chronoscope/clock"

// kernelTick is not offered here: the clocks of these systems that advance at the
// tick are not reached without cgo or a system call, which costs more than a fine
// clock.
func kernelTick() (Source, error) {
	_, err := clock.Open("monotonic-coarse")
	if err != nil {
		return Source{}, err
	}
	return Source{}, &clock.Unavailable{Name: "monotonic-coarse", Reason: clock.OtherSystem, Remedy: "meter.Counter or meter.Own"}
}
