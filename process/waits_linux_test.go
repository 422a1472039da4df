package process

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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
				if r.TimedWaits != 1 || r.TimedSwitches != c.switches || r.SleepSwitches != c.switches {
					t.Errorf("%d switches in %d timed waits, %d of them in sleeps, want %d in one", r.TimedSwitches, r.TimedWaits, r.SleepSwitches, c.switches)
				}
				least = min(least, blocks-r.Stops-int(r.TimedSwitches))
			}
			if least < 0 || (least > 0) != c.others {
				t.Errorf("%d blocks for something else", least)
			}
		})
	}
}

// A program that polls with a time limit waits for another, such as a server: that was taken for a
// sleep.
func TestSleeps(t *testing.T) {
	for _, c := range []struct {
		name   string
		number uint64
		args   [6]uint64
		want   bool
	}{
		{"nanosleep", unix.SYS_NANOSLEEP, [6]uint64{1}, true},
		{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, [6]uint64{1, 1, 1}, true},
		{"ppoll of a file", unix.SYS_PPOLL, [6]uint64{1, 1, 1}, false},
		{"ppoll of none", unix.SYS_PPOLL, [6]uint64{0, 0, 1}, true},
		{"pselect6 of files", unix.SYS_PSELECT6, [6]uint64{4, 1, 0, 0, 1}, false},
		{"pselect6 of none", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, 1}, true},
		{"epoll_pwait", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 10}, false},
		{"a futex of the process", unix.SYS_FUTEX, [6]uint64{1, 9 | 128, 2, 1}, true},
		{"a futex in shared memory", unix.SYS_FUTEX, [6]uint64{1, 9, 2, 1}, false},
		{"a message queue", unix.SYS_MQ_TIMEDRECEIVE, [6]uint64{3, 1, 1, 0, 1}, false},
		{"a signal", unix.SYS_RT_SIGTIMEDWAIT, [6]uint64{1, 1, 1, 8}, false},
	} {
		i := syscallInfo{number: c.number, args: c.args}
		if i.sleeps() != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
	var r Run
	for range 5 { // on a busy machine the time may have passed before it waits
		if r = mustNoteWaits(t, program("polls")); r.Failure() == nil && r.TimedSwitches > r.SleepSwitches {
			return
		}
	}
	t.Errorf("%d switches in timed waits, %d of them in sleeps: %+v", r.TimedSwitches, r.SleepSwitches, r)
}

// A time-out that is far off when the answer comes is no wait until some time: an event loop was taken
// for a program that may be late. One that passes is, and so is one that might have passed.
func TestTimeOutsThatDoNotPass(t *testing.T) {
	for what, want := range map[string]int{"poll(60000)": 0, "poll(1)": 3, "epoll(60)": 0, "select(60)": 0} {
		c := Command{Path: "python3", Args: []string{"-S", "-E", "-c", `import os, select, sys
what, limit = sys.argv[1].rstrip(")").split("(")
for turn in range(3):
	r, w = os.pipe()
	if os.fork() == 0:
		if limit != "1": os.write(w, b"x" * (1 + sum(range(100000)) % 2))
		os._exit(0)
	if what == "poll":
		p = select.poll()
		p.register(r, select.POLLIN)
		p.poll(int(limit))
	elif what == "epoll":
		p = select.epoll()
		p.register(r, select.EPOLLIN)
		p.poll(int(limit))
	else:
		select.select([r], [], [], int(limit))
	os.wait()
`, what}, NoteWaits: true}
		if _, err := c.Run(background); err != nil {
			t.Skip(err)
		}
		if r := mustNoteClocks(t, c); r.Failure() != nil || r.Unnoted != nil || r.TimedWaits != want {
			t.Errorf("%s: %d timed waits, want %d: %+v", what, r.TimedWaits, want, r)
		}
	}
}

