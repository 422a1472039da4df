package process

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/internal/perfring"
	"chronoscope/internal/stops"
	"chronoscope/machine"
)

// run starts the program on a thread that has no other children, so that the thread may wait for any child. The
// thread ends with the program: then the kernel kills what the thread still traces.
func (c Command) run(ctx context.Context, files [3]*os.File) (r Run, err error) {
	done := make(chan struct{})
	go onThreadOfItsOwn(func() {
		defer close(done)
		r, err = c.start(ctx, files)
	})
	<-done
	return r, err
}

// onThreadOfItsOwn calls do on a thread that has no children and is not the first one, and ends the thread. It
// holds threads that don't qualify until it has found one. Where the system refuses to tell of children, any thread but
// the first qualifies: there, do can't wait for one that is not its own either.
func onThreadOfItsOwn(do func()) {
	runtime.LockOSThread()
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WNOTHREAD|unix.WALL, nil)
	if err != nil && unix.Gettid() != unix.Getpid() {
		do()
		return
	}
	defer runtime.UnlockOSThread()
	found := make(chan struct{})
	go func() {
		defer close(found)
		onThreadOfItsOwn(do)
	}()
	<-found
}

// start starts the program and waits for it. It traces and watches the program if it can.
func (c Command) start(ctx context.Context, files [3]*os.File) (Run, error) {
	t := openTools()
	defer t.close()
	return c.startWith(ctx, files, t)
}

// startWith starts the program with tools that the calling thread has opened.
func (c Command) startWith(ctx context.Context, files [3]*os.File, with *tools) (r Run, err error) {
	if err := with.ask(c); err != nil {
		return Run{}, err
	}
	refused := errUnasked
	w, unwatched := with.begin(c)
	if !c.Untraced {
		calls := countCalls(c.CallsEvent)
		defer calls.close()
		p, err := c.fork(files, true, with.waitNs)
		if err == nil {
			defer stops.With(p.pid)()
			c.started(p.pid)
			c.standAside()
			t := &tracer{leader: p.pid, watch: w}
			if c.NoteWaits {
				t.waits = &waits{}
			}
			if c.NoteClocks {
				t.looks = newLooks()
			}
			t.noteOpens = c.NoteOpens
			r, err = t.trace(ctx)
			r.Calls = calls.count()
			r.noted(t.waits, t.looks)
			r.watched(p, w, unwatched)
			return r, err
		}
		if !traceRefused(err) {
			return Run{}, err
		}
		refused = err
	}
	before := time.Now()
	p, err := c.fork(files, false, with.waitNs)
	if err != nil {
		return Run{}, err
	}
	defer stops.With(p.pid)()
	c.started(p.pid)
	if p.fd >= 0 {
		defer unix.Close(p.fd)
	}
	a := awaited{pid: p.pid, pidfd: p.fd, watch: w, waitNs: with.waitNs, before: before, after: time.Now(), long: with.lasted > 2*attentive, drain: c.Drain, drainFDs: c.DrainFDs}
	r, err = a.await(ctx)
	startWaitNs, noticedNs := with.unnoticedNs+max(0, p.waitedNs-with.waitedNs), perfring.Now()
	with.lasted, with.waitedNs = time.Since(a.after), with.waitNs()
	w.killLeft(p.pid)
	r.Untraced, r.Unnoted, r.Unclocked, r.StartWaitNs = refused, refused, refused, startWaitNs
	r.watched(p, w, unwatched)
	with.unnoticedNs = 0
	if r.ExecNs > 0 {
		with.unnoticedNs = max(0, noticedNs-r.ExecNs-r.WallNs)
	}
	r.MaxRSSBytes = with.peakOf(r.MaxRSSBytes)
	return r, err
}

// standAside binds the calling thread, which traces the program and ends with it, to CPUs that the program may
// not use, if there are any.
func (c Command) standAside() {
	ours, err := machine.Affinity()
	if err != nil || len(c.CPUs) == 0 {
		return
	}
	others := slices.DeleteFunc(ours, func(cpu int) bool { return slices.Contains(c.CPUs, cpu) })
	if len(others) > 0 {
		machine.SetAffinity(others) // if that is refused, it shares CPUs with the program
	}
}

// mostExecNs is the longest time from the event of an exec, which the kernel notes before the exec is complete, to the
// program's first instruction. 23 to 43 µs were seen for a program of a few instructions, 50 to 60 for true(1), and 60 to
// 125 for java (EPYC, Linux 6.18). mostLaunchNs is the longest time for which the thread that started the program then has
// its CPU: 20 to 170 µs were seen.
const mostExecNs, mostLaunchNs = 150e3, 200e3

