package check

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Bits and modes of adjtimex(2), from the kernel's include/uapi/linux/timex.h.
const (
	statusPLL     = 0x0001
	statusPPSFreq = 0x0002
	statusPPSTime = 0x0004
	statusFLL     = 0x0008
	statusNano    = 0x2000

	readSingleShot = 0xa001 // ADJ_OFFSET_SS_READ: reads the rest of an adjustment by adjtime(3)
	leapInsert     = 1      // TIME_INS
	leapDelete     = 2      // TIME_DEL
	nominalTickUs  = 10_000 // length of a tick at USER_HZ
)

// readDiscipline asks the kernel. It needs no rights, but a sandbox may forbid the call.
func readDiscipline() (discipline, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return discipline{}, fmt.Errorf("adjtimex: %w; a container's seccomp profile has to allow it", err)
	}
	d := discipline{
		// Freq is in ppm with 16 fractional bits, Tick in microseconds per tick.
		ratePPM:     float64(t.Freq)/65536 + 1e6*(float64(t.Tick)/nominalTickUs-1),
		offsetNs:    float64(t.Offset) * 1e3,
		following:   t.Status&(statusPLL|statusFLL|statusPPSFreq|statusPPSTime) != 0,
		leapPending: state == leapInsert || state == leapDelete,
	}
	if t.Status&statusNano != 0 {
		d.offsetNs /= 1e3
	}
	single := unix.Timex{Modes: readSingleShot}
	if _, err := unix.Adjtimex(&single); err == nil {
		d.offsetNs += float64(single.Offset) * 1e3
	}
	return d, nil
}
