package process

import (
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mustNoteWaits skips where this system does not tell of system calls.
func mustNoteWaits(t *testing.T, c Command) Run {
	t.Helper()
	c.NoteWaits = true
	r := mustTrace(t, c)
	if r.Unnoted != nil {
		t.Skipf("no system calls here: %v", r.Unnoted)
	}
	return r
}

func TestTimedWaits(t *testing.T) {
	for _, c := range []struct {
		name        string
		command     Command
		least, most int
	}{
		{"computes", shell("i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 0},
		{"waits for a child", shell("(exit 0) & wait"), 0, 0},
		{"sleeps", Command{Path: "sleep", Args: []string{"0.01"}}, 1, 1},
		{"children sleep", shell("sleep 0.001; sleep 0.001 & wait"), 2, 2},
		{"a program in Go with threads", program("threads"), 1, 1 << 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustNoteWaits(t, c.command)
			if r.Failure() != nil || r.TimedWaits < c.least || r.TimedWaits > c.most {
				t.Errorf("%d timed waits, want %d to %d: %+v", r.TimedWaits, c.least, c.most, r)
			}
		})
	}
}

// A thread stops at the exit of a system call, too, where what the call returned stands in
// the place of its number: one that has written as many bytes has not asked to sleep.
func TestExitsAreNoCalls(t *testing.T) {
	for _, number := range []int{unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_IO_URING_SETUP} {
		if r := mustNoteWaits(t, shell(fmt.Sprintf("printf %%%ds x", number))); r.Failure() != nil || r.TimedWaits != 0 {
			t.Errorf("%d timed waits in a program that writes %d bytes: %+v", r.TimedWaits, number, r)
		}
	}
}

// Of the blocks that are noted of a program, its stops and those in timed calls are known.
// What is left are those for something else: none where it only sleeps, and where it waits for
// another some in each run. What the kernel itself waits for at times is in none of five runs.
func TestSwitchesInTimedWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		command  Command
		switches int64
		others   bool
	}{
		{"sleeps", Command{Path: "sleep", Args: []string{"0.1"}}, 1, false},
		{"waits for one that sleeps", shell("sleep 0.1 | cat"), 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			least := math.MaxInt
			for range 5 {
				c.command.Events = true
				r := mustNoteWaits(t, c.command)
				r = mustWatch(t, r, nil)
				blocks := 0
				for _, e := range r.Events {
					if e.Kind == Blocked && e.AtNs > 0 {
						blocks++
					}
				}
				if r.TimedWaits != 1 || r.TimedSwitches != c.switches {
					t.Errorf("%d switches in %d timed waits, want %d in one", r.TimedSwitches, r.TimedWaits, c.switches)
				}
				least = min(least, blocks-r.Stops-int(r.TimedSwitches))
			}
			if least < 0 || (least > 0) != c.others {
				t.Errorf("%d blocks for something else", least)
			}
		})
	}
}

// Signals and exit statuses arrive as ever.
func TestTimedWaitsDisturbNothing(t *testing.T) {
	r := mustNoteWaits(t, shell("trap 'exit 6' USR1; kill -USR1 $$; exit 7"))
	if r.ExitCode != 6 || r.Signals != 1 {
		t.Errorf("%+v", r)
	}
	if r := mustNoteWaits(t, shell("kill -TERM $$")); r.Signal != unix.SIGTERM {
		t.Errorf("%+v", r)
	}
}