// withoutLaunch leaves out the time for which an untraced program, before its first instruction, had lost its CPU to the
// thread that started it. That thread goes on when the exec is complete, mostly at once. Sometimes the kernel lets the
// program begin, and perhaps read a clock, and that thread goes on some ms later; then nothing is left out. Nor is
// anything if that thread ran on another CPU, or if the program had other threads by then.
func (r *Run) withoutLaunch(p started) {
	lost := slices.IndexFunc(r.Events, func(e Event) bool { return e.AtNs >= 0 && e.Kind != Executed && e.Kind != SwitchedIn })
	if r.Untraced == nil || r.LostEvents > 0 || lost < 0 || lost+1 == len(r.Events) || len(r.Threads) == 0 {
		return
	}
	from, to := r.Events[lost], r.Events[lost+1]
	ns, seenNs := to.AtNs-from.AtNs, p.seenNs-r.ExecNs
	switch {
	case from.Kind != Preempted || from.Thread != p.pid || from.CPU != p.cpu || from.AtNs > mostExecNs:
		return
	case to.Kind != SwitchedIn || to.Thread != p.pid || ns > mostLaunchNs || seenNs < from.AtNs || seenNs > to.AtNs:
		return
	}
	r.Events = slices.Delete(r.Events, lost, lost+2)
	for i := range r.Events {
		if i >= lost {
			r.Events[i].AtNs -= ns
		} else {
			r.Events[i].CPU = to.CPU // where it went on
		}
	}
	first := &r.Threads[0]
	r.WallNs, r.ExecNs, first.ReadNs, first.WaitNs = r.WallNs-ns, r.ExecNs+ns, first.ReadNs-ns, max(0, first.WaitNs-ns)
}

// watched enters what the kernel noted of a program that has ended.
func (r *Run) watched(p started, w *watch, unwatched error) {
	pid := p.pid
	r.Unwatched = unwatched
	if w == nil {
		return
	}
	var endNoted bool
	r.Events, r.ExecNs, r.LostEvents, endNoted = w.take(pid)
	if w.inherit {
		r.InheritNs = inheritNs * float64(len(w.rings))
	}
	for i := range r.Threads {
		r.Threads[i].ReadNs -= r.ExecNs
	}
	switch {
	case w.inherit:
		r.untilEnd(pid)
	case !endNoted:
		r.untilSeen(pid)
	}
	switch ended := endOf(pid, r.Events); {
	case ended <= 0 || !r.lasted(ended):
		r.Events, r.Unwatched = nil, errUnseen
	case !r.ranSeen(pid, ended) && !r.accountedFor():
		r.Events, r.Unwatched = nil, errUnaccounted
	default:
		r.WallNs, r.WallErrorNs = ended, 0
		r.withoutLaunch(p)
	}
}

// lastExit returns the last event, if that is an exit of the untraced program with the first process pid, and what
// follows it may be told: the kernel did not stop noting at an exec. Otherwise it returns nil.
func (r *Run) lastExit(pid int) *Event {
	n := len(r.Events)
	if r.Untraced == nil || r.WaitOf != FirstThread || r.LostEvents > 0 || n == 0 || r.Events[n-1].Kind != Exited || r.Events[n-1].Process != pid {
		return nil
	}
	if _, _, atExec := ranBy(r.Events); atExec { // what follows is the program, not its end
		return nil
	}
	return &r.Events[n-1]
}

// untilSeen moves the last exit to the time at which the end was seen. Where whole CPUs are watched, the last thread
// would otherwise have been noted to lose its CPU.
func (r *Run) untilSeen(pid int) {
	if exit := r.lastExit(pid); exit != nil {
		exit.AtNs = max(exit.AtNs, r.Threads[0].ReadNs-r.Threads[0].LateNs)
	}
}

