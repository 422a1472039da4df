package process

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// looks records when a traced program looks at clocks that go on while it does not run. Programs read clocks by
// the functions of the vDSO. clockCode replaces these functions: it makes the system call, and stops the thread
// for the tracer at its first look and at each look that comes lookAfterNs or more after such a stop.
//
// The program is shown the time less the time for which it has waited for a CPU. So it does what it would do
// alone, even if it works until some time, or does less when it is late.
type looks struct {
	count int
	// workNs is [Run.ClockWorkNs] of the programs that have ended. uncorrectedNs is its part in processes that
	// also saw the uncorrected time.
	workNs, uncorrectedNs int64
	// cpuTimeOf holds the looks of each process at its CPU time, and cpuTimeWorkNs is [Run.CPUTimeWorkNs] of the
	// programs that have ended.
	cpuTimeOf     map[int]*processLooks
	cpuTimeWorkNs int64
	// waitingTold says that the program opened a file that tells how long some process waits for a CPU.
	waitingTold bool
	// busyTold says that it opened a file that tells how busy the machine is.
	busyTold bool
	// waitedNs is the run-queue wait of all threads, as far as it was read, and waitOf holds that of each
	// thread.
	waitedNs int64
	waitOf   map[int]int64
	// linked is how often each thread's dynamic linker read the processor's counter.
	linked map[int]int
	// counter is the processor's counter as the program sees it.
	counter shownCounter
	// why says why some looks were missed. Once it is set, no look stops the program.
	why error
	// of holds the looks of each process that looked, and processOf the process of each thread.
	of        map[int]*processLooks
	processOf map[int]int
	// traps are the addresses at which clockCode stops a thread.
	traps map[uintptr]bool
	// shifted holds the times until which threads wait, as they were in the program's memory before
	// [looks.shift].
	shifted map[int]shiftedTime
	// calling holds the threads that make a system call for the tracer, which takes a single step.
	calling map[int]interrupted
}

// memory holds the content of a program's memory at an address.
type memory struct {
	at   uintptr
	data []byte
}

// interrupted is the state of a thread before it makes a system call for the tracer: its registers, and the
// code at its instruction if that is replaced.
type interrupted struct {
	registers
	code []byte
}

// A stop for a look takes about 30 µs, and up to a time slice beside competitors. Each process may stop manyLooks
// times, and once more for each perLookNs of its CPU time: programs that read clocks all the time, as the runtimes of
// Java, node and Python do, stop each lookAfterNs, and more often where they go on late. If the wall time counted
// instead, stops would allow more stops without limit: each reading of the counter stops the program. All processes
// together may stop mostStops times.
const manyLooks, perLookNs = 256, lookAfterNs / 2

// lookAfterNs is the time after a stop for which looks don't stop the program.
const lookAfterNs = 400_000

var errManyLooks = errors.New("it looks at clocks too often: not all of its looks were counted")

func newLooks() *looks {
	return &looks{waitOf: map[int]int64{}, of: map[int]*processLooks{}, cpuTimeOf: map[int]*processLooks{}, processOf: map[int]int{}, traps: map[uintptr]bool{}, calling: map[int]interrupted{}, shifted: map[int]shiftedTime{}, linked: map[int]int{}}
}

// begin writes clockCode into a new program whose thread is stopped at its first instruction.
func (l *looks) begin(thread int) {
	if l == nil {
		return
	}
	delete(l.calling, thread)
	delete(l.linked, thread)
	delete(l.shifted, thread) // of the program before
	if used, err := readThread(thread); err == nil {
		process := l.process(thread)
		l.end(thread, used)
		delete(l.of, process) // the looks of the previous program do not matter to this one
		delete(l.cpuTimeOf, process)
	}
	base, functions, err := vdsoOf(thread)
	at, first := base+functions[clockGettime], [clocks]clockLimit{} // each clock stops the program
	if err == nil {
		err = errors.Join(writeClockCode(thread, base, functions), writeLimits(thread, at, first))
	}
	if err != nil {
		l.keep(fmt.Errorf("finding looks at clocks: %w", err))
		return
	}
	l.traps[at+trapOffset] = true
	if l.why != nil {
		l.keep(l.allow(thread, at, first, readClocks(), l.waitedNs))
	}
}

// clockLimit is what clockCode holds of one clock, in nanoseconds: the least time by that clock at which a look
// stops the thread, and the time that is subtracted from the clock.
type clockLimit struct{ StopAtNs, OffNs int64 }

