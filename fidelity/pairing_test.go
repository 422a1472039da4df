package fidelity

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// named returns a clock of that name with its description. The clock is not meant to be read.
func named(name string, tickNs, accuracyNs float64) clock.Rated {
	c := clock.New(clock.Clock{Name: name, Kind: clock.KindWall, CountsSleep: clock.Yes, UnitNs: tickNs}, func() int64 { return 0 })
	if strings.HasPrefix(name, "perf-") || strings.HasSuffix(name, "cputime") {
		c.Kind, c.CountsSleep = clock.KindCPU, clock.No
	}
	if strings.HasPrefix(name, "tsc") || strings.HasPrefix(name, "cntvct") {
		c.Kind = clock.KindCounter
	}
	return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: tickNs, Lo: tickNs, Hi: tickNs}, AccuracyNs: accuracyNs}
}

func TestWrongPairingsAreRefused(t *testing.T) {
	set := func(name string) clock.Rated {
		c := named(name, 1, 1)
		c.Settable = true
		return c
	}
	tsc, raw := named("tsc", 0.4, 0.4), named("monotonic-raw", 1, 1)
	for _, c := range []struct {
		counter, reference clock.Rated
		says               string // empty if the pair is allowed
	}{
		{tsc, raw, ""},
		{raw, tsc, ""},
		{named("monotonic-coarse", 1, 4e6), raw, ""},
		{named("thread-cputime", 1, 1), raw, ""},
		{tsc, tsc, "always agrees with itself"},
		{raw, named("perf-instructions", 1, 1), "perf-instructions counts events"},
		{named("perf-instructions", 1, 1), raw, "perf-instructions counts events"},
		{tsc, named("thread-cputime", 1, 1), "stands still while its thread does not run"},
		{tsc, named("other", 0, 1), "the length of the reference's tick is not known"},
		{tsc, named("monotonic-coarse", 1, 4e6), "moves in steps of 4.00 ms, so that over 160 ms it could only tell an error of 5 % or more: take a finer one, or intervals of 800 ms and more"},
		{tsc, named("rtc", 1e9, 1e9), "intervals of 200 s and more"},
		{named("time", 1e9, 1e9), named("rtc", 1e9, 1e9), ""},
		{set("realtime"), named(Synchronised, 1, 1), "always agrees with itself"},
		{set("gettimeofday"), named(Synchronised, 1, 1), "always agrees with itself"},
		{set("tai"), named(Synchronised, 1, 1), "always agrees with itself"},
		{set("realtime"), named(PTPKVM, 1, 1), ""},
		{named("monotonic", 1, 1), named(Synchronised, 1, 1), ""},
	} {
		err := CheckPair(c.counter, c.reference, 160e6)
		var refused *Refused
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s against %s: %v", c.counter.Name, c.reference.Name, err)
		case c.says != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s against %s: %v, want %q", c.counter.Name, c.reference.Name, err, c.says)
		}
		if _, run := Run(t.Context(), Request{Counter: c.counter, Reference: c.reference, Plan: DefaultPlan, Workloads: []Workload{{Name: Sleep, Prepare: unprepared}}}); c.says != "" && run == nil {
			t.Errorf("%s against %s is run", c.counter.Name, c.reference.Name)
		}
	}
}

var unprepared = prepareStop(nil)

// A clock of CPU time is compared only in workloads in which its thread alone is busy.
func TestCPUTimeBesideWorkloads(t *testing.T) {
	cpu, raw := named("thread-cputime", 1, 1), named("monotonic-raw", 1, 1)
	for _, w := range Workloads(nil) {
		err := CheckWorkload(cpu, raw, w)
		if busy := w.Name == Fibonacci || w.Name == Memory; busy != (err == nil) {
			t.Errorf("%s: %v", w.Name, err)
		}
		if err := CheckWorkload(raw, cpu, w); err != nil {
			t.Errorf("a wall clock beside %s: %v", w.Name, err)
		}
	}
	o, err := Run(t.Context(), Request{Counter: cpu, Reference: raw, Plan: tinyPlan, Workloads: Workloads(nil)[:1]})
	if err != nil || len(o.Refused) != 1 || o.Refused[0].Workload != Sleep || !strings.Contains(o.Refused[0].Error(), "beside sleep: thread-cputime counts only while its thread runs") {
		t.Errorf("%v, %+v", err, o)
	}
}

