package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"chronoscope/internal/stops"
)

// Command is a program to be run.
type Command struct {
	// Path is the program's file; a name without a slash is looked up in PATH.
	Path string
	// Args are its arguments, without its name.
	Args []string
	// Env is its environment; nil gives it this process's own.
	Env []string
	// Dir is the folder that it runs in; empty stands for that of this process.
	Dir string
	// Stdin is what it reads; nil is an empty input.
	Stdin *os.File
	// Stdout and Stderr take what it writes; nil discards that. A file is handed to the program as it is. A
	// Writer that fails ends the program with SIGPIPE.
	Stdout, Stderr io.Writer
	// CPUs are the CPUs that it may run on, from its first instruction; if empty, those of this process.
	CPUs []int
	// Untraced leaves the program untraced: signals and new threads then cost it nothing, and less is known of
	// it.
	Untraced bool
	// Events has the kernel note when each thread ran, by perf_event_open(2): see [Run.Events]. It costs about
	// 2 µs at each context switch.
	Events bool
	// NoteWaits has the tracer stop the program at system calls that can wait until some time, and at some
	// others, to count them: see [Run.TimedWaits]. Each stop costs about 5 to 30 µs. If there are very many,
	// not all are counted, and the program continues.
	NoteWaits bool
	// NoteClocks has the tracer stop the program when it reads clocks: see [Run.ClockReads]. The program's clocks
	// are then set back by the time for which it waited for a CPU and for its tracer, and so is the uptime that
	// sysinfo(2) tells with NoteWaits, whose load averages are 0. So the program does what it would do alone, even
	// if it works until some time. This costs about a tenth of its CPU time, and about 0.2 µs
	// a reading.
	NoteClocks bool
	// NoteOpens has the tracer, with NoteWaits and NoteClocks, stop the program at each file that it opens, to
	// see whether the file tells how long the program has waited: see [Run.ClockWorkNs]. Each stop costs about
	// 10 to 60 µs: ask for it if [Run.WaitingToldPossibly] says that some process opened such a file.
	NoteOpens bool
	// CallsEvent is the kernel's number of the tracepoint raw_syscalls/sys_enter (tracefs). If it is not 0, a
	// traced run counts its system calls ([Run.Calls]), which takes rights (CAP_PERFMON).
	CallsEvent uint64
	// Started, unless it is nil, is called with the program's process number as soon as the program has been
	// started.
	Started func(pid int)
	// Drain, unless it is nil, is called while the untraced program runs, whenever one of the file descriptors DrainFDs
	// can be read: on the thread that waits for the program's end, so that no other thread takes CPU time from the program.
	Drain    func()
	DrainFDs []int
	// Nice is the niceness (nice(7)) of the program and of all that it starts, from -20, with which others
	// hardly keep it from a CPU, to 19; 0 leaves the niceness as it is. To lower the niceness takes root,
	// CAP_SYS_NICE, or a limit that allows it (ulimit -e).
	Nice int
	// OwnSession starts the program in a session of its own. Where the kernel divides the CPUs among sessions
	// (sched(7), autogroup), Nice is then also that of the session.
	OwnSession bool
}

// Extent names the threads about which something is known.
type Extent string

// The extents.
const (
	AllThreads  Extent = "all threads"
	FirstThread Extent = "first thread"
	NoThread    Extent = "none"
)

