package activity

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// opened lists the files that are opened below a root.
type opened struct {
	fs.FS
	names []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.FS.Open(name)
}

// The kernel's interrupts are counted right before and right after the trace. An earlier version
// also counted those during the time that it took to touch memory.
func TestInterruptsAreThoseOfTheTrace(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	root := &opened{FS: os.DirFS("/")}
	if _, err := Record(t.Context(), finest(t), 0.5, Options{Duration: time.Microsecond, CPU: cpus[0], Root: root}); err != nil {
		t.Fatal(err)
	}
	want := []string{"proc/stat", "proc/interrupts", "proc/interrupts", "proc/stat"}
	if got := root.names[max(0, len(root.names)-len(want)):]; !slices.Equal(got, want) {
		t.Errorf("files in order: %v, want %v around the trace", got, want)
	}
}

// The thread loses its CPU at the end of the trace, and again during the look at the kernel's
// counters that follows. The trace continues until a look has succeeded.
func TestLastGapIsLookedInto(t *testing.T) {
	var now int64
	jumps := map[int64]int64{} // number of a reading to the size of the jump there
	reading := int64(0)
	c := clock.New(clock.Clock{Kind: clock.KindWall}, func() int64 {
		reading++
		now += 10 + jumps[reading]
		return now
	})
	r, err := newRecorder(c, 1, Options{Duration: time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if r.thread == nil {
		t.Skip("this kernel tells nothing of threads")
	}
	jumps[reading+1000], jumps[reading+1001] = 2e6, 3e6
	r.run(t.Context())
	joins := r.trace.Joins
	if len(r.trace.Gaps) != 2 || len(joins) != 1 || joins[0].From != 0 || joins[0].Gap != 1 || r.trace.Ns(r.trace.Length) < 5e6 {
		t.Errorf("gaps %v, joins %+v", r.trace.Gaps, joins)
	}
}

// A gap longer than half a period is no interrupt, even if it begins at a tooth of the tick: here
// the host took the CPU for two and a half periods.
func TestTheftAtATickIsNoTick(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: -1, Length: 400e6, Kernel: Kernel{Known: true, TickHz: 250, Virtual: true, TimerInterrupts: 100}}
	for k := int64(0); k < 100; k++ {
		switch {
		case k == 50:
			trace.Gaps = append(trace.Gaps, Gap{Start: 4e6*k + 1e6, Ticks: 10e6})
			trace.Joins = append(trace.Joins, Join{From: 50, Gap: 50, Ticks: 11e6, Use: machine.ThreadUse{CPUNs: 1e6, CPU: -1}})
		case k < 50 || k > 52:
			trace.Gaps = append(trace.Gaps, Gap{Start: 4e6*k + 1e6, Ticks: 3000})
		}
	}
	a := Analyse(trace)
	if got := trace.Gaps[50].Cause; a.Tick == nil || got != Hypervisor || a.Causes[TimerTick].MaxNs != 3000 {
		t.Errorf("%v; causes %v", got, a.Causes)
	}
}

// The kernel counted two interrupts of its own for four gaps, and nothing says which gaps they
// were.
func TestCountOfInterruptsDoesNotSayWhich(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: -1, Length: 100e6, Kernel: Kernel{Known: true, OtherInterrupts: 2, Virtual: true}}
	for i, ticks := range []int64{5000, 5000, 5000, 90000} {
		trace.Gaps = append(trace.Gaps, Gap{Start: int64(i+1)*12345678 + int64(i*i), Ticks: ticks})
	}
	a := Analyse(trace)
	var got []Cause
	for _, g := range trace.Gaps {
		got = append(got, g.Cause)
	}
	if want := []Cause{Unexplained, Unexplained, Unexplained, Unexplained}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if own := a.Own; own.Counted != 2 || own.LeastNs > 10000 || own.MostNs != 95000 || own.Open != 4 {
		t.Errorf("%+v", own)
	}
}

// A trace in which nearly all gaps are teeth of a tick, as in ten minutes of 1000 Hz, once took 300
// MB to analyse.
func TestAnalysisOfManyTeeth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	trace := &Trace{TickNs: 1, CPU: -1, Length: 6e5 * 1e6, Kernel: Kernel{TickHz: 1000}}
	for k := range int64(6e5) {
		trace.Gaps = append(trace.Gaps, Gap{Start: 1e6*k + 3e5 + k*k%61, Ticks: 3000 + k%97})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := Analyse(trace)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; a.Tick == nil || len(a.Tick.Gaps) != 6e5 || bytes > 150e6 {
		t.Errorf("%.1f MB for %d combs", float64(bytes)/1e6, len(a.Combs))
	}
}

// A negative or infinite length of a tick is refused; 0 asks for it to be measured.
func TestTicksWithoutLength(t *testing.T) {
	for _, tickNs := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Record(t.Context(), finest(t), tickNs, Options{CPU: -1, Duration: time.Millisecond, Root: os.DirFS("/")}); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ticks of %v ns: %v", tickNs, err)
		}
	}
}

// A thread that the Go runtime parked for ten ticks did not use that time, but its own short looks
// at the kernel's counters count as used.
func TestParkedTimeIsNotUsed(t *testing.T) {
	trace := &Trace{TickNs: 1, Length: 100e6, Gaps: []Gap{{10e6, 5e3, true, Runtime}, {20e6, 40e6, true, Runtime}}}
	ticks, _, used := trace.charge(&Comb{Period: stats.Estimate{Value: 4e6}, PhaseNs: 1e6, Source: TimerTick})
	if used != 60e6 || ticks != 25-10 {
		t.Errorf("used %v ns, charged %d ticks; want 60e6 and all but 10 of 25", used, ticks)
	}
}

// The recording ends even if every look takes long.
func TestSlowLooksEnd(t *testing.T) {
	var now int64
	jump := int64(0)
	c := clock.New(clock.Clock{Kind: clock.KindWall}, func() int64 {
		now += 30e3 + jump
		jump = 0
		return now
	})
	r, err := newRecorder(c, 1, Options{Duration: time.Millisecond, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	jump = 5e6
	r.last = c.Read()
	r.pending = 0
	r.run(t.Context())
	if r.trace.Ns(r.trace.Length) > 3e6 {
		t.Errorf("a trace of a millisecond took %v ns", r.trace.Length)
	}
}

// Options without a root once caused a panic.
func TestNoRootIsTheUsualOne(t *testing.T) {
	if trace, err := Record(t.Context(), finest(t), 0.5, Options{Duration: time.Microsecond, CPU: -1}); err != nil || trace == nil {
		t.Errorf("%v, %v", trace, err)
	}
}

// In gVisor neither the rate of a tick nor a count of interrupts is known, and regular gaps were the host's timer: they
// are no tick of this kernel, unless it is known to run on the hardware itself.
func TestTickOfWhom(t *testing.T) {
	for _, virtual := range []bool{false, true} {
		trace := &Trace{TickNs: 1, CPU: -1, Length: 1e9, Kernel: Kernel{Virtual: virtual}}
		for k := int64(0); k < 999; k++ {
			trace.Gaps = append(trace.Gaps, Gap{Start: 1e6*k + 3e5, Ticks: 37_000 + k%97})
		}
		if a := Analyse(trace); (a.Tick == nil) != virtual || (a.Causes[TimerTick].Count == 0) != virtual {
			t.Errorf("virtual %v: a tick is %v, causes %v", virtual, a.Tick != nil, a.Causes)
		}
	}
}
