package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// mustNoteClocks skips where this system does not let breakpoints be written.
func mustNoteClocks(t *testing.T, c Command) Run {
	t.Helper()
	c.NoteClocks = true
	r := mustTrace(t, c)
	if r.Unclocked != nil && r.Unclocked != errManyLooks {
		t.Skipf("no looks at clocks here: %v", r.Unclocked)
	}
	return r
}

// Most programs look at clocks without a system call. Only looks amid work can change it.
func TestClockReads(t *testing.T) {
	for _, c := range []struct {
		name               string
		command            Command
		leastNs, mostNs    int64
		leastReads, mostly int
	}{
		{"looks before its work and after it", program("looks at the clock"), 0, 1e9, 2, 1 << 20},
		{"looks amid its work", program("looks at the clock", "and works on"), 9e6, 1e9, 2, 1 << 20},
		{"computes", shell("i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 0, 0, 0},
		{"looks in another process", shell("date; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 1e6, 1, 9},
	} {
		r := mustNoteClocks(t, c.command)
		if r.Unclocked != nil || r.ClockReads < c.leastReads || r.ClockReads > c.mostly || r.ClockWorkNs < c.leastNs || r.ClockWorkNs > min(c.mostNs, r.CPUNs()) || r.Failure() != nil {
			t.Errorf("%s: %d looks, %d ns of work between them: %+v", c.name, r.ClockReads, r.ClockWorkNs, r)
		}
	}
	if r := mustTrace(t, shell("exit 0")); r.Unclocked == nil {
		t.Errorf("nobody asked: %+v", r)
	}
}

// System calls read clocks, too, past the vDSO, and show what the program has waited. Late in the traced run, too,
// a program may have skipped the work after its last look: 36 ms were trusted for 39.
func TestClocksReadBySystemCalls(t *testing.T) {
	c := program("reads a clock by system calls", "clock_gettime", "and ends")
	c.NoteWaits = true
	if r := mustNoteClocks(t, c); r.Failure() != nil || r.UncorrectedWorkNs < 18e6 || r.UncorrectedWorkNs > r.CPUNs() {
		t.Errorf("%d ns of work before the last look: %+v", r.UncorrectedWorkNs, r)
	}
	for call, c := range map[string]Command{
		"clock_gettime": program("reads a clock by system calls", "clock_gettime"),
		"times":         program("reads a clock by system calls", "times"),
		"":              program("looks at the clock", "and works on"),
	} {
		c.NoteWaits = true
		r := mustNoteClocks(t, c)
		least, most := int64(9e6), r.CPUNs()/2
		if call != "" {
			least, most = 18e6, r.CPUNs()
		}
		if r.Failure() != nil || r.Unclocked != nil || r.ClockWorkNs < least || r.ClockWorkNs > most || call != "" && r.UncorrectedWorkNs != r.ClockWorkNs || call == "" && r.UncorrectedWorkNs != 0 {
			t.Errorf("%q: %d ns of work between looks, %d of it uncorrected: %+v", call, r.ClockWorkNs, r.UncorrectedWorkNs, r)
		}
	}
}

// A program that looked at clocks all the time was killed in its middle. It goes on to its end, and
// few of its looks stop it.
func TestLooksAllTheTime(t *testing.T) {
	r := mustNoteClocks(t, program("looks all the time"))
	if most := mostLooks(r); r.Failure() != nil || r.ClockReads > most {
		t.Errorf("%d looks, at most %d: %+v", r.ClockReads, most, r)
	}
}

// By CPU time, whatever time passes: the least of this process is not known, but that it is bounded.
func TestTooManyLooks(t *testing.T) {
	l := newLooks()
	for range manyLooks {
		if l.look(os.Getpid()); l.why != nil {
			t.Fatalf("%d looks are too many", l.count)
		}
	}
	l.of[os.Getpid()].stops = 1e9
	if l.look(os.Getpid()); l.why != errManyLooks {
		t.Error(l.why)
	}
}

// mostLooks are how many may be seen: each thread may be about to stop for one more look, by a
// function or by an instruction.
func mostLooks(r Run) int { return manyLooks + int(r.CPUNs()/perLookNs) + 2*len(r.Threads) }

// Threads that look at once are shown clocks that don't go back, also where what they waited for a
// CPU is taken off.
func TestThreadsLookAtOnce(t *testing.T) {
	for range 5 {
		r := mustNoteClocks(t, program("threads look"))
		if r.Failure() != nil || r.ClockReads == 0 || r.ClockReads > mostLooks(r) {
			t.Errorf("%d looks: %+v", r.ClockReads, r)
		}
	}
}

// A SIGSEGV that is no read of the counter is the program's.
func TestOwnFaults(t *testing.T) {
	if r := mustNoteClocks(t, program("faults")); r.Failure() != nil {
		t.Errorf("%+v", r)
	}
	if r := mustNoteClocks(t, shell("kill -SEGV $$; exit 0")); r.Signal != unix.SIGSEGV {
		t.Errorf("%+v", r)
	}
}

// A thread looks after a given amount of work, by hand.
func TestWorkByClocks(t *testing.T) {
	for _, c := range []struct {
		looks      []int64
		end, want  int64
		keptAtMost int
	}{
		{[]int64{5}, 1000, 0, 0}, {[]int64{0, 1000}, 1000, 0, 1}, {[]int64{0, 300}, 1000, 300, 1}, {[]int64{0, 900}, 1000, 100, 1},
		{[]int64{100, 600}, 1000, 400, 1}, {[]int64{0, 100, 101, 102, 400}, 1000, 400, 2}, {nil, 1000, 0, 0},
	} {
		l := &processLooks{}
		for i, at := range c.looks {
			if i == 0 {
				l.firstNs = at
			}
			l = l.looked(at)
		}
		if got := l.work(c.end); got != c.want || len(l.laterNs) > c.keptAtMost {
			t.Errorf("%+v: %d, by %d", c, got, l.laterNs)
		}
	}
	var l *processLooks
	for at := range int64(1_000_000) {
		l = l.looked(at)
	}
	if got := l.work(1_000_000); got < 450_000 || got > 500_000 || len(l.laterNs) > 200 {
		t.Errorf("%d, by %d of a million looks", got, len(l.laterNs))
	}
}

// A program that works until some time does all that it would do alone: what it waits for a CPU, here
// three quarters of the time or more, does not show. It did a quarter of it. What the host takes does show.
func TestWaitsAreHidden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	beside(t, 3)
	const worksNs = 40e6
	c := program("works until some time")
	c.CPUs = []int{0}
	r := mustNoteClocks(t, c)
	if r.Failure() != nil || r.Unclocked != nil || r.WaitNs() < worksNs/2 || r.CPUNs() < worksNs/2 {
		t.Errorf("%d ns of CPU time, %d ns waited, %d looks: %+v", r.CPUNs(), r.WaitNs(), r.ClockReads, r)
	}
}

// A program that does less once it was preempted does all that it would do alone: it sees no preemption.
func TestPreemptionsAreHidden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	beside(t, 3)
	c := program("counts its preemptions")
	c.CPUs, c.NoteWaits = []int{0}, true
	r := mustNoteClocks(t, c)
	if r.Failure() != nil || r.Unnoted != nil || r.ClockReads < 30 || r.ClockWorkNs < 10e6 || r.UncorrectedWorkNs > 0 || r.InvoluntarySwitches < 5 || r.CPUNs() < 50e6 {
		t.Errorf("%d ns of CPU time, %d preemptions, %d ns of work between looks: %+v", r.CPUNs(), r.InvoluntarySwitches, r.ClockWorkNs, r)
	}
}

// Python sleeps until a time of its clock. That is the time of the clock that it is shown: the other
// one is ahead by what it waited, so that it did not sleep.
func TestSleepsByTheClockShown(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	beside(t, 4)
	c := Command{Path: "python3", Args: []string{"-S", "-E", "-c", `import time, sys
begun = time.monotonic()
sum(range(1000000))
time.sleep(0.05)
sys.exit(time.monotonic() - begun < 0.05)`}, CPUs: []int{0}, NoteWaits: true}
	if _, err := c.Run(background); err != nil {
		t.Skip(err)
	}
	const tries, sleepsNs = 5, 50e6
	late := 0
	for range tries { // beside much else it may wait for its CPU until the time has passed
		r := mustNoteClocks(t, c)
		if r.Failure() == nil && r.TimedSwitches > 0 {
			return
		}
		if r.StoppedNs > sleepsNs/2 {
			late++
		}
		t.Logf("%v, %d timed waits, %d switches in them, %d ns waited: %+v", r.Failure(), r.TimedWaits, r.TimedSwitches, r.WaitNs(), r)
	}
	if late == tries {
		t.Skip("in all runs it stood still for its tracer, which had to wait for a CPU, until the time had passed")
	}
	t.Error("in none of five runs did it sleep")
}

// Where the time stands until which a call waits.
func TestAbsoluteTime(t *testing.T) {
	for _, c := range []struct {
		number uint64
		args   [6]uint64
		want   uintptr
	}{
		{unix.SYS_CLOCK_NANOSLEEP, [6]uint64{unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, 4096}, 4096},
		{unix.SYS_CLOCK_NANOSLEEP, [6]uint64{unix.CLOCK_MONOTONIC, 0, 4096}, 0},
		{unix.SYS_CLOCK_NANOSLEEP, [6]uint64{unix.CLOCK_PROCESS_CPUTIME_ID, unix.TIMER_ABSTIME, 4096}, 0},
		{unix.SYS_NANOSLEEP, [6]uint64{4096, 0}, 0},
		{unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 1, 4096}, 4112}, {unix.SYS_TIMERFD_SETTIME, [6]uint64{3, 0, 4096}, 0},
		{unix.SYS_FUTEX, [6]uint64{64, 9 | futexPrivate, 0, 4096}, 4096}, // FUTEX_WAIT_BITSET
		{unix.SYS_FUTEX, [6]uint64{64, 0 | futexPrivate, 0, 4096}, 0},    // FUTEX_WAIT
		{unix.SYS_FUTEX, [6]uint64{64, 1 | futexPrivate, 0, 4096}, 0},    // FUTEX_WAKE
	} {
		info := syscallInfo{number: c.number, args: c.args}
		if got := info.absoluteTime(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// beside computes in the given number of processes on CPU 0 until the test ends.
func beside(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		ctx, end := context.WithCancel(background)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c := shell("while :; do :; done")
			c.CPUs, c.Untraced = []int{0}, true
			c.Run(ctx)
		}()
		t.Cleanup(func() { end(); <-ended })
	}
	time.Sleep(50 * time.Millisecond)
}

// The tracer lengthens waits by what the program's clocks are behind. Threads that wait until the same time have it in
// memory once, where the tracer once added that for each thread, and left it so.
func TestThreadsThatWaitTogether(t *testing.T) {
	for range 10 {
		c := program("waits together")
		c.NoteWaits = true
		if r := mustNoteClocks(t, c); r.Failure() != nil {
			t.Fatalf("%v: the time was changed", r.Failure())
		}
	}
}

// All functions show the same time.
func TestClockCode(t *testing.T) {
	for range 5 {
		if r := mustNoteClocks(t, program("reads all clocks")); r.Failure() != nil || r.ClockReads == 0 {
			t.Errorf("%+v", r)
		}
	}
}

// The time goes on, and is behind by what was waited.
func TestOffTheClock(t *testing.T) {
	for _, c := range []struct {
		name             string
		was              clockLimit
		now, waited, off int64
	}{
		{"the first stop", clockLimit{}, 1e9, 3e8, 3e8},
		{"no more was waited", clockLimit{10e6, 3e6}, 11e6, 3e6, 3e6},
		{"most that passed was waited", clockLimit{10e6, 3e6}, 11e6, 3.9e6, 3.9e6},
		{"more was waited, by several threads", clockLimit{10e6, 3e6}, 11e6, 9e6, 4e6},
		{"less was waited than was taken off", clockLimit{10e6, 3e6}, 11e6, 2e6, 3e6},
		{"another thread stopped meanwhile", clockLimit{10e6, 3e6}, 9e6, 9e6, 3e6},
	} {
		if got := c.was.off(c.now, c.waited); got != c.off {
			t.Errorf("%s: %d, not %d", c.name, got, c.off)
		}
	}
}

// The clock that leaves the least room decides. With clocks held against CLOCK_MONOTONIC within 5 µs, six of 1,200 programs saw
// one go back on a machine whose readings took longer.
func TestMostOff(t *testing.T) {
	var limits [clocks]clockLimit
	now := readClocks()
	limits[unix.CLOCK_REALTIME] = clockLimit{now[unix.CLOCK_REALTIME] - 7e6, 2e6}
	if got := mostOffNs(limits, now); got != 9e6 {
		t.Errorf("%d ns may be taken off, want 9e6", got)
	}
	limits[unix.CLOCK_MONOTONIC] = clockLimit{now[unix.CLOCK_MONOTONIC] + 1e9, 2e6}
	if got := mostOffNs(limits, now); got > 0 {
		t.Errorf("%d ns may be taken off before the limit", got)
	}
}

// This kernel's functions are found. There has to be room for those that replace them.
func TestFunctionsOfVDSO(t *testing.T) {
	vdso, err := machine.ReadVDSO()
	if err != nil {
		t.Skip(err)
	}
	if found, err := functionsOf(vdso); err != nil || len(found) != len(clockCode) {
		t.Errorf("%+v: %v", found, err)
	}
	name, image := vdsoPrefix+clockGettime, make([]byte, 1000)
	for want, vdso := range map[error]machine.VDSO{
		errNoVDSO:    {Image: image, Functions: map[string]uint64{"__vdso_getcpu": 8}},
		errSmallVDSO: {Image: image, Functions: map[string]uint64{name: 100, "__vdso_getcpu": 300}},
		nil:          {Image: image, Functions: map[string]uint64{name: 100, "clock_gettime": 100, "__vdso_getcpu": 500}},
	} {
		if _, err := functionsOf(vdso); err != want {
			t.Errorf("%v, not %v", err, want)
		}
	}
}

// compiled returns a command that runs a C program, since programs in Go read no clock of CPU time by the vDSO.
func compiled(t *testing.T, text string) Command {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	compile := exec.Command("cc", "-O1", "-o", program, "-x", "c", "-")
	compile.Stdin = strings.NewReader(text)
	if told, err := compile.CombinedOutput(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("there is no C compiler: apt-get install gcc")
		}
		t.Fatalf("%v\n%s", err, told)
	}
	return Command{Path: program, NoteWaits: true}
}

// A program whose first reading of a clock was that of its CPU time (clock(3)) was shown the tracer's.
func TestFirstReadingOfCPUTime(t *testing.T) {
	c := compiled(t, `#include <time.h>
int main() {
	clock_t begun = clock();
	for (volatile int i = 0; i < 1000000; i++);
	return begun > CLOCKS_PER_SEC / 2 || clock() < begun;
}`)
	for processCPUNs(os.Getpid()) < 1e9 { // so that the tracer has used more than half a second
	}
	if r := mustNoteClocks(t, c); r.Failure() != nil || r.ClockReads != 0 {
		t.Errorf("%v after %d readings of clocks: %+v", r.Failure(), r.ClockReads, r)
	}
}

// A program that works until it has used some CPU time depends on its readings of that, which hide waits, but not
// interrupts. One that reads it before its work and after it does not, and each sees its own time.
func TestReadingsOfCPUTime(t *testing.T) {
	for name, until := range map[string]string{"works until 50 ms": "used < 50e6", "reads it at its ends": "0"} {
		c := compiled(t, `#include <time.h>
static double cpu() {
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}
int main() {
	double used = cpu(), before;
	do {
		for (volatile int j = 0; j < 20000000 / (`+until+` ? 1000 : 1); j++);
		before = used;
		used = cpu();
		if (used < before) return 1;
	} while (`+until+`);
	return used > 20e9;
}`)
		r := mustNoteClocks(t, c)
		least, most := r.CPUNs()/4, r.CPUNs()/2
		if until == "0" {
			least, most = 0, r.CPUNs()/10
		}
		if r.Failure() != nil || r.Unclocked != nil || r.ClockReads != 0 || r.ClockWorkNs != 0 || r.CPUTimeWorkNs < least || r.CPUTimeWorkNs > most || r.Stops > 100 {
			t.Errorf("%s: %d ns of work between readings, want %d to %d, and %d stops: %+v", name, r.CPUTimeWorkNs, least, most, r.Stops, r)
		}
	}
}

// Work that depends on the CPU time is seen however much CPU time was used before the first reading.
func TestReadingsOfCPUTimeAfterSetup(t *testing.T) {
	c := compiled(t, `#include <time.h>
static double cpu() {
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}
int main() {
	for (volatile int j = 0; j < 600000000; j++);
	for (double begun = cpu(); cpu() - begun < 20e6;)
		for (volatile int j = 0; j < 20000; j++);
}`)
	if r := mustNoteClocks(t, c); r.Failure() != nil || r.CPUTimeWorkNs < 5e6 || r.CPUTimeWorkNs > r.CPUNs()/4 {
		t.Errorf("%d ns of work between readings in %d ns of CPU time: %+v", r.CPUTimeWorkNs, r.CPUNs(), r)
	}
}

// All readings are known of a process that reads clocks all the time, as the runtimes of Java and Python do, if it goes on
// at once after each stop. After some 0.2 s of CPU time they were too many. Readings of the counter all stop it.
func TestLooksForLong(t *testing.T) {
	var often, always processLooks
	for cpuNs := int64(0); cpuNs < 60e9; cpuNs += lookAfterNs {
		if often.stops++; often.tooMany(cpuNs) {
			t.Fatalf("%d stops in %d ns are too many", often.stops, cpuNs)
		}
	}
	for cpuNs := int64(0); !always.tooMany(cpuNs); cpuNs += 5e3 {
		if always.stops++; cpuNs > 1e9 {
			t.Fatalf("%d stops in %d ns are not too many", always.stops, cpuNs)
		}
	}
}

// sysinfo(2), which glibc's qsort(3) calls, does not show that the program is late, nor that the machine is busy.
func TestUptimeIsThatOfTheClocks(t *testing.T) {
	c := compiled(t, `#include <stdlib.h>
#include <sys/sysinfo.h>
#include <time.h>
int main() {
	struct timespec before, after;
	struct sysinfo now;
	clock_gettime(CLOCK_BOOTTIME, &before);
	for (volatile int i = 0; i < 30000000; i++);
	if (sysinfo(&now) != 0 || now.totalram == 0) return 1;
	clock_gettime(CLOCK_BOOTTIME, &after);
	if (now.loads[0] != 0 || now.loads[1] != 0 || now.loads[2] != 0) return 2;
	return now.uptime < before.tv_sec || now.uptime > after.tv_sec + 1 ? 3 : 0;
}`)
	r := mustNoteClocks(t, c)
	if r.Failure() != nil || r.ClockReads < 3 || r.ClockWorkNs == 0 || r.UncorrectedWorkNs != 0 {
		t.Errorf("%v, %d readings of clocks, %d ns of work, %d of it uncorrected: %+v", r.Failure(), r.ClockReads, r.ClockWorkNs, r.UncorrectedWorkNs, r)
	}
}