// untilEnd moves the last exit of a program of one thread to the end of the thread. Linux 6.16 and
// later note an exit before the thread gives back its memory, which takes about 0.2 ms for each MB. The account
// of the thread tells how long it ran and waited after the exit. If these times leave a part of the time until
// the end was seen unexplained, the exit stays where it is.
func (r *Run) untilEnd(pid int) {
	last := r.lastExit(pid)
	if last == nil || last.Thread != pid {
		return
	}
	account, exit := r.Threads[0], *last
	ranNs, keptNs, switches := account.CPUNs, account.WaitNs, int64(0)
	var state Event
	for _, e := range r.Events {
		if e.Thread != pid || e.Kind == Executed {
			continue
		}
		if e.Kind == SwitchedIn {
			switches++
		}
		switch ns := e.AtNs - state.AtNs; {
		case state.Thread == 0:
		case state.Kind == SwitchedIn:
			ranNs -= ns
		case state.Kind != Blocked:
			keptNs -= ns
		}
		state = e
	}
	seenNs := account.ReadNs - account.LateNs // it had not ended before
	waitedNs := max(0, seenNs-exit.AtNs-ranNs)
	if ranNs <= mostSwitchNs*switches || exit.AtNs+ranNs > account.ReadNs || waitedNs > max(0, keptNs)+wakeUpNs {
		return
	}
	r.Events = r.Events[:len(r.Events)-1]
	if waitedNs > 0 {
		lost, got := exit, exit
		lost.Kind, got.Kind, got.AtNs = Preempted, SwitchedIn, exit.AtNs+waitedNs
		r.Events = append(r.Events, lost, got)
	}
	exit.AtNs += waitedNs + ranNs
	r.Events = append(r.Events, exit)
}

// leastProgramNs is the least time for which a program runs between its exec and its exit. If a noted exit comes
// sooner, the kernel has stopped noting: it does so at an exec that gives a process other rights, or whose file
// may not be read, and then notes an exit 3 to 15 µs later. The shortest program, of one system call, takes 28
// µs.
const leastProgramNs = 20e3

// CPU time that may be missing in the notes: exitNs is what a process usually uses after its noted exit,
// unnotedShare is a share of all CPU time, and unnotedSwitchNs is what a switch costs before and after its
// notes (1.0 to 1.1 µs were seen). For each stop for the tracer, a part of stopNs may be missing.
const exitNs, unnotedShare, unnotedSwitchNs = 400e3, 0.1, 1.5e3

// mostSwitchNs is an upper bound of the CPU time that a thread is charged with, beyond what is noted, each time
// that it sleeps and wakes up: 5.6 to 6.9 µs were seen in a KVM guest (AMD EPYC, Linux 6.18), for 300 sleeps of
// 0.1 ms.
const mostSwitchNs = 8e3

// seenLate is a share of the time of a program that started no other. Only what follows its noted exit may be
// unseen, and that matters if it is more than this share.
const seenLate = 0.02

// ranSeen reports whether the events hold all that matters because the program started no other, and was seen
// to have ended soon after its noted exit.
func (r *Run) ranSeen(pid int, endedNs int64) bool {
	if r.WaitOf != FirstThread || r.LostEvents > 0 {
		return false
	}
	for _, e := range r.Events {
		if e.Kind == Forked && e.Thread != pid {
			return false
		}
	}
	_, _, atExec := ranBy(r.Events)
	return !atExec && float64(r.Threads[0].ReadNs-endedNs) <= seenLate*float64(endedNs)
}

// accountedFor reports whether the events may hold all that the program did: none of its processes ends at its
// exec, and the CPU time in the events agrees with what the kernel charged.
func (r *Run) accountedFor() bool {
	if r.LostEvents > 0 {
		return true // LostEvents says so, and the events can't tell
	}
	ranNs, exits, atExec := ranBy(r.Events)
	switches := 0
	for _, e := range r.Events {
		if e.Kind == SwitchedIn {
			switches++
		}
	}
	most := exitNs*float64(exits) + stopNs*float64(r.Stops) + unnotedSwitchNs*float64(switches) + unnotedShare*float64(r.CPUNs())
	return !atExec && float64(r.CPUNs()-ranNs) <= most
}

// ranBy returns the time for which all threads ran according to the events, the number of exits, and whether
// one of the threads exited at its exec.
func ranBy(events []Event) (ranNs, exits int64, atExec bool) {
	began, ran, executed := map[int]int64{}, map[int]int64{}, map[int]bool{}
	for _, e := range events {
		if from, on := began[e.Thread]; on && e.Kind != Forked { // the parent noted that one
			ran[e.Thread] += e.AtNs - from
			ranNs += e.AtNs - from
			delete(began, e.Thread)
		}
		switch e.Kind {
		case SwitchedIn:
			began[e.Thread] = e.AtNs
		case Executed:
			began[e.Thread], ran[e.Thread], executed[e.Thread] = e.AtNs, 0, true
		case Exited:
			exits++
			atExec = atExec || executed[e.Thread] && ran[e.Thread] < leastProgramNs
		}
	}
	return ranNs, exits, atExec
}

// lateEndNs is an upper bound of the time between the exit and the moment at which the end is seen.
const lateEndNs = 20e6

// lasted reports whether the program may have lasted no longer than the kernel noted.
func (r *Run) lasted(ns int64) bool {
	return 2*ns >= r.WallNs-r.WallErrorNs-r.WaitNs()-lateEndNs
}