const limitBytes = 16

// allow lets the program read its clocks without being stopped: for lookAfterNs, or from now on if l.why says that not
// all readings are counted. at is the address of clockCode, were are the limits there, and offNs is what clockCode
// subtracts from the times that it shows.
func (l *looks) allow(thread int, at uintptr, were [clocks]clockLimit, now readings, offNs int64) error {
	limits := were
	for id := range limits {
		if clockOfCPUTime(uint32(id)) {
			continue
		}
		limits[id] = clockLimit{now[id] + lookAfterNs, offNs}
		if l.why != nil {
			limits[id].StopAtNs = math.MaxInt64
		}
		were[id].OffNs = offNs
	}
	// Memory is written word by word while other threads read clocks: the offsets come first. With a later limit and the offset
	// before, a thread would show a time that no other shows for a while.
	return errors.Join(writeLimits(thread, at, were), writeLimits(thread, at, limits))
}

func writeLimits(thread int, at uintptr, limits [clocks]clockLimit) error {
	data, err := binary.Append(nil, binary.NativeEndian, limits)
	if err != nil {
		return err
	}
	return poke(thread, at+limitsOffset, data)
}

// readings are the times that the clocks show, in nanoseconds; 0 for those of CPU time.
type readings [clocks]int64

// apartNs is the time within which the clocks are to be read, and mostTries how often that is tried. Reading them takes
// 2 to 20 µs, and longer if another thread has the CPU meanwhile.
const apartNs, mostTries = 100_000, 3

// readClocks reads all clocks at about the same time.
func readClocks() (now readings) {
	for range mostTries {
		begun := monotonicNs()
		for id := range now {
			if !clockOfCPUTime(uint32(id)) {
				now[id] = clockNs(int32(id))
			}
		}
		if monotonicNs()-begun < apartNs {
			break
		}
	}
	return now
}

// limitsOf returns the limits that clockCode holds, by clock.
func limitsOf(thread int, at uintptr) (all [clocks]clockLimit, err error) {
	data := make([]byte, clocks*limitBytes)
	if err := peek(thread, at+limitsOffset, data); err != nil {
		return all, err
	}
	_, err = binary.Decode(data, binary.NativeEndian, &all)
	return all, err
}

// mostOffNs returns the most that may be subtracted from all clocks now, so that none of them goes back behind a time that it may
// have shown. The clocks are compared each with itself: by how much one is ahead of another is only known within some
// microseconds, or more on a busy machine. The coarse clocks, which stand still between ticks, don't limit it.
func mostOffNs(limits [clocks]clockLimit, now readings) int64 {
	most := int64(math.MaxInt64)
	for id, was := range limits {
		coarse := id == unix.CLOCK_REALTIME_COARSE || id == unix.CLOCK_MONOTONIC_COARSE
		if !coarse && now[id] > 0 {
			most = min(most, now[id]-was.StopAtNs+was.OffNs)
		}
	}
	return most
}

// trapped reports whether a SIGTRAP comes from clockCode. If so, the thread goes on from there with the time
// that it is shown. stoppedNs is the time for which the tracer kept the program stopped.
func (l *looks) trapped(thread int, stoppedNs int64) bool {
	var r registers
	if l == nil || r.read(thread) != nil || !l.traps[r.instruction()-breakpointAdvance] {
		return false
	}
	if code := signalCode(thread); code != trapBreakpoint && code != signalKernel {
		return false
	}
	at, clock := r.instruction()-breakpointAdvance-trapOffset, r.clock()
	if clockOfCPUTime(clock) {
		l.lookAtCPUTime(thread, at, &r)
		return true
	}
	l.look(thread)
	now := readClocks()
	limits, err := limitsOf(thread, at)
	l.keep(err)
	was := limits[clock]
	offNs := was.off(now[clock], min(mostOffNs(limits, now), l.waitedNs+stoppedNs))
	if now[clock] >= was.StopAtNs || l.why != nil {
		l.keep(l.allow(thread, at, limits, now, offNs))
	}
	r.show(now[clock] - offNs)
	l.keep(r.write(thread))
	return true
}

