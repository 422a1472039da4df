package process

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
	"chronoscope/machine"
)

// stopAtCounter makes the instructions that read the time-stamp counter end in SIGSEGV (PR_SET_TSC, prctl(2)),
// in a program whose only thread is stopped at its first instruction, and in all that the program starts:
// threads and children inherit the setting, and it survives an exec. If it is refused or has no effect, looks at
// the counter are not seen. stops is how often the program was stopped meanwhile.
//
// clockCode reads no counter. The vDSO's own functions do, and read it again if the kernel's time has moved on
// meanwhile. Beside competitors a stop takes longer than the kernel's time needs to move on, so such a look
// would hardly ever end.
func (l *looks) stopAtCounter(thread int) (stops int) {
	if l == nil || l.why != nil || !clock.CounterCanBeDisabled() {
		return 0
	}
	in, err := enterThread(thread)
	if err != nil {
		return 0
	}
	in.call(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0)
	if err := in.leave(); err != nil {
		l.keep(fmt.Errorf("leaving the program that is to stop at reads of the counter: %w", err))
	}
	return in.stops
}

// readCounter reports whether a thread has stopped with SIGSEGV because it reads the counter. If so, the thread
// continues with the counter's value, less the time for which the program has waited for a CPU and was stopped
// for its tracer. Reads by the dynamic linker are no looks: it measures its own time about ten times in each
// program. If not all looks are known, the thread may read the counter itself from then on.
func (l *looks) readCounter(thread int, stoppedNs int64) (looked bool) {
	var r registers
	if l == nil || signalCode(thread) != signalKernel || r.read(thread) != nil {
		return false
	}
	at, code := r.instruction(), make([]byte, len(rdtscp))
	n, _ := unix.PtracePeekText(thread, at, code) // fewer bytes if the memory ends there
	read := counterRead(code[:n])
	if read == 0 {
		return false
	}
	const mostLinkerBytes, mostLinkerReads = 1 << 20, 100
	if linker, err := auxiliary(thread, auxBase); err == nil && at-linker < mostLinkerBytes {
		if l.linked[thread]++; l.linked[thread] > mostLinkerReads {
			l.keep(errManyLooks)
		}
	} else {
		l.look(thread)
	}
	l.counter = l.counter.next(l.waitedNs+stoppedNs, processCPUNs(l.process(thread)))
	now := uint64(l.counter.shown)
	r.Rip += uint64(read)
	r.Rax, r.Rdx = now&(1<<32-1), now>>32
	if read == len(rdtscp) {
		r.Rcx = 0 // the CPU's number, which is not known
	}
	if r.write(thread) != nil {
		return false
	}
	if l.why != nil {
		l.keep(l.allowCounter(thread, r))
	}
	return true
}

// shownCounter is the counter as a traced program sees it: the times and the value of the first reading and of
// the last one, the offset at the first one, the value that was shown last, and the process's CPU time then.
type shownCounter struct{ firstNs, first, firstOffNs, lastNs, shown, usedNs int64 }

// next returns the next reading, less offNs at the counter's rate since the first reading. It moves on at least
// by the CPU time that the process used meanwhile: the waits of several threads may add up to more than the
// time that has passed.
func (c shownCounter) next(offNs, usedNs int64) shownCounter {
	ns, ticks := monotonicNs(), clock.Counter()
	if c.first == 0 {
		return shownCounter{ns, ticks, offNs, ns, ticks, usedNs}
	}
	perNs := float64(ticks-c.first) / float64(max(1, ns-c.firstNs))
	ran := max(0, min(ns-c.lastNs, usedNs-c.usedNs))
	c.shown = max(c.shown+int64(perNs*float64(ran)), ticks-int64(perNs*float64(offNs-c.firstOffNs)))
	c.lastNs, c.usedNs = ns, usedNs
	return c
}

// allowCounter has a thread call prctl(2) by the system-call instruction in clockCode, since other threads may
// execute the code at which the thread stands. 32-bit programs have no clockCode, and make the call where they
// are. After that, the thread continues with the registers r.
func (l *looks) allowCounter(thread int, r registers) error {
	in, was := r, interrupted{registers: r}
	const code32Bit = 0x23
	if r.Cs == code32Bit {
		const prctl32Bit = 172
		in.prepare(prctl32Bit, nil)
		in.Rbx, in.Rcx = unix.PR_SET_TSC, unix.PR_TSC_ENABLE
		was.code = make([]byte, len(call32Bit))
		if err := peek(thread, r.instruction(), was.code); err != nil {
			return err
		}
		if err := poke(thread, r.instruction(), call32Bit); err != nil {
			return err
		}
	} else {
		own, err := machine.ReadVDSO()
		if err != nil {
			return err
		}
		base, err := auxiliary(thread, auxVDSO)
		if err != nil {
			return err
		}
		in.prepare(unix.SYS_PRCTL, []uintptr{unix.PR_SET_TSC, unix.PR_TSC_ENABLE, 0, 0, 0})
		in.Rip = uint64(base) + own.Functions[vdsoPrefix+clockGettime] + callOffset
	}
	if err := in.write(thread); err != nil {
		return err
	}
	l.calling[thread] = was
	return nil
}

// The instructions that read the time-stamp counter, and the one that makes a system call of a
// 32-bit program (Intel SDM, volume 2).
var rdtsc, rdtscp, call32Bit = []byte{0x0f, 0x31}, []byte{0x0f, 0x01, 0xf9}, []byte{0xcd, 0x80}

// counterRead returns the length of the instruction at the beginning of code if it reads the counter; 0 if it
// does not.
func counterRead(code []byte) int {
	switch {
	case bytes.HasPrefix(code, rdtsc):
		return len(rdtsc)
	case bytes.HasPrefix(code, rdtscp):
		return len(rdtscp)
	}
	return 0
}