// What is asked for stands in the arguments or in memory, and is checked.
func TestTimeOuts(t *testing.T) {
	words := map[uint64][]uint64{8: {2, 5e8}, 24: {1, 2e9}, 32: {1 << 40, 0}}
	read := func(at uint64, into []byte) bool {
		for i, word := range words[at] {
			binary.NativeEndian.PutUint64(into[8*i:], word)
		}
		return words[at] != nil
	}
	for _, c := range []struct {
		number uint64
		args   [6]uint64
		want   int64
	}{
		{unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 10}, 10e6},
		{unix.SYS_PPOLL, [6]uint64{1, 1, 8}, 2.5e9}, {unix.SYS_PSELECT6, [6]uint64{4, 1, 0, 0, 8}, 2.5e9},
		{unix.SYS_PPOLL, [6]uint64{1, 1, 24}, 0}, {unix.SYS_PPOLL, [6]uint64{1, 1, 32}, 0}, {unix.SYS_PPOLL, [6]uint64{1, 1, 40}, 0},
		{unix.SYS_FUTEX, [6]uint64{1, 128, 2, 8}, 2.5e9}, {unix.SYS_FUTEX, [6]uint64{1, 9 | 128, 2, 8}, 0},
		{unix.SYS_NANOSLEEP, [6]uint64{8}, 0}, {unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, 8}, 0},
	} {
		i := syscallInfo{number: c.number, args: c.args}
		if got := i.timeoutNs(read); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
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

// A program that made 200,000 cheap system calls stood still at each of them, twice, and took
// sixty times as long as without its tracer.
func TestOtherCallsGoOn(t *testing.T) {
	r := mustNoteWaits(t, shell("i=0; while [ $i -lt 500 ]; do : >/dev/null; i=$((i+1)); done"))
	if r.Failure() != nil || r.Stops > 50 {
		t.Errorf("%d stops in some 2,500 system calls, none of which waits: %+v", r.Stops, r)
	}
}

// A program that made very many noted calls was killed, in the middle of what it did, to be run
// again. It goes on to its end, and that not all of them were looked at is said.
func TestTooManyCalls(t *testing.T) {
	for _, c := range []struct {
		stops   int
		ran     time.Duration
		tooMany bool
	}{
		{manyStops, 0, false},
		{manyStops + 1, 700 * time.Millisecond, true},
		{manyStops + 1, time.Second, false}, // 200 ms are less than a quarter of its time
		{mostStops, time.Hour, false},
		{mostStops + 1, time.Hour, true},
	} {
		if got := tooMany(c.stops, c.ran); got != c.tooMany {
			t.Errorf("%+v: %v", c, got)
		}
	}
	mustNoteWaits(t, shell("exit 0"))
	c := program("sleeps for no time")
	c.NoteWaits = true
	r, err := c.Run(background)
	if err != nil || r.Failure() != nil || r.TimedWaits < 1000 || r.Stops < manyCalls || r.Unnoted == nil && r.TimedWaits < manyCalls {
		t.Errorf("%v: %+v", err, r)
	}
	w := waits{stops: manyStops + 1}
	if w.note(os.Getpid(), 0, nil, 0); w.why != errManyCalls || w.count != 0 {
		t.Errorf("%+v", w)
	}
}

// Whatever rights the program has, its calls are noted, or that they are not is said.
func TestNoRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests show it")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip(err)
	}
	mustNoteWaits(t, shell("exit 0"))
	var out bytes.Buffer
	c := Command{Path: "setpriv", Args: []string{"--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", os.Args[0]}, Stdout: &out, Stderr: &out, Untraced: true}
	c.Env = append(os.Environ(), "PROCESS_TEST_PROGRAM=notes")
	r, err := c.Run(background)
	if err != nil || r.Failure() != nil || out.String() != "1 timed waits, <nil>\n" {
		t.Errorf("%+v, %v: %s", r, err, &out)
	}
}

func TestYields(t *testing.T) {
	if r := mustNoteWaits(t, program("yields")); r.Yields < yields || r.Yields > 2*yields {
		t.Errorf("%d yields, want %d", r.Yields, yields)
	}
	if r := mustNoteWaits(t, shell("exit 0")); r.Yields != 0 || r.OtherPolicy {
		t.Errorf("%+v", r)
	}
}