// lookAtCPUTime enters a look of a thread at its CPU time, or its process's, and shows it that time: it holds no
// waits. The next look at that clock that stops the program comes a tenth of the time since the first one later, or
// lookAfterNs. The threads of a process share that limit, and a process that forks leaves it to its child.
func (l *looks) lookAtCPUTime(thread int, at uintptr, r *registers) {
	process := l.process(thread)
	cpuNs := processCPUNs(process)
	of := l.cpuTimeOf[process].looked(cpuNs)
	l.cpuTimeOf[process] = of
	limits, err := limitsOf(thread, at)
	l.keep(err)
	ns := r.time()
	limits[r.clock()] = clockLimit{StopAtNs: ns + max(lookAfterNs, (cpuNs-of.firstNs)/10)}
	l.keep(writeLimits(thread, at, limits))
	r.show(ns)
	l.keep(r.write(thread))
}

// shiftedTime is a time in a program's memory as it was before shift, and what shift wrote there.
type shiftedTime struct {
	was     memory
	written []byte
}

// mostSeconds is the latest time of a clock that is lengthened: some 35,000 years.
const mostSeconds = 1 << 40

// shift lengthens a thread's wait until a time of a clock: it adds the time by which the program's clocks are
// behind to the time in the program's memory. unshift restores that memory. Several threads may wait until a time that
// the memory holds once: then shift begins with the time as it was, and unshift does nothing if another thread's shift,
// or the program, has written there since.
func (l *looks) shift(thread int, info *syscallInfo, stoppedNs int64) {
	at := info.absoluteTime()
	if l == nil || at == 0 {
		return
	}
	offNs, known := l.offNs(thread, stoppedNs)
	was := memory{at, make([]byte, 2*wordBytes)}
	if !known || peek(thread, at, was.data) != nil {
		return
	}
	for _, other := range l.shifted {
		if other.was.at == at && bytes.Equal(other.written, was.data) {
			was.data = bytes.Clone(other.was.data)
			break
		}
	}
	seconds, ns := int64(binary.NativeEndian.Uint64(was.data)), int64(binary.NativeEndian.Uint64(was.data[wordBytes:]))
	if seconds < 0 || seconds > mostSeconds || ns < 0 || ns >= 1e9 || seconds == 0 && ns == 0 { // malformed, or 0, which ends a timer
		return
	}
	ns += offNs
	written := binary.NativeEndian.AppendUint64(nil, uint64(seconds+ns/1e9))
	written = binary.NativeEndian.AppendUint64(written, uint64(ns%1e9))
	l.shifted[thread] = shiftedTime{was, written}
	l.keep(poke(thread, at, written))
}

// offNs returns by how much the clocks that a thread is shown are behind now, as its next look finds it. That is not known
// of a program whose clocks are not replaced.
func (l *looks) offNs(thread int, stoppedNs int64) (ns int64, known bool) {
	functions, err := machine.ReadVDSO()
	if err != nil {
		return 0, false
	}
	base, err := auxiliary(thread, auxVDSO)
	at := base + uintptr(functions.Functions[vdsoPrefix+clockGettime])
	if err != nil || !l.traps[at+trapOffset] {
		return 0, false
	}
	limits, err := limitsOf(thread, at)
	if err != nil {
		return 0, false
	}
	if used, err := readThread(thread); err == nil {
		l.waited(thread, used.WaitNs)
	}
	now := readClocks()
	return limits[unix.CLOCK_MONOTONIC].off(now[unix.CLOCK_MONOTONIC], min(mostOffNs(limits, now), l.waitedNs+stoppedNs)), true
}

func (l *looks) unshift(thread int) {
	if l == nil {
		return
	}
	if s, shifted := l.shifted[thread]; shifted {
		there := make([]byte, len(s.written))
		if peek(thread, s.was.at, there) == nil && bytes.Equal(there, s.written) {
			l.keep(poke(thread, s.was.at, s.was.data))
		}
		delete(l.shifted, thread)
	}
}

// off returns the nanoseconds to subtract from the clock at a stop: the time for which the program waited,
// limited so that the clock does not go back behind a time that it may have shown in between.
func (c clockLimit) off(nowNs, waitedNs int64) int64 {
	if nowNs < c.StopAtNs { // another thread has stopped meanwhile, and set a later limit
		return c.OffNs
	}
	return max(c.OffNs, min(waitedNs, nowNs-c.StopAtNs+c.OffNs))
}

// Values of si_code of a SIGTRAP (sigaction(2)): TRAP_BRKPT, and SI_KERNEL for int3 and for instructions that
// are not allowed.
const trapBreakpoint, signalKernel = 1, 0x80

// signalCode returns the si_code of the signal that has stopped a thread.
func signalCode(thread int) int32 {
	var info struct { // siginfo_t
		_, _, code int32
		_          [116]byte
	}
	unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(thread), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return info.code
}