// Run is one run of a program: what the kernel counted of it, of all its threads, and of the processes that it
// started and waited for. If it was traced, also of those that it did not wait for.
type Run struct {
	// WallNs is the time from the program's first instruction to its exit, as far as the system tells. It may
	// be up to WallErrorNs too long, since it may hold a part of the start, and of the time until the end was
	// noticed. With Events, the kernel itself noted both moments, and WallErrorNs is 0.
	WallNs, WallErrorNs int64
	// Events are what the kernel noted of all threads, in order of time. Unwatched says why there are none.
	// LostEvents is the number of events that were noted and could not be kept. ExecNs is the time 0 of the
	// events, by the system's monotonic clock; if the start held the program up at its exec, time 0 is later by that.
	Events     []Event
	ExecNs     int64
	Unwatched  error
	LostEvents int64
	// InheritNs is the assumed extra time for starting and ending each further thread of the program: it inherits the
	// perf events that record the program. 0 if events are not inherited.
	InheritNs float64
	// StartWaitNs is how long the launcher delayed the start of this program: the time until it noticed the end of the
	// previous program, and its own run-queue wait since then. 0 if unknown.
	StartWaitNs int64
	// Continued is how often this process was continued (SIGCONT) while the program ran. If it is not 0, this process was
	// probably stopped, as by Ctrl-Z, and saw the program's end late. What it traced or bounded then waited for it.
	Continued int
	// BesideNs is the CPU time that this process itself used while an untraced program ran.
	BesideNs int64
	// UserNs and SystemNs are CPU time. Their sum is known more finely than its two parts.
	UserNs, SystemNs int64
	// Threads holds what is known of each thread, in the order of their exits. WaitOf says which threads are
	// known.
	Threads []Thread
	WaitOf  Extent
	// Untraced says why the program was not traced; nil if it was. Signals is the number of signals that were
	// delivered to a traced program: each stops the thread that gets it for about 20 µs. The Go runtime sends
	// itself many while it collects garbage.
	Untraced error
	Signals  int
	// StoppedNs is the time for which the tracer kept threads stopped, as far as the tracer knows. Each stop lasts
	// from its notice until the tracer lets the thread continue, and includes the tracer's run-queue wait. Stops is
	// the number of these stops; each is a [Blocked] event.
	StoppedNs int64
	Stops     int
	// TimedWaits is the number of system calls that could wait until some time: to sleep, to wait for something
	// with a time limit, to set a timer. A timer that repeats counts as very many. TimedSwitches is how often
	// threads gave up their CPUs in these calls. A call whose time has passed gives up no CPU, so that these may be fewer.
	// SleepSwitches is how often they did so in calls that wait for nothing but a time, or for other threads of
	// the same process. Unnoted says why not all of these are known; nil if they are.
	TimedWaits                   int
	TimedSwitches, SleepSwitches int64
	Unnoted                      error
	// Calls is the number of system calls of a run that was traced with CallsEvent; 0 if they could not be counted.
	Calls int64
	// Yields is the number of calls of sched_yield(2) in a run that was traced with NoteWaits. If Unnoted is
	// not nil there may have been more.
	Yields int
	// ClockReads are the program's readings of clocks, in a run that was traced with NoteClocks: the
	// first one of each process, and each that came 0.4 ms or more after the previous one.
	//
	// ClockWorkNs bounds the work that may have depended on these readings. For one process, each reading gives
	// the smaller of two CPU times: what it used from its first reading to this one, and what it used after
	// this one; the largest of these counts. Processes are added up, within a tenth. UncorrectedWorkNs is the
	// part of processes that did not read all clocks by functions of the vDSO: system calls show the time for
	// which the program has waited; they are noted with NoteWaits too. Such a process may have left work undone
	// because it was late: the CPU time between its first reading and its last one counts, whatever it used
	// after that.
	//
	// With NoteOpens, files that it opened to read them count as well. /proc/stat, /proc/uptime and
	// /proc/PID/status count like clocks that are read past the vDSO. If it opened a file that tells how long
	// some process waits (schedstat and sched of processes, /proc/schedstat, /proc/loadavg, /proc/pressure,
	// cpu.stat and pressure of control groups), all of its work may have depended on that.
	//
	// Unclocked says why not all readings are known; nil if they are. It does not cover the times of files,
	// files that were open before the program began, and, on arm64, the instruction that reads the counter.
	ClockReads                     int
	ClockWorkNs, UncorrectedWorkNs int64
	Unclocked                      error
	// CPUTimeWorkNs is as ClockWorkNs, for readings of the CPU time by functions of the vDSO (clock(3) is one). CPU
	// time holds no waits, but often holds interrupts.
	CPUTimeWorkNs int64
	// FilesToldPossibly is true if the program or another one opened one of these files, as far as the kernel
	// tells (inotify(7)), in a run that was traced with NoteClocks and without NoteOpens. WaitingToldPossibly
	// is true if it was a file that tells how long some process waits for a CPU; with NoteOpens, only if the
	// program opened too many files to look at all.
	FilesToldPossibly, WaitingToldPossibly bool
	// BusyTold is true if the program opened a file that tells how busy the machine is (/proc/loadavg, /proc/N/stat), in a run that was traced with NoteOpens.
	BusyTold bool
	// OtherPolicy is true if a thread asked for a scheduling policy other than the normal ones (sched(7):
	// SCHED_OTHER, SCHED_BATCH and SCHED_IDLE), as far as that was seen. In a run that was traced with
	// NoteWaits all threads were seen; otherwise only the first one, by its policy at its end.
	OtherPolicy bool
	// OtherLimit is true if a thread of a traced program ended in a control group with a CPU limit in which the
	// program did not begin, or was in such a group for 10 ms or more.
	OtherLimit bool
	// VoluntarySwitches is how often threads gave up their CPUs, to wait or because they were stopped;
	// InvoluntarySwitches is how often they lost them.
	VoluntarySwitches, InvoluntarySwitches int64
	// MinorFaults and MajorFaults are the numbers of page faults without and with input.
	MinorFaults, MajorFaults int64
	// Uncounted says that the system counts neither switches nor page faults, so that all four numbers are 0.
	Uncounted bool
	// MaxRSSBytes is the most memory that the largest of the program's processes had resident at a time; 0 if that is
	// not known, as for an untraced program whose peak is less than twice that of this process: wait4(2) may tell the
	// peak of this process then. AllRSSBytes is the sum over all processes, which need not all have lived at a time; 0 if
	// the program was not traced.
	MaxRSSBytes, AllRSSBytes int64
	// ExitCode is the program's exit status; -1 if Signal ended it.
	ExitCode int
	Signal   os.Signal
}

