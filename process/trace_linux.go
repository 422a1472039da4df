package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// tracer follows a program, all its threads and the processes that it starts. All calls of ptrace(2) are made
// on one thread.
type tracer struct {
	leader int
	last   int    // the thread of the leader's process that was last seen to exit
	watch  *watch // nil if nothing is noted
	waits  *waits // nil if they are not counted
	looks  *looks // nil if they are not counted
	// noteOpens has the program stop when it opens files. opens notices files that any process opens; nil if
	// that is not possible or not asked for.
	noteOpens bool
	opens     *fileWatch
	run       Run
	started   time.Time
	// known holds the numbers of the threads that were seen and have not been waited for; watchGroups reads it,
	// too. read holds those of them whose counters were read as they exited.
	known sync.Map
	read  map[int]bool
	// peaks is the most memory that each process had resident when one of its threads exited, in bytes.
	peaks map[int]int64
	// groups is the text of /proc on the control groups that the program begins in.
	groups []byte
	// endless says why the program was killed: it had stopped for ever.
	endless error
	// own reads what the kernel counts of the tracer's thread, such as how late it runs.
	own       *machine.Thread
	ownWaitNs int64
}

const traced = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL

// trace lets the program run to its end from its first instruction, at which it has stopped.
func (t *tracer) trace(ctx context.Context) (r Run, err error) {
	defer killGroup(t.leader)
	var status unix.WaitStatus
	if _, err := wait(t.leader, 0, &status, nil); err != nil {
		return t.run, fmt.Errorf("waiting for process %d: wait4: %w", t.leader, err)
	}
	if !status.Stopped() {
		return t.run, fmt.Errorf("process %d ended before its first instruction: %v", t.leader, status)
	}
	options := traced
	if t.waits != nil {
		options |= unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACESECCOMP
	}
	if err := unix.PtraceSetOptions(t.leader, options); err != nil {
		return t.run, fmt.Errorf("tracing process %d: ptrace: %w: run it untraced", t.leader, err)
	}
	t.known.Store(t.leader, nil)
	t.read, t.peaks = map[int]bool{}, map[int]int64{}
	t.run.WaitOf, t.run.Stops = AllThreads, 1
	t.groups = groupsOf(t.leader)
	if own, err := machine.OpenThread(); err == nil {
		defer own.Close()
		t.own = own
	}
	if t.looks != nil {
		if opens, err := newFileWatch(t.groups); err == nil {
			defer opens.close()
			t.opens = opens
		}
	}
	stop := context.AfterFunc(ctx, func() { killGroup(t.leader) })
	defer stop()
	if t.watch != nil {
		defer t.watch.drainMeanwhile()()
	}
	if t.waits != nil {
		var stops int
		stops, t.waits.why = filterCalls(t.leader, t.noteOpens)
		t.run.Stops += stops
	}
	t.looks.begin(t.leader)
	t.run.Stops += t.looks.stopAtCounter(t.leader)
	t.opens.follow(t.leader, t.leader)
	limited := t.watchGroups()
	defer func() { r.OtherLimit = limited() || r.OtherLimit }()
	for t.started = time.Now(); t.late() > 0; { // a wait before the start delays nothing that is noticed later
		t.started = time.Now()
	}
	t.goOn(t.leader, 0)
	for {
		var usage unix.Rusage
		id, leaving, err := next()
		if t.watch != nil {
			t.watch.drain()
		}
		t.opened(t.opens.opened())
		if err != nil {
			return t.run, fmt.Errorf("waiting for process %d: waitid: %w", t.leader, err)
		}
		if leaving && !t.read[id] {
			t.exits(id)
		}
		changed, err := wait(id, unix.WNOHANG, &status, &usage)
		if err != nil {
			return t.run, fmt.Errorf("waiting for process %d: wait4: %w", t.leader, err)
		}
		if changed == 0 { // killed while it was stopped; a first thread ends after the others, which may wait for the tracer
			t.late()
			continue
		}
		woken := time.Now()
		late := t.late()
		looked := time.Now()
		switch {
		case status.Stopped():
			t.run.Stops++
			if event(status) == unix.PTRACE_EVENT_EXIT && !t.read[id] { // it stopped so after another stop that next saw
				t.exits(id)
			}
			if id == t.last && event(status) == unix.PTRACE_EVENT_EXIT {
				t.run.WallNs = wallNs(woken.Sub(t.started), looked.Sub(woken), late)
			}
			t.run.StoppedNs += late
			t.stopped(id, status)
			t.run.StoppedNs += time.Since(woken).Nanoseconds()
		case id == t.leader:
			if t.run.WallNs == 0 { // its stop at the exit was cut short
				t.run.WallNs = wallNs(woken.Sub(t.started), looked.Sub(woken), late)
			}
			t.run.ended(status, &usage)
			t.known.Range(func(id, _ any) bool { // processes that outlive it
				t.memory(id.(int))
				return true
			})
			return t.run, t.endless
		default:
			if _, process := t.peaks[id]; process { // also of the programs that it was before
				t.peak(id, int64(usage.Maxrss)*1024)
			}
			t.known.Delete(id)
			delete(t.read, id)
			t.opened(t.opens.opened(id)) // without what the tracer opened to read how long the thread had waited
		}
		t.late()
	}
}

