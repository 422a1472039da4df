package bytecode

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"chronoscope/stats"
)

// The lines are from Java 17.0.15 (C2), but for those of ladd, which have the form of Java 8 with tiers. Other text is
// kept for messages.
func TestCompilationsAreRead(t *testing.T) {
	s := newSaid()
	for _, piece := range []string{
		"   1092  508    b        chronoscope.T_nop::measure (1683 bytes)\n   1124  508             chronoscope.T_nop::me",
		"asure (1683 bytes)   made not entrant\n",
		"   1124  512    b        chronoscope.T_nop::measure (1683 bytes)\n",
		"   1191  527    b        chronoscope.T_ldiv::measure (4686 bytes)\n",
		"   1307  527    b        chronoscope.T_ldiv::measure (4686 bytes)   COMPILE SKIPPED: Out of stack space, increase MaxLabelRootDepth (retry at different tier)\n",
		"   1338  537    b        chronoscope.T_empty::measure (683 bytes)\n",
		"   1342  537             chronoscope.T_empty::measure (683 bytes)   made not entrant\n",
		"   1347  540 %  b        chronoscope.T_empty::measure @ 16 (683 bytes)\n",
		"   1348  541    b        chronoscope.T_isub::run (10 bytes)\n",
		"   1350  542     n 0     java.lang.System::currentTimeMillis (native)   (static)\n",
		"    400   95    b  1       chronoscope.T_ladd::measure (2685 bytes)\n",
		"    410   96    b  1       chronoscope.T_ladd::measure (2685 bytes)\n",
		"    411   95       1       chronoscope.T_ladd::measure (2685 bytes)   made zombie\n",
		"Exception in thread \"main\" java.lang.ClassNotFoundException: x",
	} {
		if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := s.text(); got != `Exception in thread "main" java.lang.ClassNotFoundException: x` {
		t.Errorf("it said %q", got)
	}
	for name, want := range map[string]string{
		"nop": "", "ladd": "", "ldiv": "MaxLabelRootDepth", emptyName: "made not entrant", "isub": "reported no compilation",
	} {
		if got := s.compiled.problem(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A sequence that one virtual machine interpreted has no time of compiled code, and what it balances has none either.
func TestInterpretedIsUnusable(t *testing.T) {
	const why = "COMPILE SKIPPED: out of nodes"
	for name, unusable := range map[string]bool{"iadd": true, emptyName: true, "ldiv": false} {
		s := newWorld(6).series(t, 2, 2, 100, 1)
		s.Mode = C2
		s.Starts[1].Interpreted = map[string]string{name: why}
		timing, _ := s.Result().Timing("iadd", Homogeneous)
		said := strings.Contains(strings.Join(timing.Reasons, " "), why)
		if said != unusable || (timing.Verdict == stats.Unusable) != unusable {
			t.Errorf("%s was interpreted: %s, %q", name, timing.Verdict, timing.Reasons)
		}
	}
	e := &evaluation{Series: &Series{Starts: []Start{{Interpreted: map[string]string{"pop2": why}}}}}
	if name, got := e.interpreted(mustLookup("i2l"), Homogeneous); name != "pop2" || got != why {
		t.Errorf("i2l, which pop2 balances: %s, %q", name, got)
	}
	if name, got := e.interpreted(mustLookup("iadd"), Homogeneous); got != "" {
		t.Errorf("iadd, which nothing balances: %s, %q", name, got)
	}
}

// The table of the interpreter's times shows no unusable time next to them.
func TestUnusableTimesAreNotCompared(t *testing.T) {
	compiled := &Result{Mode: C2, Judgement: stats.NewJudgement(), Timings: []Timing{
		timed("ldiv", Homogeneous, map[Method]float64{TSC: 5}),
	}}
	compiled.Timings[0].Measured[0].Lower(stats.Unusable, "it was interpreted")
	if i, _ := reportsOf(usualResult(), compiled)[0].Instruction("ldiv", "homogeneous"); i.Compiled.C2 != nil {
		t.Errorf("%+v", i.Compiled)
	}
}

// A real virtual machine compiles the sequences, but for one that it is told to exclude. Java 17's C2 gives up 600
// divisions of longs by default.
func TestExcludedFromCompilation(t *testing.T) {
	if testing.Short() {
		t.Skip("the compiler works for seconds")
	}
	j, folder := java(t), t.TempDir()
	all, err := sequences([]*Instruction{mustLookup("iadd"), mustLookup("isub")}, false, 600)
	if err != nil {
		t.Fatal(err)
	}
	methods, library := []Method{Nano}, ""
	if content, err := cycleLibrary(runtime.GOARCH); err == nil && runtime.GOOS == "linux" {
		methods, library = []Method{TSC}, filepath.Join(folder, "cycles.so")
		if err := os.WriteFile(library, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeClasses(folder, all, timersOf(methods)); err != nil {
		t.Fatal(err)
	}
	exclude := []string{"-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,chronoscope.T_isub::measure"}
	for _, mode := range []Mode{C1, C2} {
		vm, err := startMachine(j, append(exclude, arguments(j, mode, folder, library, false)...), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer vm.stop()
		w := &worker{running: &running{Options: Options{Mode: mode}, all: all, costNs: map[string]float64{}}, vm: vm, start: &Start{Methods: methods}}
		for _, name := range []string{"iadd", "isub", "ldiv"} {
			if err := w.warm(t.Context(), w.named(name)); err != nil {
				t.Fatal(err)
			}
		}
		vm.stop()
		found := vm.said.notCompiled([]Stretch{{Sequence: "iadd"}, {Sequence: "isub"}, {Sequence: "ldiv"}})
		if len(found) != 1 || found["isub"] == "" {
			t.Errorf("%s: %q were not compiled, want isub", mode, found)
		}
	}
}
