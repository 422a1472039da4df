// Package perfring reads the buffers that the kernel fills with records of perf events
// (perf_event_open(2)).
package perfring

import (
	"encoding/binary"
	"math"
)

// Types of records, and flags in their misc field (include/uapi/linux/perf_event.h).
const (
	Lost   = 2
	Comm   = 3
	Exit   = 4
	Fork   = 7
	Sample = 9
	Switch = 14
	// SwitchOfCPU is a Switch of an event of all threads of a CPU.
	SwitchOfCPU = 15

	CommExec         = 1 << 13
	SwitchOut        = 1 << 13
	SwitchOutPreempt = 1 << 14
)

// headerBytes is the length of a record's header: its type, its flags and its size.
const headerBytes = 8

// Records calls a function with the type, the flags and the body of every record in raw. A record of an
// impossible length ends the search, because what follows it can't be read; intact is then false.
func Records(raw []byte, each func(kind uint32, misc uint16, body []byte)) (intact bool) {
	order := binary.NativeEndian
	for len(raw) >= headerBytes {
		kind, misc, size := order.Uint32(raw), order.Uint16(raw[4:]), int(order.Uint16(raw[6:]))
		if size < headerBytes || size > len(raw) {
			return false
		}
		each(kind, misc, raw[headerBytes:size])
		raw = raw[size:]
	}
	return true
}

// LostIn returns how many records the kernel had to drop, according to the body of a record of type
// [Lost].
func LostIn(body []byte) int64 {
	if len(body) < 16 {
		return 1
	}
	return int64(min(binary.NativeEndian.Uint64(body[8:]), math.MaxInt32))
}
