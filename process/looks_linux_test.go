package process

import (
	"os"
	"slices"
	"testing"

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
		{"looks before its work and after it", program("looks at the clock"), 0, 1e9, looksBefore + 1, 1 << 20},
		{"looks amid its work", program("looks at the clock", "and works on"), 9e6, 30e6, looksBefore + 1, 1 << 20},
		{"computes", shell("i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 0, 0, 0},
		{"looks in another process", shell("date; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 1e6, 1, 9},
	} {
		r := mustNoteClocks(t, c.command)
		if r.Unclocked != nil || r.ClockReads < c.leastReads || r.ClockReads > c.mostly || r.ClockWorkNs < c.leastNs || r.ClockWorkNs > c.mostNs || r.Failure() != nil {
			t.Errorf("%s: %d looks, %d ns of work between them: %+v", c.name, r.ClockReads, r.ClockWorkNs, r)
		}
	}
	if r := mustTrace(t, shell("exit 0")); r.Unclocked == nil {
		t.Errorf("nobody asked: %+v", r)
	}
}

// A program that looked at clocks all the time was killed in its middle. It goes on to its end, and
// its first looks alone stop it.
func TestLooksAllTheTime(t *testing.T) {
	r := mustNoteClocks(t, program("looks all the time"))
	if most := mostLooks(r); r.Failure() != nil || r.ClockReads > most {
		t.Errorf("%d looks, at most %d: %+v", r.ClockReads, most, r)
	}
}

// By CPU time, whatever time passes: the least of this process is not known, but that it is bounded.
func TestTooManyLooks(t *testing.T) {
	l := newLooks(os.Getpid())
	for range manyLooks {
		if l.look(os.Getpid()); l.why != nil {
			t.Fatalf("%d looks are too many", l.count)
		}
	}
	l.count = 1e9
	if l.look(os.Getpid()); l.why != errManyLooks {
		t.Error(l.why)
	}
}

// mostLooks are how many may be seen: the threads of each process may meet what stands in one still.
func mostLooks(r Run) int {
	return manyLooks + int(r.CPUNs()/perLookNs) + len(clockFunctions)*len(r.Threads)
}

// One thread meets the breakpoint that another has just passed, and is to pass it, too: some went
// on amid an instruction.
func TestThreadsLookAtOnce(t *testing.T) {
	for range 5 {
		r := mustNoteClocks(t, program("threads look"))
		if r.Failure() != nil || r.ClockReads == 0 || r.ClockReads > mostLooks(r) {
			t.Errorf("%d looks: %+v", r.ClockReads, r)
		}
	}
}

// A thread looks after so much work, by hand.
func TestWorkByClocks(t *testing.T) {
	for _, c := range []struct {
		looks      []int64
		end, want  int64
		keptAtMost int
	}{
		{[]int64{5}, 1000, 0, 0}, {[]int64{0, 1000}, 1000, 0, 1}, {[]int64{0, 300}, 1000, 300, 1}, {[]int64{0, 900}, 1000, 100, 1},
		{[]int64{100, 600}, 1000, 400, 1}, {[]int64{0, 100, 101, 102, 400}, 1000, 400, 2}, {nil, 1000, 0, 0},
	} {
		var l threadLooks
		for i, at := range c.looks {
			if i == 0 {
				l.firstNs = at
			}
			l.later(at)
		}
		if got := l.workNs(c.end); got != c.want || len(l.laterNs) > c.keptAtMost {
			t.Errorf("%+v: %d, by %d", c, got, l.laterNs)
		}
	}
	var l threadLooks
	for at := range int64(1_000_000) {
		l.later(at)
	}
	if got := l.workNs(1_000_000); got < 450_000 || got > 500_000 || len(l.laterNs) > 200 {
		t.Errorf("%d, by %d of a million looks", got, len(l.laterNs))
	}
}

// This kernel's functions are found; what is none is an error.
func TestFunctionsOfVDSO(t *testing.T) {
	vdso, err := machine.ReadVDSO()
	if err != nil {
		t.Skip(err)
	}
	all, err := vdsoClocks(vdso)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > len(clockFunctions) || !slices.ContainsFunc(all, func(f function) bool { return f.named && f.offset > 0 }) {
		t.Errorf("%+v", all)
	}
	short := machine.VDSO{Image: vdso.Image[:8], Functions: map[string]uint64{"__vdso_time": 8, "something": 0}}
	if all, err := vdsoClocks(short); err == nil {
		t.Errorf("functions beyond the image: %+v", all)
	}
}