// Threads that are stopped at a system call when their program exits stop once more at their end. What the kernel tells
// of that stop names no system call, and once passed for one of another architecture.
func TestExitAmidSystemCalls(t *testing.T) {
	for range 100 { // some 4 % of them showed it
		c := program("exits amid system calls")
		c.NoteWaits = true
		if r := mustTrace(t, c); r.Unnoted != nil || r.Failure() != nil {
			t.Fatalf("%v, %v, %d stops", r.Unnoted, r.Failure(), r.Stops)
		}
	}
}

// The tracer forgets the files that it opened itself while a thread was stopped, and once forgot those that other threads
// of the program opened meanwhile.
func TestFilesOpenedDuringStops(t *testing.T) {
	missed := 0
	for range 60 {
		c := program("reads the load amid system calls")
		c.NoteWaits, c.NoteClocks = true, true
		if r := mustTrace(t, c); r.Failure() != nil || !r.FilesToldPossibly {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of 60 times it was not seen", missed)
	}
}

// The first thread ends alone, and another one ends the program at about that time: the tracer once waited for the first
// thread, which is seen to end only after the other one, and that one waited for the tracer.
func TestEndsInTwoThreads(t *testing.T) {
	for us := 0; us <= 400; us += 10 {
		ctx, cancel := context.WithTimeout(background, 20*time.Second)
		r, err := program(endsInTwoThreads, strconv.Itoa(us)).Run(ctx)
		if cancel(); err != nil || r.Failure() != nil {
			t.Fatalf("after %d µs: %v, %v", us, err, r.Failure())
		}
	}
}

// A program goes on, and uses memory, after its first thread has ended.
func TestGoesOnAfterItsFirstThread(t *testing.T) {
	r, err := program(endsInTwoThreads, "50000", "64").Run(background)
	if err != nil || r.Failure() != nil || r.WallNs < 50e6 || r.MaxRSSBytes < 64<<20 {
		t.Errorf("%v, %v: %d ns, %d bytes", err, r.Failure(), r.WallNs, r.MaxRSSBytes)
	}
}

// So does one that is then killed, where no stop at the exit may tell when that was.
func TestKilledAfterItsFirstThread(t *testing.T) {
	for range 20 {
		r, err := program(endsInTwoThreads, "20000", "1", "killed").Run(background)
		if err != nil || r.Signal != unix.SIGKILL || r.WallNs < 20e6 {
			t.Errorf("%v, %v: %d ns", err, r.Signal, r.WallNs)
		}
	}
}

// The kernel shows a process that has ended in the root of each hierarchy of version 1. It has not moved there.
func TestGroupsOfWhatEnds(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   false,
		"0::/\n":                             false,
		"0::/a\n":                            false,
		"1:cpu:/\n0::/\n":                    true,
		"2:memory:/a\n1:cpu:/\n0::/\n":       false,
		"2:memory:/\n1:cpu,cpuacct:/\n0::/a": true,
	} {
		if got := ofExiting([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	for range 200 {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid)); err == nil && bytes.Contains(stat, []byte(") Z ")) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	groups := groupsOf(c.Process.Pid)
	if version1 := bytes.Count(groups, []byte("\n")) > 1 || !bytes.HasPrefix(groups, []byte("0:")); version1 && !ofExiting(groups) {
		t.Errorf("an ended process is in %q", groups)
	}
}

// A policy that was refused does not count.
func TestOtherPolicy(t *testing.T) {
	for priority, want := range map[string]bool{"0": false, "100": false, "1": true} {
		c := program("real time")
		c.Args = []string{priority}
		if r := mustNoteWaits(t, c); r.OtherPolicy != (want && r.ExitCode == 0) || !want && r.ExitCode == 0 {
			t.Errorf("%q: %+v", priority, r)
		}
		c.Untraced = true
		if r, err := c.Run(background); err != nil || r.OtherPolicy != (want && r.ExitCode == 0) {
			t.Errorf("%q, untraced: %+v, %v", priority, r, err)
		}
	}
}

// limitedGroup makes a control group that may use half a CPU, or skips the test.
func limitedGroup(t *testing.T) (dir string) {
	t.Helper()
	for parent, limit := range map[string]struct{ file, half string }{
		"/sys/fs/cgroup":     {"cpu.max", "50000 100000"},
		"/sys/fs/cgroup/cpu": {"cpu.cfs_quota_us", "50000"},
	} {
		dir, err := os.MkdirTemp(parent, "chronoscope-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Errorf("the control group is left behind: %v", err)
			}
		})
		file, err := os.OpenFile(filepath.Join(dir, limit.file), os.O_WRONLY, 0) // no file is made where this is no control group
		if err != nil {
			continue
		}
		_, err = file.WriteString(limit.half)
		if err = errors.Join(err, file.Close()); err == nil {
			return dir
		}
	}
	t.Skip("no control group with a CPU limit can be made here")
	return ""
}