// A clock of CPU time is judged only by the samples in which its thread kept the CPU.
func TestCPUTimeIsJudgedUndisturbed(t *testing.T) {
	cpu := named("thread-cputime", 1, 1)
	good := Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101, Counted: true}
	waited := good
	waited.CounterTicks -= 2e6
	waited.Use = machine.ThreadUse{WaitNs: 2e6, InvoluntarySwitches: 1}
	stolen := good
	stolen.CounterTicks -= 1e6
	for _, c := range []struct {
		name   string
		first  Sample
		second Sample
		want   stats.Verdict
	}{
		{"waited", waited, waited, stats.Trusted},
		{"stolen", stolen, stolen, stats.Suspect},
		{"stolen once", stolen, good, stats.Suspect},
	} {
		r := []Result{{Samples: []Sample{good, good, c.first, good, good, c.second, good}}}
		judge(cpu, named("monotonic-raw", 1, 1), r)
		if r[0].Verdict != c.want {
			t.Errorf("%s: %s %q, want %s", c.name, r[0].Verdict, r[0].Reasons, c.want)
		}
	}
}

// Slow corrections of a calendar clock are not blamed on the counter, and the result says what they
// may be.
func TestSlewingIsRecognised(t *testing.T) {
	tsc := named("tsc", 1, 1)
	good := Sample{ReferenceNs: 1e8, CounterTicks: 1e8, PairingNs: 100, ErrorNs: 101}
	slewed := good
	slewed.ReferenceNs *= 1 + 300e-6
	samples := []Sample{good, good, good, good, slewed, slewed, good}
	for reference, want := range map[string]FaultKind{"realtime": Slewed, "monotonic-raw": Unexplained} {
		r := []Result{{Samples: samples}}
		judge(tsc, named(reference, 1, 1), r)
		if len(r[0].Faults) != 1 || r[0].Faults[0].Kind != want {
			t.Errorf("%s: %+v, want %s", reference, r[0].Faults, want)
		}
	}
}

func TestIndependence(t *testing.T) {
	for _, c := range []struct {
		counter, reference, source string
		want                       bool
		says                       string
	}{
		{"tsc", "monotonic-raw", "tsc", false, "both tsc and monotonic-raw rest on the time stamp counter"},
		{"tsc", "go-time-now", "kvm-clock", false, "both tsc and go-time-now"},
		{"tsc", "tscp", "tsc", false, "both tsc and tscp"},
		{"tsc", "monotonic-raw", "hpet", true, "the high precision event timer"},
		{"tsc", "monotonic-raw", "", false, "what monotonic-raw rests on is not known"},
		{"tsc", "monotonic-raw", "jiffies", false, "not known"},
		{"cntvct", "monotonic", "arch_sys_counter", false, "the architecture's counter"},
		{"monotonic", "realtime", "hpet", false, "both monotonic and realtime"},
		{"thread-cputime", "monotonic-raw", "tsc", false, "both thread-cputime"},
		{"perf-task-clock", "monotonic-raw", "tsc", false, "both perf-task-clock"},
		{"perf-cycles", "monotonic-raw", "tsc", false, "the same crystal"},
		{"tsc", PTPKVM, "tsc", true, "ptp-kvm on the host's clock"},
		{"tsc", RTC, "tsc", true, "crystal"},
		{"monotonic-raw", Synchronised, "tsc", true, "time of the network"},
		{"tsc", Synchronised, "tsc", true, "time of the network"},
		{"thread-cputime", Synchronised, "tsc", true, "time of the network"},
		{"monotonic", Synchronised, "tsc", false, "the same time service steers both monotonic and realtime-synchronised"},
		{"boottime", Synchronised, "hpet", false, "the same time service"},
		{"go-time-now", Synchronised, "tsc", false, "the same time service"},
		{"realtime", Synchronised, "tsc", false, "the same time service"},
		{"realtime", PTPKVM, "tsc", true, "ptp-kvm on the host's clock"},
		{"simulated", "monotonic-raw", "tsc", false, "what simulated rests on is not known"},
	} {
		m := &machine.Machine{Clocksource: machine.Text(c.source)}
		got, why := Independence(named(c.counter, 1, 1).Clock, named(c.reference, 1, 1).Clock, m)
		if got != c.want || !strings.Contains(why, c.says) {
			t.Errorf("%s against %s on %q: %v, %q; want %v, %q", c.counter, c.reference, c.source, got, why, c.want, c.says)
		}
	}
	if got, _ := Independence(named("tsc", 1, 1).Clock, named("monotonic", 1, 1).Clock, nil); got {
		t.Error("on a machine of which nothing is known")
	}
}

// The meaning of a verdict says whether the counter's rate was judged too.
func TestMeaning(t *testing.T) {
	for independent, want := range map[bool]string{true: "and so is its rate, to ± ", false: "of its rate this says nothing, since "} {
		w := newWorld(1)
		o, err := Run(t.Context(), Request{
			Counter: w.fine().rated("counter", 1), Reference: w.reference(), Independent: independent, Why: "so it is",
			Workloads: w.workloads(), Plan: simPlan, Look: w.look,
		})
		if err != nil || !strings.Contains(o.Results[0].Meaning, want) || !strings.Contains(o.Results[0].Meaning, "so it is") {
			t.Errorf("%v, %q", err, o.Results[0].Meaning)
		}
	}
}