// Thread is what the kernel counted of one thread until its exit, by
// /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst).
type Thread struct {
	// ID is the thread's number (gettid(2)).
	ID int
	// CPUNs is the time for which it ran.
	CPUNs int64
	// WaitNs is its run-queue wait: the time for which it was runnable and had no CPU.
	WaitNs int64
	// ReadNs is when these were read, in the time of the [Run.Events]. A thread that had ended by then had ended at
	// most LateNs earlier. The kernel's counters of a thread go on from the event of its exit to its very end,
	// which has no event: the thread may also wait for a CPU in between.
	ReadNs, LateNs int64
}

// WaitNs returns the sum of the run-queue waits of all known threads.
func (r Run) WaitNs() (total int64) {
	for _, t := range r.Threads {
		total += t.WaitNs
	}
	return total
}

// CPUNs returns user and system time together.
func (r Run) CPUNs() int64 { return r.UserNs + r.SystemNs }

// Failure says how the program ended; nil if it ended with status 0.
func (r Run) Failure() error {
	switch {
	case r.Signal != nil:
		return fmt.Errorf("ended by signal: %v", r.Signal)
	case r.ExitCode != 0:
		return fmt.Errorf("exit status %d", r.ExitCode)
	}
	return nil
}

// Run starts the program and waits for its end. The program is a process group of its own, which gets no Ctrl-C
// from the terminal. If ctx ends, the program is killed, and ctx's error is returned with what was counted
// until then. Processes of the program that are still there when it ends are killed, too: all of them if it was
// traced, or if all its Events were kept; otherwise those that are still in its process group.
//
// The other errors are a *[StartError], a *[PriorityError], and that of a Writer.
func (c Command) Run(ctx context.Context) (Run, error) {
	return c.between(ctx, func(c Command, files [3]*os.File) (Run, error) { return c.run(ctx, files) })
}

// between opens the program's files, lets it run, and waits for its output.
func (c Command) between(ctx context.Context, run func(Command, [3]*os.File) (Run, error)) (Run, error) {
	if err := ctx.Err(); err != nil {
		return Run{}, err
	}
	path, err := exec.LookPath(c.Path)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return Run{}, &StartError{Path: c.Path, Err: err}
	}
	c.Path = path
	files, finish, err := c.connect()
	if err != nil {
		return Run{}, &StartError{Path: c.Path, Err: err}
	}
	stopped := stops.Begin()
	r, err := run(c, files)
	r.Continued = stopped.Count()
	written := finish()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		return r, err
	}
	return r, written
}