// opened notes what a file tells that some process has opened. If the tracer looks at each file that the
// program opens, it knows whether the program was that process.
func (t *tracer) opened(tells fileTells) {
	if !t.noteOpens {
		t.run.FilesToldPossibly = t.run.FilesToldPossibly || tells != nothing
	}
	if !t.noteOpens || t.waits != nil && t.waits.opens.missed {
		t.run.WaitingToldPossibly = t.run.WaitingToldPossibly || tells >= waiting
	}
}

// event returns the PTRACE_EVENT for which a thread stopped; 0 if it stopped for a signal.
func event(status unix.WaitStatus) int { return int(status) >> 16 }

// wait waits for a change of state of a child of this thread. With the option WNOHANG it returns 0 if there is none.
func wait(pid, options int, status *unix.WaitStatus, usage *unix.Rusage) (int, error) {
	for {
		id, err := unix.Wait4(pid, status, options|unix.WALL|unix.WNOTHREAD, usage)
		if err != unix.EINTR {
			return id, err
		}
	}
}

// next waits for the next change of state of a child of this thread, and does not reap the child. Until it is
// reaped, a thread that is leaving can be looked at, even if the end of the whole process cuts short its stop
// at the exit.
func next() (id int, leaving bool, err error) {
	for {
		change, err := changeOf(anyChild, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD)
		if err != unix.EINTR {
			return int(change.pid), change.ended() || change.status>>8 == unix.PTRACE_EVENT_EXIT, err
		}
	}
}

// childChange is the siginfo_t of SIGCHLD (waitid(2)) on 64-bit systems.
type childChange struct {
	signal, errno, code, _ int32
	pid, _, status         int32
	_                      [100]byte
}

func (c childChange) ended() bool { return c.code >= cldExited && c.code <= cldDumped }

const anyChild = -1

// changeOf waits for a change of state of a child.
func changeOf(pid, options int) (change childChange, err error) {
	kind := unix.P_PID
	if pid == anyChild {
		kind, pid = unix.P_ALL, 0
	}
	err = unix.Waitid(kind, pid, (*unix.Siginfo)(unsafe.Pointer(&change)), options, nil)
	return change, err
}

// Codes of changes of children (sigaction(2)): CLD_EXITED to CLD_DUMPED are ends, CLD_TRAPPED is a stop for a tracer, and
// CLD_STOPPED another one.
const cldExited, cldDumped, cldTrapped, cldStopped = 1, 3, 4, 5

// stopped looks at a thread that has stopped, and lets it continue.
func (t *tracer) stopped(id int, status unix.WaitStatus) {
	signal := status.StopSignal()
	_, known := t.known.LoadOrStore(id, nil)
	if event(status) == unix.PTRACE_EVENT_EXEC { // a thread may now have the number of the first one, which has exited
		delete(t.read, id)
		t.looks.begin(id)
	}
	returned := event(status) == 0 && t.looks.returned(id)
	switch {
	case event(status) == unix.PTRACE_EVENT_SECCOMP && t.waits != nil:
		signal = 0
		switch what, tells := t.waits.note(id, time.Since(t.started), t.looks, t.run.StoppedNs); what {
		case clockRead:
			t.looks.uncorrected(id)
		case usageRead, uptimeRead:
			t.looks.look(id)
		case fileOpened:
			t.looks.opened(id, tells)
		}
	case event(status) != 0:
		signal = 0
	case !known && signal == unix.SIGSTOP: // the first stop of a new thread that is traced
		signal = 0
	case signal == syscallStop && t.waits.ends(id):
		signal = 0
		t.looks.unshift(id)
		t.waits.leave(id, t.looks, t.run.StoppedNs)
	case signal == unix.SIGTRAP && (returned || t.looks.trapped(id, t.run.StoppedNs)):
		signal = 0
	case signal == unix.SIGSEGV && t.looks.readCounter(id, t.run.StoppedNs):
		signal = 0
	case wantsTerminal(signal) && inGroupStop(id) && inOurSession(id): // it would try again, and stop again, for ever
		t.endless = errWantsTerminal
		killGroup(t.leader)
	default:
		t.run.Signals++
	}
	if !known {
		t.opens.follow(id, t.looks.process(id))
	}
	t.opened(t.opens.opened(id)) // without what the tracer itself opened while the thread was stopped
	t.goOn(id, int(signal))
}

// inGroupStop reports whether a thread has stopped because a signal stops all threads of its process, and not because it
// gets the signal (ptrace(2), "Group-stop").
func inGroupStop(id int) bool {
	var info [128]byte // siginfo_t
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(id), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return errno == unix.EINVAL
}