// keep stores the first error that keeps looks from being known. A thread that was killed meanwhile causes
// none.
func (l *looks) keep(err error) {
	if err != nil && l.why == nil && !errors.Is(err, unix.ESRCH) {
		l.why = err
	}
}

// look enters a look of a thread at a clock, or at how often it was preempted.
func (l *looks) look(thread int) {
	if l == nil {
		return
	}
	process := l.process(thread)
	cpuNs := processCPUNs(process)
	l.of[process] = l.of[process].looked(cpuNs)
	l.count++
	if used, err := readThread(thread); err == nil { // else it was killed meanwhile
		l.waited(thread, used.WaitNs)
	}
	of := l.of[process]
	if of.stops++; of.tooMany(cpuNs) || l.count > mostStops {
		l.keep(errManyLooks)
	}
}

// uncorrected notes a look of a thread at a clock by a system call of its own, which shows how long the program
// has waited.
func (l *looks) uncorrected(thread int) {
	if l == nil {
		return
	}
	looked := l.of[l.process(thread)] != nil
	l.look(thread)
	of := l.of[l.process(thread)]
	of.uncorrected = of.uncorrected || looked
}

// opened notes that a thread opens a file to read it. If the file tells how long some process waits, the
// program wants to know that, and may use it at any time and in any of its processes. Then all of its work may
// depend on it.
func (l *looks) opened(thread int, tells fileTells) {
	if l == nil || tells == nothing {
		return
	}
	process := l.process(thread)
	switch {
	case tells >= waiting:
		l.waitingTold = true
		l.busyTold = l.busyTold || tells == busy
	case tells == ownCounts && l.of[process] == nil:
		l.of[process] = &processLooks{}
	}
	l.uncorrected(thread)
}

// process returns the process of a thread, from /proc/TID/status (proc_pid_status(5)).
func (l *looks) process(thread int) int {
	if l == nil {
		return thread
	}
	if process, known := l.processOf[thread]; known {
		return process
	}
	process := cmp.Or(int(parseCount(statusOf(thread), "Tgid:", "")), thread)
	l.processOf[thread] = process
	return process
}

// waited notes the run-queue wait of a thread so far.
func (l *looks) waited(thread int, ns int64) {
	l.waitedNs += ns - l.waitOf[thread]
	l.waitOf[thread] = ns
}

// lateNs returns the time for which all threads have waited for a CPU, as far as it is known; forEver if looks
// are not recorded.
func (l *looks) lateNs(thread int) int64 {
	used, err := readThread(thread)
	if l == nil || err != nil {
		return forEver
	}
	l.waited(thread, used.WaitNs)
	return l.waitedNs
}

// processClock returns the clock of the CPU time of all threads of a process (clock_getcpuclockid(3)).
func processClock(pid int) int32 {
	const all = 2
	return int32(^pid<<3 | all)
}

// processCPUNs returns the CPU time of a process; 0 if it can't be read.
func processCPUNs(pid int) int64 {
	return clockNs(processClock(pid))
}

// end counts the waits and work of a thread that ends or executes another program.
func (l *looks) end(thread int, used Thread) {
	if l == nil {
		return
	}
	delete(l.shifted, thread)
	l.waited(thread, used.WaitNs)
	process := l.process(thread)
	if p := l.of[process]; p != nil {
		more := p.work(processCPUNs(process))
		l.workNs += more
		if p.uncorrected {
			l.uncorrectedNs += more
		}
	}
	if p := l.cpuTimeOf[process]; p != nil {
		l.cpuTimeWorkNs += p.work(processCPUNs(process))
	}
	delete(l.processOf, thread)
	delete(l.calling, thread)
	delete(l.linked, thread)
}

// returned restores a thread that made a system call for the tracer, and reports whether there was one. If a
// signal came first, the call may not have been made.
func (l *looks) returned(thread int) bool {
	if l == nil {
		return false
	}
	was, called := l.calling[thread]
	delete(l.calling, thread)
	if called && was.code != nil {
		l.keep(poke(thread, was.instruction(), was.code))
	}
	if called {
		l.keep(was.write(thread))
	}
	return called
}

// steps reports whether a thread is to execute one instruction: a system call for the tracer.
func (l *looks) steps(thread int) bool {
	if l == nil {
		return false
	}
	_, steps := l.calling[thread]
	return steps
}
