package process

import (
	"encoding/binary"
	"fmt"
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
	const nothing, soon, armed, unreadable = 0x1000, 0x2000, 0x3000, 0x4000
	memory := map[uint64][]uint64{nothing: {0, 0}, soon: {0, 1000}, nothing + 16: {0, 0}, armed + 16: {1, 0}}
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
		want   bool
	}{
		{"nanosleep", unix.SYS_NANOSLEEP, [6]uint64{soon}, true},
		{"clock_nanosleep to a time", unix.SYS_CLOCK_NANOSLEEP, [6]uint64{1, 1, soon}, true},
		{"read", unix.SYS_READ, [6]uint64{soon, soon, soon, soon, soon, soon}, false},
		{"ppoll for ever", unix.SYS_PPOLL, [6]uint64{1, 1, 0}, false},
		{"ppoll, a look", unix.SYS_PPOLL, [6]uint64{1, 1, nothing}, false},
		{"ppoll, a sleep of no time", unix.SYS_PPOLL, [6]uint64{0, 0, nothing}, true},
		{"ppoll", unix.SYS_PPOLL, [6]uint64{1, 1, soon}, true},
		{"ppoll, unreadable", unix.SYS_PPOLL, [6]uint64{1, 1, unreadable}, true},
		{"pselect6, a look", unix.SYS_PSELECT6, [6]uint64{3, 1, 0, 0, nothing}, false},
		{"pselect6, a sleep of no time", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, nothing}, true},
		{"pselect6 for ever", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, 0}, false},
		{"epoll_pwait for ever", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, forever}, false},
		{"epoll_pwait, a look", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 0}, false},
		{"epoll_pwait", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 10}, true},
		{"futex for ever", unix.SYS_FUTEX, [6]uint64{1, 128, 2, 0}, false},
		{"futex", unix.SYS_FUTEX, [6]uint64{1, 128, 2, soon}, true},
		{"futex, bits", unix.SYS_FUTEX, [6]uint64{1, 9 | 128 | 256, 2, soon}, true},
		{"futex, wakes", unix.SYS_FUTEX, [6]uint64{1, 1 | 128, 2, soon}, false},
		{"futex, requeues so many", unix.SYS_FUTEX, [6]uint64{1, 3, 2, 1}, false},
		{"a timer set", unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, armed}, true},
		{"a timer stopped", unix.SYS_SETITIMER, [6]uint64{0, nothing}, false},
	} {
		i := syscallInfo{number: c.number, args: c.args}
		if got := i.waits(read); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
