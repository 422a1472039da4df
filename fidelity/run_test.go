package fidelity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// TestMain runs the tests, or, in a child process, serves as the child of the workload stop or as a
// useless child.
func TestMain(m *testing.M) {
	switch os.Getenv("FIDELITY_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "serves":
		if err := ServeChild(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	case "babbles":
		os.Stdout.WriteString("welcome\n")
	case "fails":
		os.Stderr.WriteString("out of luck")
	case "sulks":
		select {}
	}
}

// testChild returns a function that starts this test program as a child with the given role.
func testChild(role string) func() *exec.Cmd {
	return func() *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "FIDELITY_TEST_CHILD="+role)
		return command
	}
}

// realPair returns the finest counter and reference that can be read here.
func realPair(t *testing.T) (counter, reference clock.Rated) {
	t.Helper()
	first := func(names ...string) clock.Rated {
		for _, name := range names {
			if c, err := clock.Open(name); err == nil {
				t.Cleanup(func() { c.Close() })
				return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs}, AccuracyNs: c.UnitNs}
			}
		}
		t.Skipf("none of %q can be read", names)
		return clock.Rated{}
	}
	reference = first("monotonic-raw", "monotonic")
	counter = first("tsc", "cntvct", "go-time-now")
	if counter.UnitNs == 0 {
		rate, err := clock.Calibrate(t.Context(), counter.Clock, reference.Clock, 50*time.Millisecond)
		if err != nil {
			t.Skip(err)
		}
		counter.TickNs = stats.Estimate{Value: 1e9 / rate.Hz.Value, Lo: 1e9 / rate.Hz.Hi, Hi: 1e9 / rate.Hz.Lo}
		counter.AccuracyNs = counter.TickNs.Value
	}
	return counter, reference
}

// tinyPlan is for tests of properties that hold for any number of samples.
var tinyPlan = Plan{SleepNs: []float64{2e6, 5e6}, SleepRepeats: 2, OtherNs: []float64{2e6, 5e6}, OtherRepeats: 2}