// A program, or a process that it starts, moves into a control group with a CPU limit, under which it may be
// stopped. That was not seen, and was taken for the doing of others. So it was where the program, or a process that
// it started, left that group before it exited.
func TestOtherLimit(t *testing.T) {
	dir := limitedGroup(t)
	procs, back := filepath.Join(dir, "cgroup.procs"), filepath.Join(filepath.Dir(dir), "cgroup.procs")
	work := "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
	stay := fmt.Sprintf("echo $$ >%s; %s; echo $$ >%s", procs, work, back)
	for script, want := range map[string]bool{
		"exit 0":                            false,
		"echo $$ >" + procs:                 true,
		"sh -c 'echo $$ >" + procs + "'; :": true,
		stay:                                true,
		"sh -c '" + stay + "'; :":           true,
	} {
		if r := mustNoteWaits(t, shell(script)); r.OtherLimit != want || r.ExitCode != 0 {
			t.Errorf("%s: %v, want %v: %+v", script, r.OtherLimit, want, r)
		}
	}
}

// A program that asks for its own tracer may do something else where it has one.
func TestAsksForTracer(t *testing.T) {
	c := program("asks for tracer")
	c.NoteWaits = true
	r, err := c.Run(background)
	if err != nil || r.Untraced != nil {
		t.Skipf("not traced: %v, %v", err, r.Untraced)
	}
	if !errors.Is(r.Unnoted, errAsksForTracer) {
		t.Errorf("%v", r.Unnoted)
	}
}

// A program that asked its parent to trace it stopped at its next signal, for ever.
func TestStopsForTracer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	c := program("stops for its tracer")
	c.Untraced = true
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	defer cancel()
	pid := 0
	c.Started = func(id int) { pid = id }
	if r, err := c.Run(ctx); !errors.Is(err, errStopsForTracer) || r.Signal != unix.SIGKILL || pid == 0 {
		t.Errorf("process %d: %+v, %v", pid, r, err)
	}
	for _, script := range []string{"exit 3", "sleep 2; exit 3"} { // others are looked at, too
		c := shell(script)
		c.Untraced = true
		if r, err := c.Run(ctx); err != nil || r.ExitCode != 3 {
			t.Errorf("%s: %+v, %v", script, r, err)
		}
	}
}

