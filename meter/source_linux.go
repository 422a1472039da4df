package meter

import (
	"fmt"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
)

// kernelTick takes the length of the tick from the kernel, which gives it as the
// clock's resolution (clock_getres(2)). If that length is wrong, readings lie
// between ticks (Faults.Between).
func kernelTick() (Source, error) {
	c, err := clock.Open("monotonic-coarse")
	if err != nil {
		return Source{}, err
	}
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &resolution); err != nil || resolution.Nano() <= 0 {
		return Source{}, &clock.Unavailable{
			Name: c.Name, Reason: clock.Refused,
			Detail: fmt.Sprintf("clock_getres(CLOCK_MONOTONIC_COARSE): %d ns, %v", resolution.Nano(), err),
			Remedy: "a newer kernel, or a sandbox that allows the call; meter.Counter does without it",
		}
	}
	tick := resolution.Nano()
	return Source{clock: c, tickNs: float64(tick), perTick: tick, fine: goMonotonic, sameTime: true}, nil
}