func (c Command) started(pid int) {
	if c.Started != nil {
		c.Started(pid)
	}
}

// PriorityError says that a program could not be given a niceness, and was not started.
type PriorityError struct {
	Nice int
	Err  error // what the system answered
}

// Error says what was tried, and what would help.
func (e *PriorityError) Error() string {
	return fmt.Sprintf("a niceness of %d: %v: run as root, with CAP_SYS_NICE or a higher limit (ulimit -e), or leave it as it is", e.Nice, e.Err)
}

// Unwrap returns the error of the system.
func (e *PriorityError) Unwrap() error { return e.Err }

// StartError says that a program could not be started.
type StartError struct {
	Path string
	Err  error // what the system answered
}

// Error says what was tried, and what would help.
func (e *StartError) Error() string {
	return fmt.Sprintf("starting %s: %v: %s", e.Path, e.Err, e.remedy())
}

// remedy returns what would help, by what the system answered.
func (e *StartError) remedy() string {
	is := func(all ...syscall.Errno) bool {
		return slices.ContainsFunc(all, func(errno syscall.Errno) bool { return errors.Is(e.Err, errno) })
	}
	file, ok := errors.AsType[*fs.PathError](e.Err)
	switch {
	case ok && file.Path == os.DevNull && e.Path != os.DevNull:
		return "make that file, as with mknod -m 666 /dev/null c 1 3: it stands for files that are not given"
	case errors.Is(e.Err, exec.ErrNotFound), errors.Is(e.Err, fs.ErrNotExist):
		return "check that it is there, with the interpreter that it names, and that the folder to run it in is"
	case is(syscall.EMFILE, syscall.ENFILE):
		return "close files, or allow more of them (ulimit -n)"
	case is(syscall.EAGAIN, syscall.ENOMEM):
		return "end other processes, or allow more of them, or more memory (ulimit -u, ulimit -v)"
	case is(syscall.E2BIG):
		return "give it fewer arguments, or a smaller environment"
	case is(syscall.ETXTBSY):
		return "check that nobody writes to it"
	case is(syscall.ENOEXEC):
		return "check that it was built for this machine, or that a script begins with #! and its interpreter"
	case is(syscall.EPERM):
		return "see what forbids it, such as a container's seccomp profile or a security module"
	case errors.Is(e.Err, fs.ErrPermission), is(syscall.EISDIR, syscall.ENOTDIR):
		return "check that it is a file that may be executed, in a folder that may be entered"
	}
	return "check that it is there, may be executed, and was built for this machine"
}

// Unwrap returns the error of the system.
func (e *StartError) Unwrap() error { return e.Err }

// lingering is the time for which output is waited for after the program has ended. Processes that it left
// behind may hold the pipe open.
const lingering = time.Second

// null opens the file that stands for files that are not given. The file stays open, since opening it takes
// long compared with a short program.
var null = sync.OnceValues(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })

// connect opens the program's three standard files. finish has to be called when the program has ended, and
// waits for its output.
func (c Command) connect() (files [3]*os.File, finish func() error, err error) {
	var ours, readers []*os.File
	copied := make(chan error, 2)
	finish = func() error {
		for _, f := range ours {
			f.Close()
		}
		for _, r := range readers {
			r.SetReadDeadline(time.Now().Add(lingering))
		}
		var first error
		for range readers {
			if err := <-copied; first == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				first = err
			}
		}
		return first
	}
	nothing, err := null()
	if err != nil {
		return files, finish, err
	}
	files = [3]*os.File{nothing, nothing, nothing}
	if c.Stdin != nil {
		files[0] = c.Stdin
	}
	for i, w := range []io.Writer{c.Stdout, c.Stderr} {
		switch w := w.(type) {
		case nil:
		case *os.File:
			files[i+1] = w
		default:
			if i == 1 && c.Stdout == c.Stderr {
				files[2] = files[1]
				continue
			}
			r, pipe, err := os.Pipe()
			if err != nil {
				finish()
				return files, finish, err
			}
			ours, readers = append(ours, pipe), append(readers, r)
			files[i+1] = pipe
			go func() {
				_, err := io.Copy(w, r)
				r.Close()
				copied <- err
			}()
		}
	}
	return files, finish, nil
}