var (
	errUnaccounted = errors.New("the kernel's notes hold less than the CPU time that it was charged with")
	errUnseen      = errors.New("the kernel noted no exec and exit of the program, as where it has rights of its own, or may not be read")
)

// traceRefused reports whether the system forbids tracing. It tells this from a program that can't be started:
// both errors come from the child.
func traceRefused(err error) bool {
	return unix.EPERM == rootCause(err) || unix.ENOSYS == rootCause(err)
}

func rootCause(err error) error {
	if e, ok := err.(*StartError); ok {
		return e.Err
	}
	return err
}

// started is a program that has been started.
type started struct {
	pid int
	fd  int // tells of its end (pidfd_open(2)); below 0 on old kernels
	// seenNs is when the calling thread learned that the program had done its exec, by the clock of the events, and cpu
	// the CPU that the thread ran on then; -1 if unknown.
	seenNs int64
	cpu    int
	// waitedNs is how long the calling thread had waited for a CPU when it started the program.
	waitedNs int64
}

// fork starts the program; a traced program stops at its first instruction. waitNs tells how long the calling thread has
// waited for a CPU so far.
func (c Command) fork(files [3]*os.File, traced bool, waitNs func() int64) (p started, err error) {
	p = started{fd: -1, cpu: -1}
	if len(c.CPUs) > 0 { // a child inherits the CPUs of its parent
		before, err := machine.Affinity()
		if err != nil {
			return p, err
		}
		if err := machine.SetAffinity(c.CPUs); err != nil {
			return p, err
		}
		defer machine.SetAffinity(before)
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	// Without a tracer, the program needs another way to end with its parent: Pdeathsig.
	attr := &syscall.SysProcAttr{Ptrace: traced, Setpgid: !c.OwnSession, Setsid: c.OwnSession, Pdeathsig: unix.SIGKILL}
	if !traced {
		attr.PidFD = &p.fd
	}
	p.waitedNs = waitNs() // the thread may have waited for the program's CPU
	p.pid, err = syscall.ForkExec(c.Path, append([]string{c.Path}, c.Args...), &syscall.ProcAttr{
		Dir: c.Dir, Env: env, Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys: attr,
	})
	p.seenNs = perfring.Now()
	if cpu, err := machine.CurrentCPU(); err == nil {
		p.cpu = cpu
	}
	runtime.KeepAlive(files)
	if err != nil {
		return started{fd: -1}, &StartError{Path: c.Path, Err: err}
	}
	if c.OwnSession && c.Nice != 0 { // some kernels have no such groups
		_ = os.WriteFile(machine.ProcFile(p.pid, "autogroup"), []byte(strconv.Itoa(c.Nice)), 0)
	}
	return p, nil
}

// killGroup kills all processes of the program's process group.
func killGroup(pid int) { unix.Kill(-pid, unix.SIGKILL) }

// ended enters what wait4(2) tells of a program that has ended.
func (r *Run) ended(status unix.WaitStatus, usage *unix.Rusage) {
	r.UserNs, r.SystemNs = usage.Utime.Nano(), usage.Stime.Nano()
	r.VoluntarySwitches, r.InvoluntarySwitches = int64(usage.Nvcsw), int64(usage.Nivcsw)
	r.MinorFaults, r.MajorFaults = int64(usage.Minflt), int64(usage.Majflt)
	r.Uncounted = usage.Minflt == 0 // no program begins without a page fault (gVisor counts none)
	r.ExitCode = status.ExitStatus()
	if status.Signaled() {
		r.ExitCode, r.Signal = -1, status.Signal()
	}
}

// noted stores the counts of a traced program's waits and looks at clocks; w or l is nil if that was not asked
// for.
func (r *Run) noted(w *waits, l *looks) {
	r.Unnoted, r.Unclocked = errUnasked, errUnasked
	if w != nil {
		r.TimedWaits, r.TimedSwitches, r.SleepSwitches, r.Unnoted = w.count, w.switches, w.sleepSwitches, w.why
		r.Yields, r.OtherPolicy = w.yields, w.otherPolicy
	}
	if l != nil {
		r.ClockReads, r.ClockWorkNs, r.UncorrectedWorkNs, r.Unclocked = l.count, l.workNs, l.uncorrectedNs, l.why
		r.BusyTold, r.CPUTimeWorkNs = l.busyTold, l.cpuTimeWorkNs
		if l.waitingTold {
			r.ClockWorkNs, r.UncorrectedWorkNs = r.CPUNs(), r.CPUNs()
		}
	}
}