// A program that wants the terminal is stopped in the background. Untraced it stayed stopped for ever, and traced, the tracer
// kept restarting it.
func TestWantsTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer ours.Close()
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil || unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0) != nil {
		t.Skip("no terminal can be made here")
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(background, 30*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env, c.Stdin = append(os.Environ(), "PROCESS_TEST_PROGRAM=has a terminal"), theirs
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if said, err := c.CombinedOutput(); err != nil || strings.Count(string(said), "true it tried to use the terminal") != 2 {
		t.Errorf("%s%v", said, err)
	}
}

// run runs a filter on a call, as net/core/filter.c does it.
func (program instructions) run(t *testing.T, number, machine uint32, args [6]uint64) (action uint32) {
	t.Helper()
	var accumulator uint32
	for at := 0; at < len(program); at++ {
		i := program[at]
		passed := false
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			words := []uint32{number, machine, 0, 0}
			for _, arg := range args {
				words = append(words, uint32(arg), uint32(arg>>32))
			}
			accumulator = words[i.K/4]
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			accumulator &= i.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			passed = accumulator == i.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			passed = accumulator >= i.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			passed = accumulator&i.K != 0
		default:
			t.Fatalf("instruction %d is %+v", at, i)
		}
		if passed {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilterOfOtherMachines(t *testing.T) {
	f := callFilter(true)
	for _, c := range []struct {
		number, machine uint32
		stops           bool
	}{
		{unix.SYS_READ, thisMachine, false}, {unix.SYS_NANOSLEEP, thisMachine, true},
		{unix.SYS_READ, thisMachine ^ 1, true}, {otherNumbers | unix.SYS_READ, thisMachine, true},
	} {
		if stops := f.run(t, c.number, c.machine, [6]uint64{}) == unix.SECCOMP_RET_TRACE; stops != c.stops {
			t.Errorf("%+v: stops %v", c, stops)
		}
	}
	if len(f)*8 > scratchBytes-16 {
		t.Errorf("%d instructions have no room", len(f))
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
	const nothing, soon, armed, unreadable, periodic, stopped, deadline, usual = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000, 0x8000
	memory := map[uint64][]uint64{
		deadline: {6<<32 | 48}, usual: {48},
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
		passes bool // the filter tells that it asks for nothing
	}{
		{"nanosleep", unix.SYS_NANOSLEEP, [6]uint64{soon}, 1, false},
		{"clock_nanosleep to a time", unix.SYS_CLOCK_NANOSLEEP, [6]uint64{1, 1, soon}, 1, false},
		{"read", unix.SYS_READ, [6]uint64{soon, soon, soon, soon, soon, soon}, 0, true},
		{"ppoll for ever", unix.SYS_PPOLL, [6]uint64{1, 1, 0}, 0, true},
		{"ppoll, a look", unix.SYS_PPOLL, [6]uint64{1, 1, nothing}, 0, false},
		{"ppoll, a sleep of no time", unix.SYS_PPOLL, [6]uint64{0, 0, nothing}, 1, false},
		{"ppoll", unix.SYS_PPOLL, [6]uint64{1, 1, soon}, 1, false},
		{"ppoll, unreadable", unix.SYS_PPOLL, [6]uint64{1, 1, unreadable}, 1, false},
		{"pselect6, a look", unix.SYS_PSELECT6, [6]uint64{3, 1, 0, 0, nothing}, 0, false},
		{"pselect6, a sleep of no time", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, nothing}, 1, false},
		{"pselect6 for ever", unix.SYS_PSELECT6, [6]uint64{0, 0, 0, 0, 0}, 0, true},
		{"epoll_pwait for ever", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, forever}, 0, true},
		{"epoll_pwait, a look", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 0}, 0, true},
		{"epoll_pwait", unix.SYS_EPOLL_PWAIT, [6]uint64{3, 1, 8, 10}, 1, false},
		{"futex for ever", unix.SYS_FUTEX, [6]uint64{1, 128, 2, 0}, 0, true},
		{"futex", unix.SYS_FUTEX, [6]uint64{1, 128, 2, soon}, 1, false},
		{"futex, bits", unix.SYS_FUTEX, [6]uint64{1, 9 | 128 | 256, 2, soon}, 1, false},
		{"futex, wakes", unix.SYS_FUTEX, [6]uint64{1, 1 | 128, 2, soon}, 0, true},
		{"futex, requeues so many", unix.SYS_FUTEX, [6]uint64{1, 3, 2, 1}, 0, true},
		{"a timer set", unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, armed}, 1, false},
		{"a timer stopped", unix.SYS_SETITIMER, [6]uint64{0, nothing}, 0, false},
		{"a timer stopped that was to repeat", unix.SYS_SETITIMER, [6]uint64{0, stopped}, 0, false},
		{"a timer that repeats", unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, periodic}, repeating, false},
		{"a timer of the process that repeats", unix.SYS_TIMER_SETTIME, [6]uint64{3, 0, periodic}, repeating, false},
		{"a timer of real time that repeats", unix.SYS_SETITIMER, [6]uint64{0, periodic}, repeating, false},
		{"a timer of user time", unix.SYS_SETITIMER, [6]uint64{1, armed}, 0, true},
		{"usage", unix.SYS_GETRUSAGE, [6]uint64{0, soon}, 1, false},
		{"usage of a thread", unix.SYS_GETRUSAGE, [6]uint64{1, soon}, 1, false},
		{"usage of children", unix.SYS_GETRUSAGE, [6]uint64{forever, soon}, 0, true},
		{"a yield", unix.SYS_SCHED_YIELD, [6]uint64{}, 1, false},
		{"batch policy", unix.SYS_SCHED_SETSCHEDULER, [6]uint64{0, 3 | resetOnFork, 1}, 0, true},
		{"real-time policy", unix.SYS_SCHED_SETSCHEDULER, [6]uint64{0, 1, 1}, 1, false},
		{"deadline policy", unix.SYS_SCHED_SETATTR, [6]uint64{0, deadline}, 1, false},
		{"usual policy", unix.SYS_SCHED_SETATTR, [6]uint64{0, usual}, 0, false},
		{"a ring that later waits are asked for in", unix.SYS_IO_URING_SETUP, [6]uint64{8, soon}, repeating, false},
		{"a socket's time limit", unix.SYS_SETSOCKOPT, [6]uint64{3, 1, 20, 1, 16}, repeating, false},
		{"a socket's buffer", unix.SYS_SETSOCKOPT, [6]uint64{3, 1, 8, 1, 4}, 0, true},
		{"a protocol's option", unix.SYS_SETSOCKOPT, [6]uint64{3, 6, 20, 1, 4}, 0, true},
		{"clock_gettime", unix.SYS_CLOCK_GETTIME, [6]uint64{1, soon}, 1, false},
		{"clock_gettime of clockCode", unix.SYS_CLOCK_GETTIME, [6]uint64{1, soon, 0, clockMark}, 0, true},
		{"clock_gettime of CPU time", unix.SYS_CLOCK_GETTIME, [6]uint64{2, soon}, 0, true},
		{"clock_gettime of another thread's CPU time", unix.SYS_CLOCK_GETTIME, [6]uint64{0xffffffce, soon}, 0, true},
		{"times", unix.SYS_TIMES, [6]uint64{soon}, 1, false},
		{"a file opened to read it", unix.SYS_OPENAT, [6]uint64{3, soon, unix.O_CLOEXEC}, 1, false},
		{"a file opened to write it", unix.SYS_OPENAT, [6]uint64{3, soon, unix.O_WRONLY | unix.O_CREAT}, 0, true},
		{"a folder", unix.SYS_OPENAT, [6]uint64{3, soon, unix.O_DIRECTORY | unix.O_CLOEXEC}, 0, true},
		{"a profiler's timer", unix.SYS_SETITIMER, [6]uint64{2, periodic}, 0, true},
	} {
		// The filter reads no memory: it may stop for calls that turn out to ask for nothing.
		action := callFilter(true).run(t, uint32(c.number), thisMachine, c.args)
		if stops := action == unix.SECCOMP_RET_TRACE; c.want > 0 && !stops || stops && c.passes || !stops && action != unix.SECCOMP_RET_ALLOW {
			t.Errorf("%s: the filter answers %#x", c.name, action)
		}
		i := syscallInfo{number: c.number, args: c.args}
		if got := i.noted(read); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