// Each workload that this system offers takes its samples, and leaves the thread, its CPUs and the
// program's goroutines as they were.
func TestRealWorkloads(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	counter, reference := realPair(t)
	cpus, noAffinity := machine.Affinity()
	goroutines := runtime.NumGoroutine()
	workloads := Workloads(testChild("serves"))
	last := 0.0
	o, err := Run(t.Context(), Request{
		Counter: counter, Reference: reference, Workloads: workloads, Plan: tinyPlan,
		Progress: func(share float64, workload string) {
			if share < last || share >= 1 || workload == "" {
				t.Errorf("progress of %v in %q after %v", share, workload, last)
			}
			last = share
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("caveats: %q", o.Caveats)
	if got := len(o.Results) + len(o.Unavailable); got != len(workloads) || len(o.Refused) > 0 {
		t.Errorf("%d results, unavailable %v, refused %v, of %d workloads", len(o.Results), o.Unavailable, o.Refused, len(workloads))
	}
	for _, u := range o.Unavailable {
		t.Log(u)
		if u.Workload == "" || u.Reason == "" || u.Detail == "" {
			t.Errorf("%+v says too little", u)
		}
	}
	for _, r := range o.Results {
		t.Logf("%s: %.9g Hz, off by %v ppm, calibrated %v, %d migrations, %s %q", r.Workload, r.Rate.Value, r.MaxErrorPPM, r.CalibratedPPM, r.Migrations, r.Verdict, r.Reasons)
		checkReal(t, r)
	}
	if after, err := machine.Affinity(); noAffinity == nil && (err != nil || !slices.Equal(after, cpus)) {
		t.Errorf("the thread may run on %v, before on %v (%v)", after, cpus, err)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
		}
	}
}

func checkReal(t *testing.T, r Result) {
	t.Helper()
	// The clock of the sleep may be slewed, by 500 parts per million at most.
	const slack = 0.999
	waits := r.Workload == Sleep || r.Workload == Stop
	for _, s := range r.Samples {
		if s.ReferenceNs <= 0 || s.ErrorNs < s.PairingNs || s.PairingNs <= 0 || waits && s.ReferenceNs < slack*s.RequestedNs {
			t.Errorf("%s: %+v", r.Workload, s)
		}
		if r.Workload == Migration && s.Counted && !s.Migrated() {
			t.Errorf("it moved, and nobody noticed: %+v", s)
		}
		// On a busy machine the requested time may be over before the thread goes to sleep.
		if waits && s.Counted && s.IdleNs+float64(s.Use.WaitNs) < s.RequestedNs/2 {
			t.Errorf("%s: it was idle for %v of %v ns, and waited for %v", r.Workload, s.IdleNs, s.RequestedNs, s.Use.WaitNs)
		}
	}
	if len(r.Samples) > 0 && !(r.Rate.Lo <= r.Rate.Value && r.Rate.Value <= r.Rate.Hi) {
		t.Errorf("%s: rate %+v", r.Workload, r.Rate)
	}
	if r.Meaning == "" || (r.Verdict == stats.Trusted) != (len(r.Reasons) == 0) {
		t.Errorf("%s: %s, %q, %q", r.Workload, r.Verdict, r.Reasons, r.Meaning)
	}
}

// If its context ends, Run returns the samples so far.
func TestRunEndsWithItsContext(t *testing.T) {
	w := newWorld(1)
	ctx, cancel := context.WithCancel(t.Context())
	taken := 0
	o, err := Run(ctx, Request{
		Counter: w.fine().rated("counter", 1), Reference: w.reference(), Workloads: w.workloads(), Plan: simPlan, Look: w.look,
		Progress: func(float64, string) {
			if taken++; taken == 40 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || len(o.Results) != 1 || len(o.Results[0].Samples) != 40 || len(o.Caveats) > 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	if r := o.Results[0]; r.Verdict != stats.Trusted || !(r.Rate.Value > 0) {
		t.Errorf("what was taken is not judged: %s, %v", r.Verdict, r.Rate.Value)
	}
}

// A workload ends where the reference can't be read. The counter is not blamed, also if the reference
// is read again later.
func TestReferenceFails(t *testing.T) {
	w := newWorld(1)
	good := w.reference()
	reads := 0
	reference := good
	reference.Clock = clock.New(*good.Clock, func() int64 {
		reads++
		if reads > 500 && reads < 600 || reads > 3000 {
			return unread
		}
		return good.Read()
	})
	o, err := Run(t.Context(), Request{
		Counter: w.fine().rated("counter", 1), Reference: reference, Workloads: w.workloads(), Plan: simPlan, Look: w.look,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range o.Results {
		if len(r.Faults) > 0 || r.MaxErrorNs.Or(0) > 1000 {
			t.Errorf("%s: %q, off by %v ns", r.Workload, r.Reasons, r.MaxErrorNs)
		}
		want := fmt.Sprintf("%s ended after %d of %d samples: the reference could not be read", r.Workload, len(r.Samples), len(simPlan.requests(r.Workload)))
		if i >= len(o.Caveats) || o.Caveats[i] != want {
			t.Errorf("caveats %q, want %q", o.Caveats, want)
		}
	}
}

// A workload that fails leaves its samples and a reason, a workload that can't be prepared leaves a
// reason, and the other workloads are run.
func TestWorkloadsThatFail(t *testing.T) {
	w := newWorld(1)
	taken, closed := 0, false
	fails := Workload{Name: Memory, Prepare: func(_ context.Context, s *Sampler) (Task, error) {
		run := func(ns float64) error {
			w.Run(ns)
			if taken++; taken > 5 {
				return errors.New("no memory left")
			}
			return nil
		}
		return attempt(s, run, func() error { closed = true; return errors.New("nothing to free") }), nil
	}}
	missing := Workload{Name: Stop, Prepare: prepareStop(nil)}
	odd := Workload{Name: GC, Prepare: func(context.Context, *Sampler) (Task, error) { return Task{}, errors.New("an odd one") }}
	o := w.experiment(w.fine().rated("counter", 1), fails, missing, odd, w.workloads()[1])
	if len(o.Results) != 2 || len(o.Results[0].Samples) != 5 || len(o.Results[1].Samples) != 80 || !closed {
		t.Errorf("%d results, closed: %v", len(o.Results), closed)
	}
	if len(o.Unavailable) != 1 || o.Unavailable[0].Workload != Stop || o.Unavailable[0].Remedy == "" {
		t.Errorf("unavailable: %v", o.Unavailable)
	}
	for i, want := range []string{"memory ended after 5 of 80 samples: no memory left", "memory did not clean up: nothing to free", "gc was not run: an odd one"} {
		if i >= len(o.Caveats) || o.Caveats[i] != want {
			t.Fatalf("caveats %q, want %q", o.Caveats, want)
		}
	}
}

// If there are too few samples, the result says so.
func TestTooFewSamples(t *testing.T) {
	w := newWorld(1)
	o, err := Run(t.Context(), Request{
		Counter: w.fine().rated("counter", 1), Reference: w.reference(), Workloads: w.workloads()[:1],
		Plan: Plan{SleepNs: []float64{1e6}, SleepRepeats: 2}, Look: w.look,
	})
	if err != nil || o.Results[0].Verdict != stats.Suspect || !strings.Contains(o.Results[0].Reasons[0], "2 of 2 samples") {
		t.Errorf("%v, %+v", err, o.Results)
	}
}

// Useless children lead to a reason, and no child remains.
func TestUselessChildren(t *testing.T) {
	if err := canStop(); err != nil {
		t.Skip(err)
	}
	counter, reference := realPair(t)
	for role, want := range map[string]string{
		"babbles": `it answers "welcome\n"`,
		"fails":   "out of luck",
	} {
		_, err := prepareStop(testChild(role))(t.Context(), &Sampler{Counter: counter, Reference: reference})
		var u *Unavailable
		if !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", role, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := prepareStop(testChild("sulks"))(ctx, &Sampler{Counter: counter, Reference: reference}); err == nil {
		t.Error("a child that never answers is waited for")
	}
	none := func() *exec.Cmd { return exec.Command("/no/such/program") }
	if _, err := prepareStop(none)(t.Context(), &Sampler{Counter: counter, Reference: reference}); err == nil {
		t.Error("a program that isn't there can be started?")
	}
	w := newWorld(1)
	_, err := prepareStop(testChild("serves"))(t.Context(), &Sampler{Counter: w.fine().rated("counter", 1), Reference: reference})
	if err == nil || !strings.Contains(err.Error(), "a child can't read the clock counter") {
		t.Errorf("a simulated clock: %v", err)
	}
}

// A sample arrives complete from a child, and a child survives any message from its parent.
func TestChildMessages(t *testing.T) {
	s := Sample{
		RequestedNs: 1, ReferenceNs: 2, CounterTicks: 3, PairingNs: 5, ErrorNs: 6, StartCPU: 7, EndCPU: -1,
		IdleNs: 8, Use: machine.ThreadUse{CPUNs: 9, WaitNs: 10}, Counted: true,
	}
	if got := Sample(sentSample(s)); got != s {
		t.Errorf("%+v, want %+v", got, s)
	}
	for _, in := range []string{"", "\n", "{\n", "[]\n", "{\"Counter\":{\"Name\":\"nothing\"}}\n", "\x00\n"} {
		var out bytes.Buffer
		if err := ServeChild(strings.NewReader(in), &out); err == nil && in != "" && out.Len() == 0 {
			t.Errorf("%q: neither an error nor an answer", in)
		}
	}
}

// The readings allocate no memory, which would have to be collected at some time.
func TestMarkAllocatesNothing(t *testing.T) {
	counter, reference := realPair(t)
	s := Sampler{Counter: counter, Reference: reference}
	if thread, err := machine.OpenThread(); err == nil {
		defer thread.Close()
		s.Look = thread.Look
	}
	if n := testing.AllocsPerRun(100, func() { s.Take(1, func(float64) {}) }); n > 0 {
		t.Errorf("a sandwich allocates %v times", n)
	}
}

// The pairing error of a sample bounds the difference of the two durations, whatever happens between
// the readings. The expected values of one case were computed by hand.
func TestPairingError(t *testing.T) {
	readings := map[string][]int64{"reference": {100, 160, 1000, 1040}, "counter": {7, 9}}
	next := func(name string) func() int64 {
		i := -1
		return func() int64 { i++; return readings[name][min(i, len(readings[name])-1)] }
	}
	rated := func(name string, tickNs, accuracyNs float64) clock.Rated {
		return clock.Rated{Clock: clock.New(clock.Clock{Name: name}, next(name)), TickNs: stats.Estimate{Value: tickNs}, AccuracyNs: accuracyNs}
	}
	s := Sampler{Counter: rated("counter", 400, 400), Reference: rated("reference", 1, 1)}
	start := mark{Sandwich: clock.Sandwich{Before: 100, Counter: 7, After: 160}}
	end := mark{Sandwich: clock.Sandwich{Before: 1000, Counter: 9, After: 1040}}
	got := s.between(0, start, end)
	// The middles are 130 and 1020; the widths are 61 and 41, halved; the counter's step is 400.
	if got.ReferenceNs != 890 || got.CounterTicks != 2 || got.CounterNs.Value() != 800 || got.PairingNs != 51 || got.ErrorNs != 451 {
		t.Errorf("%+v", got)
	}
	if got.StartCPU != -1 || got.Migrated() {
		t.Errorf("of its CPUs nothing is known, and yet %+v", got)
	}
	moving := mark{before: machine.ThreadUse{CPU: 0}, after: machine.ThreadUse{CPU: 1}, counted: true}
	if got := moving.cpu(); got != -1 {
		t.Errorf("an end that was read on two CPUs is said to be of CPU %d", got)
	}
	if s := (Sample{Counted: true, StartCPU: -1, EndCPU: -1}); !s.Migrated() {
		t.Error("a move in the middle of a reading is not noticed")
	}
}

func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		spans []span
		want  span
		count int
	}{
		{nil, span{}, 0},
		{[]span{{1, 2}}, span{1, 2}, 1},
		{[]span{{8, 12}, {11, 13}, {10, 12}}, span{11, 12}, 3},           // Marzullo's example, from which RFC 5905 derives
		{[]span{{8, 12}, {11, 13}, {14, 15}}, span{11, 12}, 2},           // the wrong span is left out
		{[]span{{8, 9}, {8, 12}, {10, 12}}, span{8, 9}, 2},               // the first of two possible ranges
		{[]span{{1, 2}, {2, 3}}, span{2, 2}, 2},                          // touching
		{[]span{{0, 9}, {1, 8}, {2, 7}, {20, 21}}, span{2, 7}, 3},        // nested
		{[]span{{-2, -1}, {-1.5, 3}, {-1.2, -1.1}}, span{-1.2, -1.1}, 3}, // below zero
	} {
		if got, count := agreement(c.spans); got != c.want || count != c.count {
			t.Errorf("%v: %v by %d, want %v by %d", c.spans, got, count, c.want, c.count)
		}
	}
}

func TestPlans(t *testing.T) {
	all := Workloads(nil)
	for _, c := range []struct {
		name  string
		plan  Plan
		limit time.Duration
	}{{"quick", QuickPlan, 3 * time.Second}, {"default", DefaultPlan, 75 * time.Second}} {
		if total := time.Duration(c.plan.totalNs(all)); total > c.limit {
			t.Errorf("the %s plan takes %v, more than %v", c.name, total, c.limit)
		}
	}
	// Kuperberg 2011b, section 3, has sleeps from 20 ms to 160 ms in steps of 10, 20 of each.
	requests := DefaultPlan.requests(Sleep)
	if len(requests) != 300 || requests[0] != 20e6 || requests[19] != 20e6 || requests[20] != 30e6 || requests[299] != 160e6 {
		t.Errorf("%d sleeps from %v to %v", len(requests), requests[0], requests[len(requests)-1])
	}
}

func TestSelect(t *testing.T) {
	all := Workloads(nil)
	chosen, err := Select(all, []string{GC, Sleep})
	if err != nil || len(chosen) != 2 || chosen[0].Name != GC || chosen[1].Name != Sleep {
		t.Errorf("%v, %v", chosen, err)
	}
	if chosen, err := Select(all, nil); err != nil || len(chosen) != len(all) {
		t.Errorf("%v, %v", chosen, err)
	}
	var unknown *UnknownWorkload
	if _, err := Select(all, []string{"nap"}); !errors.As(err, &unknown) || len(unknown.Known) != len(all) {
		t.Errorf("%v", err)
	}
}

func TestWorstError(t *testing.T) {
	samples := []Sample{{ReferenceNs: 1000, CounterTicks: 101}, {ReferenceNs: 100_000, CounterTicks: 10_002}}
	if ppm, ns := worstError(samples, 10); ns.Value() != 20 || !(math.Abs(ppm.Value()-10_000) <= 1e-6) {
		t.Errorf("%v ns, %v ppm, want 20 ns and 10000 ppm", ns, ppm)
	}
	if ppm, ns := worstError(nil, 10); ppm.Known() || ns.Known() {
		t.Errorf("no samples: %v ns, %v ppm", ns, ppm)
	}
}
