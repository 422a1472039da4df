package process

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// instructions are a part of a classic BPF program (seccomp(2)).
type instructions []unix.SockFilter

// callFilter returns a program for seccomp(2) that stops a thread for its tracer at the beginning of a call
// that may have to be noted, and lets all others pass. It reads the arguments, but not the memory that they
// point to: a call that it stops may still ask for nothing. Calls of another architecture stop, too. If opens
// is true, calls that open files stop.
func callFilter(opens bool) instructions {
	all := slices.Concat(
		load(offsetArch), unless(unix.BPF_JEQ, thisMachine, stop()),
		load(offsetNumber), where(unix.BPF_JGE, otherNumbers, stop()))
	for _, number := range slices.Sorted(maps.Keys(notedCalls)) {
		if call := notedCalls[number]; opens || call.what != fileOpened {
			all = append(all, where(unix.BPF_JEQ, uint32(number), call.filter())...)
		}
	}
	return append(all, pass()...)
}

// filter returns the instructions that decide on the call once its number is known. They end in all cases.
func (c notedCall) filter() instructions {
	low, high := load(argument(c.arg)), load(argument(c.arg)+4)
	given := slices.Concat(low, unless(unix.BPF_JEQ, 0, stop()), high, unless(unix.BPF_JEQ, 0, stop()), pass())
	switch c.form {
	case always, ring:
		return stop()
	case traceMe:
		return slices.Concat(low, where(unix.BPF_JEQ, unix.PTRACE_TRACEME, stop()), pass())
	case nonzero:
		return slices.Concat(low, where(unix.BPF_JEQ, 0, pass()), stop())
	case millisecond:
		look := pass()
		if c.files > 0 {
			look = slices.Concat(load(argument(c.files)), unless(unix.BPF_JEQ, 0, pass()), stop())
		}
		return slices.Concat(low, where(unix.BPF_JSET, 1<<31, pass()), where(unix.BPF_JEQ, 0, look), stop())
	case realTimer:
		return slices.Concat(load(argument(0)), unless(unix.BPF_JEQ, 0, pass()), given)
	case futex:
		return slices.Concat(load(argument(1)), without(futexFlags), among(timedFutexes, given), pass())
	case policy:
		return slices.Concat(low, without(resetOnFork), among(normalPolicies, pass()), stop())
	case clockTime:
		return slices.Concat(load(argument(markArg)), where(unix.BPF_JEQ, clockMark, pass()), low, where(unix.BPF_JSET, 1<<31, pass()), among(cpuClocks, pass()), stop())
	case pathname:
		return slices.Concat(load(argument(c.arg+1)), where(unix.BPF_JSET, openedForOther, pass()), stop())
	case ownUsage:
		return slices.Concat(low, where(unix.BPF_JSET, 1<<31, pass()), stop())
	case socketTime:
		return slices.Concat(load(argument(1)), unless(unix.BPF_JEQ, unix.SOL_SOCKET, pass()), low, among(socketTimes, stop()), pass())
	}
	return given
}

// Offsets in struct seccomp_data (include/uapi/linux/seccomp.h).
const offsetNumber, offsetArch, offsetArgs = 0, 4, 16

// argument returns the offset of the lower half of an argument on a little-endian machine.
func argument(n int) uint32 { return offsetArgs + 8*uint32(n) }

// load loads the word at an offset into the accumulator.
func load(offset uint32) instructions {
	return instructions{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}}
}

// without clears bits of the accumulator.
func without(bits uint32) instructions {
	return instructions{{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: ^bits}}
}

// where runs body if the accumulator passes the test.
func where(test uint16, value uint32, body instructions) instructions {
	return append(instructions{{Code: unix.BPF_JMP | test | unix.BPF_K, Jf: uint8(len(body)), K: value}}, body...)
}

// unless runs body if the accumulator fails the test.
func unless(test uint16, value uint32, body instructions) instructions {
	return append(instructions{{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: uint8(len(body)), K: value}}, body...)
}

// among runs then, which must end, if the accumulator is one of the values.
func among(values []uint32, then instructions) (all instructions) {
	for _, value := range values {
		all = append(all, where(unix.BPF_JEQ, value, then)...)
	}
	return all
}

func stop() instructions { return answer(unix.SECCOMP_RET_TRACE) }
func pass() instructions { return answer(unix.SECCOMP_RET_ALLOW) }

func answer(action uint32) instructions {
	return instructions{{Code: unix.BPF_RET | unix.BPF_K, K: action}}
}