// inOurSession reports whether a thread has the terminal that this process has, if any. One with a terminal of its own may
// have a shell there that lets it continue.
func inOurSession(id int) bool {
	theirs, err := unix.Getsid(id)
	ours, _ := unix.Getsid(0)
	return err == nil && theirs == ours
}

// goOn lets a thread continue: for one instruction if the tracer makes it do a system call, to the end of its own system
// call if the tracer wants to see that end, or else until its next stop.
func (t *tracer) goOn(id, signal int) {
	switch {
	case t.looks.steps(id):
		unix.PtraceSingleStep(id)
	case t.waits.ends(id):
		unix.PtraceSyscall(id, signal)
	default:
		unix.PtraceCont(id, signal)
	}
}

// memory notes the memory of a thread's process, which it returns.
func (t *tracer) memory(id int) (process int, ok bool) {
	text, err := os.ReadFile(machine.ProcFile(id, "status"))
	if err != nil {
		return 0, false
	}
	process = int(parseCount(text, "Tgid:", ""))
	t.peak(process, parsePeak(text)) // none once its memory is given back
	return process, true
}

// peak notes that a process had so many bytes resident.
func (t *tracer) peak(process int, bytes int64) {
	more := bytes - t.peaks[process]
	if more <= 0 {
		return
	}
	t.peaks[process] = bytes
	t.run.AllRSSBytes += more
	t.run.MaxRSSBytes = max(t.run.MaxRSSBytes, bytes)
}

// exits reads the kernel's counters of a thread that is about to exit.
func (t *tracer) exits(id int) {
	t.read[id] = true
	if t.waits != nil {
		t.waits.exit(id)
	}
	if process, ok := t.memory(id); ok && process == t.leader {
		t.last, t.run.WallNs = id, 0 // set at its stop, or at the end if that is cut short
	}
	t.run.OtherLimit = t.run.OtherLimit || limitedElsewhere(id, t.groups)
	thread, err := readThread(id)
	if err != nil {
		t.run.WaitOf = NoThread
		return
	}
	t.looks.end(id, thread)
	t.run.Threads = append(t.run.Threads, thread)
}

// limitedElsewhere reports whether a thread is in other control groups than these, and has a CPU limit.
func limitedElsewhere(thread int, groups []byte) bool {
	now := groupsOf(thread)
	return !bytes.Equal(now, groups) && !ofExiting(now) && machine.CPULimitOf(os.DirFS("/"), strconv.Itoa(thread)) != nil
}

// ofExiting reports whether these may be the groups of a thread that exits: the kernel then shows it in the root of each
// hierarchy of version 1, whatever its groups are.
func ofExiting(groups []byte) bool {
	found := false
	for line := range bytes.Lines(groups) { // ID:CONTROLLERS:PATH
		parts := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3)
		if len(parts) < 3 || string(parts[0]) == "0" {
			continue
		}
		if found = true; string(parts[2]) != "/" {
			return false
		}
	}
	return found
}

// groupsEvery is the pause between looks at the threads' control groups: a CPU limit stops a thread only after
// the group has used up its share of a period, which is usually 100 ms. groupsShare is the largest share of the
// time that looks at very many threads may take.
const groupsEvery, groupsShare = 10 * time.Millisecond, 0.1

// watchGroups looks at the control groups of all threads until limited is called, which reports whether one of
// the threads had another CPU limit at some time.
func (t *tracer) watchGroups() (limited func() bool) {
	groups := t.groups
	end, ended := make(chan struct{}), make(chan bool)
	go func() {
		limited := false
		look := time.NewTimer(groupsEvery)
		defer look.Stop()
		for {
			select {
			case <-end:
				ended <- limited
				return
			case began := <-look.C:
				t.known.Range(func(id, _ any) bool {
					limited = limited || limitedElsewhere(id.(int), groups)
					return !limited
				})
				look.Reset(max(groupsEvery, time.Duration(float64(time.Since(began))/groupsShare)))
			}
		}
	}()
	return func() bool { close(end); return <-ended }
}

// groupsOf returns the text of /proc on the control groups of a thread (cgroups(7)); nil if the thread is gone.
func groupsOf(thread int) []byte {
	text, err := os.ReadFile(machine.ProcFile(thread, "cgroup"))
	if err != nil {
		return nil
	}
	return text
}

// late returns the time in nanoseconds for which the tracer waited for a CPU since the last call. Its thread
// has slept in between, so it runs late by this time. It is 0 if the kernel does not tell.
func (t *tracer) late() int64 {
	if t.own == nil {
		return 0
	}
	use, err := t.own.Look()
	if err != nil {
		return 0
	}
	waited := use.WaitNs - t.ownWaitNs
	t.ownWaitNs = use.WaitNs
	return waited
}

// wallNs returns the time from the program's start until the tracer noticed something, less the time late by which it
// was late. That was asked for afterwards, which took the time asking: a wait in it delayed nothing.
func wallNs(noticed, asking time.Duration, late int64) int64 {
	return max(1, noticed.Nanoseconds()-max(0, late-asking.Nanoseconds()))
}