// A reference whose own rate is known to ± 1.4 % says nothing of a rate that is 1 % off.
func TestLooseReference(t *testing.T) {
	samples := make([]Sample, 8)
	for i := range samples {
		samples[i] = Sample{ReferenceNs: 1e8, CounterTicks: 101e6, PairingNs: 100, ErrorNs: 101}
	}
	for _, c := range []struct {
		offPPM      float64
		independent bool
		want        stats.Verdict
		says        string
	}{
		{1, true, stats.Unusable, "it is 1 % fast"},
		{14_000, true, stats.Suspect, "the rate of realtime-synchronised is known to ± 1.4 % only"},
		{14_000, false, stats.Trusted, ""},
	} {
		reference := named(Synchronised, 1, 1)
		reference.TickNs.Lo, reference.TickNs.Hi = 1-c.offPPM/1e6, 1+c.offPPM/1e6
		r := []Result{{Reference: Synchronised, Independent: c.independent, Samples: samples}}
		judge(named("tsc", 1, 1), reference, r)
		if r[0].Verdict != c.want || !strings.Contains(strings.Join(r[0].Reasons, "; "), c.says) {
			t.Errorf("± %v ppm: %s %q, want %s %q", c.offPPM, r[0].Verdict, r[0].Reasons, c.want, c.says)
		}
	}
}

func TestPTPOfKVM(t *testing.T) {
	name := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		files fstest.MapFS
		want  int
		fails string
	}{
		{fstest.MapFS{"sys/class/ptp/ptp0/clock_name": name("hv_sync\n"), "sys/class/ptp/ptp3/clock_name": name("KVM virtual PTP\n")}, 3, ""},
		{fstest.MapFS{"sys/class/ptp/ptp0/clock_name": name("ixgbe\n")}, 0, `only "ixgbe"`},
		{fstest.MapFS{"sys/class/ptp/ptpx/clock_name": name("KVM virtual PTP\n")}, 0, "lists no clock"},
		{fstest.MapFS{}, 0, "sys/class/ptp"},
	} {
		got, err := ptpOfKVM(c.files)
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%v: %d, %v, want %d, %q", c.files, got, err, c.want, c.fails)
		}
	}
}

func TestRTC(t *testing.T) {
	const name = "sys/class/rtc/rtc0/since_epoch"
	files := fstest.MapFS{name: {Data: []byte("1790000000\n")}}
	r, missing := openRTC(files, time.Minute)
	if missing != nil || r.Read() != 1790000000 || r.UnitNs != 1e9 {
		t.Fatalf("%v, %+v", missing, r)
	}
	// Each end is off by up to a second in 100 s, and the crystal by 100 ppm.
	if got := r.ReachPPM(100 * time.Second); got < 20_099 || got > 20_101 {
		t.Errorf("it reaches %v ppm in 100 s", got)
	}
	files[name] = &fstest.MapFile{Data: []byte("gone")}
	if got := r.Read(); got != unread {
		t.Errorf("a clock that has gone reads %d", got)
	}
	for _, files := range []fstest.MapFS{{}, {name: {Data: []byte("soon\n")}}} {
		if _, missing := openRTC(files, time.Minute); missing == nil || missing.Remedy == "" {
			t.Errorf("%v: %v", files, missing)
		}
	}
}

func TestSynchronised(t *testing.T) {
	c := func() *clock.Clock { return named("realtime", 1, 1).Clock }
	r, missing := synchronised(c(), discipline{synchronised: true, maxErrorNs: 1e6}, 100*time.Second)
	if missing != nil {
		t.Fatal(missing)
	}
	// A millisecond at either end of 100 s is 20 ppm; two steps of 1 ns in 1 s add 0.002 ppm.
	if got := r.ReachPPM(time.Second); got < 20.001 || got > 20.003 {
		t.Errorf("it reaches %v ppm", got)
	}
	for _, d := range []discipline{{false, 1e6}, {true, 16e9}} {
		if _, missing := synchronised(c(), d, time.Minute); missing == nil || missing.Detail == "" || missing.Remedy == "" {
			t.Errorf("%+v: %v", d, missing)
		}
	}
}

// Each reference is either found, or missing with a reason.
func TestReferences(t *testing.T) {
	found, missing := References(fstest.MapFS{}, time.Minute)
	for _, r := range found {
		t.Logf("%s: %s, %v ppm in a second", r.Name, r.API, r.ReachPPM(time.Second))
		if !(r.TickNs.Value > 0 && r.AccuracyNs > 0) || r.Read() <= 0 {
			t.Errorf("%+v", r)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, u := range missing {
		t.Log(u)
		if u.Name == "" || u.Reason == "" || u.Detail == "" {
			t.Errorf("%+v says too little", u)
		}
	}
	if len(found)+len(missing) != 3 {
		t.Errorf("%d found, %d missing", len(found), len(missing))
	}
}