func TestTimedWaitsUnknown(t *testing.T) {
	both(t, shell("exit 0"), func(t *testing.T, r Run, err error) {
		if err != nil || r.Unnoted == nil || r.TimedWaits != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// A program that makes system calls all the time is let go.
func TestTooManyCalls(t *testing.T) {
	w := &tracer{waits: &waits{}, run: Run{StoppedNs: mostStoppedNs + 1}}
	if w.lookAtCalls() || w.waits.why != errManyCalls {
		t.Errorf("%+v", w.waits)
	}
}

// The order of arguments is that of the manual's pages.
func TestCallsThatWait(t *testing.T) {
	if size := unsafe.Sizeof(syscallInfo{}); size != 88 { // as include/uapi/linux/ptrace.h has it since 5.3
		t.Errorf("%d bytes", size)
	}
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("its calls are not known")
	}
	const nothing, soon, armed, unreadable, periodic, stopped = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000
	memory := map[uint64][]uint64{
		nothing: {0, 0}, soon: {0, 1000}, nothing + 16: {0, 0}, armed: {0, 0}, armed + 16: {1, 0},
		periodic: {0, 1000}, periodic + 16: {1, 0}, stopped: {0, 1000}, stopped + 16: {0, 0},
	}
	read := func(at uint64, into []byte) bool {
		for i, word := range memory[at] {
			binary.NativeEndian.PutUint64(into[8*i:], word)
		}
		return memory[at] != nil
	}
	forever := uint64(0xffffffff)
	for _, c := range []struct {
		name   string
		number uint64
		args   [6]uint64
		want   int
	}{
		{"nanosleep", unix.SYS_NANOSLEEP, [6]uint64{soon}, 1},
		{"clock_nanosleep to a time", unix.SYS_CLOCK_NANOSLEEP, [6]uint64{1, 1, soon}, 1},
		{"read", unix.SYS_READ, [6]uint64{soon, soon, soon, soon, soon, soon}, 0},
		{"ppoll for ever", unix.SYS_PPOLL, [6]uint64{1, 1, 0}, 0},
		{"ppoll, a look", unix.SYS_PPOLL, [6]uint64{1, 1, nothing}, 0},
		{"ppoll, a sleep of no time", unix.SYS_PPOLL, [6]uint64{0, 0, nothing}, 1},
		{"ppoll", unix.SYS_PPOLL, [6]uint64{1, 1, soon}, 1},
		{"ppoll, unreadable", unix.SYS_PPOLL, [6]uint64{1, 1, unreadable}, 1},
		{"pselect6, a look", unix.SYS_PSELECT6, [6]uint64{3, 1, 0, 0, nothing}, 0},
		{"pselect6, a sleep of no time", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, nothing}, 1},
		{"pselect6 for ever", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, 0}, 0},
		{"epoll_pwait for ever", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, forever}, 0},
		{"epoll_pwait, a look", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 0}, 0},
		{"epoll_pwait", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 10}, 1},
		{"futex for ever", unix.SYS_FUTEX, [6]uint64{1, 128, 2, 0}, 0},
		{"futex", unix.SYS_FUTEX, [6]uint64{1, 128, 2, soon}, 1},
		{"futex, bits", unix.SYS_FUTEX, [6]uint64{1, 9 | 128 | 256, 2, soon}, 1},
		{"futex, wakes", unix.SYS_FUTEX, [6]uint64{1, 1 | 128, 2, soon}, 0},
		{"futex, requeues so many", unix.SYS_FUTEX, [6]uint64{1, 3, 2, 1}, 0},
		{"a timer set", unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, armed}, 1},
		{"a timer stopped", unix.SYS_SETITIMER, [6]uint64{0, nothing}, 0},
		{"a timer stopped that was to repeat", unix.SYS_SETITIMER, [6]uint64{0, stopped}, 0},
		{"a timer that repeats", unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, periodic}, repeating},
		{"a timer of the process that repeats", unix.SYS_TIMER_SETTIME, [6]uint64{3, 0, periodic}, repeating},
		{"a timer of real time that repeats", unix.SYS_SETITIMER, [6]uint64{0, periodic}, repeating},
		{"a timer of user time", unix.SYS_SETITIMER, [6]uint64{1, armed}, 0},
		{"a profiler's timer", unix.SYS_SETITIMER, [6]uint64{2, periodic}, 0},
	} {
		i := syscallInfo{number: c.number, args: c.args}
		if got := i.waits(read); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
