package bytecode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/internal/load"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Exit(m.Run())
}

// java returns a real Java, and skips the test if there is none.
func java(t *testing.T) Java {
	t.Helper()
	j, err := FindJava(t.Context(), "")
	if err != nil {
		t.Skip(err)
	}
	return j
}

// verifying makes the machine verify all classes.
var verifying = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationRemote", "-XX:+BytecodeVerificationLocal"}

// All classes pass the verifier of a real machine and run, in all forms. Trials take time, and the times
// by the different timers are consistent.
func TestAllVerifyAndRun(t *testing.T) {
	j := java(t)
	all, err := sequences(Catalogue(), true, DefaultLength)
	if err != nil {
		t.Fatal(err)
	}
	methods := []Method{Discrete, Nano, Counter}
	folder, library := t.TempDir(), ""
	if content, err := cycleLibrary(runtime.GOARCH); err == nil && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		library = filepath.Join(folder, "cycles.so")
		if err := os.WriteFile(library, content, 0o755); err != nil {
			t.Fatal(err)
		}
		methods = append(methods, TSC)
	}
	if err := writeClasses(folder, all, timersOf(methods)); err != nil {
		t.Fatal(err)
	}
	vm, err := startMachine(j, append(slices.Clone(verifying), arguments(j, Interpreter, folder, library, true)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.stop()
	width := rowWidth(timersOf(methods))
	for _, s := range all {
		answer, err := vm.run(t.Context(), className(s.name), 3*width, 2, time.Minute)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		blocks, err := readBlocks(answer, methods, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if s.name != emptyName && b.Nano <= 0 || library != "" && b.Cycles <= 0 || b.Ones > 2 || b.Ones > b.Millis ||
				b.Millis*1e6 < b.Nano-2e6 || b.Millis > time.Hour.Milliseconds() { // more than a millisecond per trial, or a reading instead of a sum
				t.Errorf("%s: %+v", s.name, b)
			}
		}
	}
}

// small returns a machine that has the classes of two sequences, and their folder.
func small(t *testing.T) (*virtualMachine, string) {
	t.Helper()
	j := java(t)
	folder := t.TempDir()
	all, err := sequences([]*Instruction{mustLookup("iadd")}, false, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeClasses(folder, all, timersOf([]Method{Nano})); err != nil {
		t.Fatal(err)
	}
	vm, err := startMachine(j, arguments(j, Interpreter, folder, "", false), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.stop() })
	return vm, folder
}

func TestLostMachines(t *testing.T) {
	for name, c := range map[string]struct {
		class string
		limit time.Duration
		block int
		harm  func(*virtualMachine)
		want  string
	}{
		"no such class":     {"chronoscope/Nothing", time.Minute, 1, nil, "ClassNotFound"},
		"hangs":             {className("iadd"), 300 * time.Millisecond, 1 << 30, nil, "no answer within 300ms"},
		"killed on the way": {className("iadd"), time.Minute, 1 << 30, func(vm *virtualMachine) { _ = vm.command.Process.Kill() }, "killed"},
	} {
		vm, _ := small(t)
		if _, err := vm.run(t.Context(), className("iadd"), 4, 1, time.Minute); err != nil {
			t.Fatalf("%s: before anything happens: %v", name, err)
		}
		if c.harm != nil {
			time.AfterFunc(100*time.Millisecond, func() { c.harm(vm) })
		}
		_, err := vm.run(t.Context(), c.class, 4, c.block, c.limit)
		var lost *lostMachine
		if !errors.As(err, &lost) || lost.class != c.class || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestMachineEndsWithContext(t *testing.T) {
	vm, _ := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := vm.run(ctx, className("iadd"), 4, 1<<30, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if vm.command.ProcessState == nil {
		t.Error("it was not reaped")
	}
}

// A launcher's message on its standard output is not accepted as an answer, and the error shows it.
func TestTalkativeMachine(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-verbose")
	for name, c := range map[string]struct{ says, want string }{
		"long":  {"echo warning: this is not what you want to hear; cat >/dev/null", "warning: this is not what you want to hear"},
		"short": {"echo hello", "hello"},
	} {
		vm, err := startMachine(Java{Path: script(t, c.says)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := readAnswer(vm.out, 4+headerLongs)
		vm.stop()
		if err == nil || !strings.Contains(err.Error(), `output: "`+c.want+`": unset JAVA_TOOL_OPTIONS`) {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
}

// Warnings and logs that the environment asks for don't go to standard output, where the answers are.
func TestLogsStayOutOfAnswers(t *testing.T) {
	if j := java(t); j.Major() < unifiedLogging {
		t.Skip("this Java has no unified logging")
	}
	t.Setenv("JAVA_TOOL_OPTIONS", "-Xlog:gc*")
	vm, _ := small(t)
	if _, err := vm.run(t.Context(), className("iadd"), 4, 1, time.Minute); err != nil {
		t.Error(err)
	}
	for version, want := range map[string]bool{"1.8.0_402": false, "9.0.1": true, "25": true} {
		if got := slices.Contains(arguments(Java{Version: version}, Interpreter, "", "", false), "-Xlog:disable"); got != want {
			t.Errorf("Java %s: %v", version, got)
		}
	}
}

// has reports whether a sequence was timed by a method. Whether a time results depends on the machine,
// because groups with a slow sentinel are left out.
func (s *Series) has(sequence string, m Method) bool {
	return slices.ContainsFunc(s.Starts, func(start Start) bool {
		return slices.ContainsFunc(start.Stretches, func(x Stretch) bool { return x.Sequence == sequence && x.Kept[m].Trials > 0 })
	})
}

// A short run ends with trials of all that was asked for, and can be continued. A sequence that loses
// machines is marked, and the others go on.
func TestRun(t *testing.T) {
	j := java(t)
	o := Options{
		Java: j, Instructions: []string{"ldiv", "i2l", "ifeq", "iadd", "iadd"}, Pairs: true, Length: 100,
		Methods: []Method{Discrete, Bernoulli, Nano}, NoReference: true, Duration: 400 * time.Millisecond, Seed: 7,
	}
	var last Progress
	o.Progress = func(p Progress) { last = p }
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, timing := range r.Timings {
		names = append(names, sequenceName(timing.Instruction, timing.Form))
		if name := names[len(names)-1]; !r.Series.has(name, Nano) {
			t.Errorf("%s: there are no trials by %s: %+v", name, Nano, timing)
		}
	}
	if want := "[iadd iadd/pair ldiv ldiv/pair i2l i2l/pair ifeq/taken ifeq/not-taken]"; "["+strings.Join(names, " ")+"]" != want {
		t.Errorf("%v, want %s", names, want)
	}
	if r.Starts != fewestStarts || last.Done <= 0 || last.Done > 1 || last.Doing == "" || r.Java != j {
		t.Errorf("%d starts, progress %+v, %+v", r.Starts, last, r.Java)
	}
	o.Continue = r.Series
	if again, err := Run(t.Context(), o); err != nil || again.Starts != fewestStarts {
		t.Errorf("what is complete is done again: %v", err)
	}
	o.Length = 50
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "other options") {
		t.Errorf("another length goes on with this one: %v", err)
	}
}

// If a launcher can't run one of the classes, its sequence is given up, and the others have results.
func TestRunOverLosses(t *testing.T) {
	j := java(t)
	o := Options{
		Java: j, Instructions: []string{"iadd", "isub"}, Length: 100,
		Methods: []Method{Nano}, NoReference: true, Duration: 200 * time.Millisecond,
	}
	r, err := prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(r.folder)
	folder, err := r.classes([]Method{Nano})
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(folder, "chronoscope", "T_isub.class")
	if err := os.WriteFile(broken, []byte("this is no class file"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.allStarts(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := r.series.Result()
	sound, _ := result.Timing("iadd", Homogeneous)
	lost, _ := result.Timing("isub", Homogeneous)
	if !r.series.has("iadd", Nano) || sound.Failure != "" {
		t.Errorf("iadd: %+v", sound)
	}
	if len(lost.Measured) != 0 || !strings.Contains(lost.Failure, "ClassFormatError") || lost.Verdict != "unusable" {
		t.Errorf("isub: %+v", lost)
	}
	if len(r.series.Failures) != mostLosses {
		t.Errorf("%d machines were lost", len(r.series.Failures))
	}
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"instruction": {Options{Instructions: []string{"add"}}, "not among the 137"},
		"method":      {Options{Methods: []Method{"sundial"}}, "is no method"},
		"mode":        {Options{Mode: "c3"}, "is no mode"},
		"length":      {Options{Length: -1}, "1 or more"},
		"nothing":     {Options{Methods: []Method{TSC}, NoReference: true}, "left out"},
		"launcher":    {Options{Java: Java{Path: filepath.Join(t.TempDir(), "java")}, Methods: []Method{Nano}, NoReference: true}, "no such file"},
		"too long":    {Options{Length: 30_000, Methods: []Method{Nano}, NoReference: true, Java: Java{Path: "x"}}, "take a shorter one"},
	} {
		r, err := Run(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want %q", name, r, err, c.want)
		}
	}
}

func TestRunEndsWithContext(t *testing.T) {
	j := java(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, err := Run(ctx, Options{Java: j, Methods: []Method{Nano}, NoReference: true})
	if !errors.Is(err, context.DeadlineExceeded) || r != nil && !r.Interrupted {
		t.Errorf("%+v, %v", r, err)
	}
}

// If the library can't be loaded, only the reference is missing.
func TestRunWithoutLibrary(t *testing.T) {
	j := java(t)
	r, err := prepare(t.Context(), Options{Java: j, Instructions: []string{"iadd"}, Length: 10, Methods: []Method{Nano}, NoReference: true, Duration: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(r.folder)
	r.library = filepath.Join(r.folder, "none.so")
	if err := r.allStarts(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := r.series.Result()
	if !r.series.has("iadd", Nano) || !strings.Contains(result.Unused[TSC], "UnsatisfiedLinkError") {
		t.Errorf("%+v, unused %v", result.Timings, result.Unused)
	}
}

// If the first virtual machine is lost while it loads the library, another one tries again. If all are, the error says
// what helps.
func TestReferenceIsTriedAgain(t *testing.T) {
	j := java(t)
	for first, want := range map[string]string{"first": "", "every": string(Nano)} {
		marker := filepath.Join(t.TempDir(), "marker")
		launcher := script(t, "if [ "+first+" = every ] || [ ! -e "+marker+" ]; then touch "+marker+"; kill -9 $$; fi\nexec "+j.Path+" \"$@\"")
		r, err := prepare(t.Context(), Options{Java: Java{Path: launcher, Version: j.Version}, Instructions: []string{"iadd"}, Length: 10, Methods: []Method{TSC}})
		if err != nil {
			t.Skip(err) // the time stamp counter can't be read here
		}
		defer os.RemoveAll(r.folder)
		err = r.tryReference(t.Context())
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "killed")) {
			t.Errorf("the %s machine is lost: %v, want %q", first, err, want)
		}
	}
}
