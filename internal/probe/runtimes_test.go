package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
)

// startKit starts a probe of this package, with a cache folder of its own.
func startKit(t *testing.T, k Kit) *Probe {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p, err := k.Start(t.Context(), Limits{Hello: time.Minute, Answer: time.Minute, Quit: 5 * time.Second})
	var missing *clock.Unavailable
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// everyKit runs a test with each probe whose runtime is installed.
func everyKit(t *testing.T, test func(t *testing.T, p *Probe)) {
	for _, family := range Runtimes() {
		for _, k := range Kits(family) {
			t.Run(k.Name, func(t *testing.T) {
				p := startKit(t, k)
				if p.Runtime != k.Name {
					t.Errorf("it calls itself %s", p.Runtime)
				}
				test(t, p)
			})
		}
	}
}

// expected lists timers that each runtime has on any system.
var expected = map[string][]string{
	"c":         {"clock_gettime(CLOCK_MONOTONIC)", "clock_gettime(CLOCK_REALTIME)", "gettimeofday", "times", "clock", "getrusage", "timespec_get"},
	"java":      {"System.nanoTime", "System.currentTimeMillis", "Instant.now", "ThreadMXBean.getCurrentThreadCpuTime", "ThreadMXBean.getCurrentThreadUserTime"},
	"java-Xint": {"System.nanoTime", "System.currentTimeMillis", "Instant.now"},
	"dotnet":    {"Stopwatch", "DateTime.UtcNow", "DateTime.Now", "Environment.TickCount", "Process.TotalProcessorTime"},
	"coreclr":   {"Stopwatch", "DateTime.UtcNow", "DateTime.Now", "Environment.TickCount", "Environment.TickCount64"},
	"python":    {"perf_counter_ns", "monotonic_ns", "time_ns", "process_time_ns", "time.time"},
	"node":      {"hrtime.bigint", "performance.now", "Date.now", "cpuUsage"},
}

// Each probe answers each command in the required form, and its answers are consistent: readings don't
// step back, calls take some time, each thread gets its turn, and both timers show the length of a
// sleep.
func TestProbesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	everyKit(t, func(t *testing.T, p *Probe) {
		for name, err := range p.Silent {
			t.Errorf("%s: %v", name, err)
		}
		for _, name := range expected[p.Runtime] {
			if _, err := p.timer(name); err != nil {
				t.Error(err)
			}
		}
		for _, timer := range p.Timers {
			if timer.Name == "clock_gettime(CLOCK_BOOTTIME)" && timer.CountsSuspend != clock.Yes {
				t.Errorf("%s goes on while the machine is suspended, says %q", timer.Name, timer.CountsSuspend)
			}
			if err := answers(t.Context(), timer, p.Timers[0].Name); err != nil {
				t.Errorf("%s: %v", timer.Name, err)
			}
		}
	})
}

// answers asks a timer each question once.
func answers(ctx context.Context, timer *Timer, reference string) error {
	reads, err := timer.Reads(ctx, 100)
	if err != nil {
		return err
	}
	pairs, err := timer.Pairs(ctx, 100, 50)
	if err != nil {
		return err
	}
	if readings := append(reads, pairs...); !timer.Settable && !slices.IsSorted(readings) {
		return fmt.Errorf("it steps back: %v", readings)
	}
	took, err := timer.Durations(ctx, reference, 64, 20)
	if err != nil {
		return err
	}
	if slices.Max(took) <= 0 {
		return fmt.Errorf("64 calls take nothing: %v", took)
	}
	if _, err := timer.Frames(ctx, 0, 20); err != nil {
		return err
	}
	handed, err := timer.HandOver(ctx, 2, 20)
	if err != nil {
		return err
	}
	turns := map[int64]int{}
	for i := 0; i < len(handed); i += 2 {
		turns[handed[i]]++
	}
	if turns[0] != 10 || turns[1] != 10 {
		return fmt.Errorf("turns of the threads: %v, want 10 each", turns)
	}
	_, err = timer.Sandwiches(ctx, reference, "compute", 1000, 3)
	return err
}

// A sleep is never shorter than requested, whatever the load.
func TestProbesSleep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	everyKit(t, func(t *testing.T, p *Probe) {
		timer := p.Timers[0]
		took, err := timer.Sandwiches(t.Context(), timer.Name, "sleep", 20, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, ticks := range took {
			if ms := float64(ticks) * timer.TickNs / 1e6; ms < 19 {
				t.Errorf("a sleep of 20 ms took %g ms", ms)
			}
		}
	})
}

// steady lists timers that show the system's monotonic clock.
var steady = []string{"clock_gettime(CLOCK_MONOTONIC)", "System.nanoTime", "Stopwatch", "perf_counter_ns", "monotonic_ns", "hrtime.bigint", "performance.now"}

// Between two answers such a timer advances by as much as the clock of this process: by more than the
// time from the end of the first answer to the start of the second question, and by less than the time
// from the start of the first question to the end of the second answer. This holds on any machine.
func TestProbesAgreeWithMonotonic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	everyKit(t, func(t *testing.T, p *Probe) {
		for _, timer := range p.Timers {
			if !slices.Contains(steady, timer.Name) {
				continue
			}
			started := time.Now()
			first, err := timer.Reads(t.Context(), 1)
			soonest := time.Now()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Millisecond)
			latest := time.Now()
			second, err := timer.Reads(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			most, least := time.Since(started), latest.Sub(soonest)
			moved := float64(second[0]-first[0]) * timer.TickNs
			const slack = 1e-3 // as a share of the time; in addition one unit of each reading
			if moved < float64(least)*(1-slack)-2*timer.UnitNs && timer.UnitNs < 1e6 || moved > float64(most)*(1+slack)+2e3 {
				t.Errorf("%s moved by %g ns in %v to %v", timer.Name, moved, least, most)
			}
		}
	})
}

// The files of a kit are put into the cache folder once, and written again if they were changed.
func TestCacheOfProbes(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	contents := map[string][]byte{"a": []byte("one"), "b": []byte("two")}
	made := 0
	write := func(into string) error { made++; return os.WriteFile(into, []byte("made"), 0o700) }
	shelve := func() *shelf {
		s, err := newShelf(contents, os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := shelve()
	path, err := first.make("program", write)
	if err != nil || first.temporary {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := os.WriteFile(first.path("a"), []byte("spoiled"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := shelve()
	again, err := second.make("program", write)
	if text, _ := os.ReadFile(second.path("a")); err != nil || path != again || made != 1 || string(text) != "one" {
		t.Errorf("%s and %s, made %d times, a is %q, %v", path, again, made, text, err)
	}
	contents["a"] = []byte("another")
	if third := shelve(); third.folder == first.folder {
		t.Error("other content stands on the same shelf")
	}
	if left, _ := filepath.Glob(filepath.Join(first.folder, "new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// If there is no cache folder, the files are in a temporary folder that is removed afterwards.
func TestWithoutCacheFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", filepath.Join(os.Args[0], "not a folder"))
	t.Setenv("TMPDIR", t.TempDir())
	s, err := newShelf(map[string][]byte{"a": []byte("one")}, os.Args[0])
	if err != nil || !s.temporary {
		t.Fatalf("%+v, %v", s, err)
	}
	s.close()
	if _, err := os.Stat(s.folder); err == nil {
		t.Error("it's still there")
	}
}

// The error for a runtime that is not installed names a package that contains it.
func TestRuntimeThatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, family := range Runtimes() {
		for _, k := range Kits(family) {
			var missing *clock.Unavailable
			if _, err := k.Start(t.Context(), DefaultLimits); !errors.As(err, &missing) || missing.Name != k.Name || !strings.Contains(missing.Remedy, k.Package) {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	}
}

// DateTime.Now shows the time of a place, and is no calendar of UTC.
func TestLocalTimeIsNoCalendar(t *testing.T) {
	p := startKit(t, Kits("dotnet")[0])
	for name, calendar := range map[string]bool{"DateTime.UtcNow": true, "DateTime.Now": false} {
		timer, err := p.timer(name)
		if err != nil {
			t.Error(err)
		} else if timer.Calendar != calendar || !timer.Settable {
			t.Errorf("%s: calendar %v, settable %v", name, timer.Calendar, timer.Settable)
		}
	}
}

// The compiled probes match their sources: if the sources are compiled again, the result offers the same
// timers and answers all questions.
func TestCompiledProbesAreTheirSources(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	folder := t.TempDir()
	for _, c := range []struct {
		kit     string
		compile []string
		run     []string
	}{
		{"java", []string{"javac", "--release", "8", "-Xlint:-options", "-g:none", "-d", folder, "runtimes/Probe.java"},
			append(append([]string{"java"}, ofJava...), "-cp", folder, "Probe")},
		{"dotnet", []string{"mcs", "-optimize+", "-debug-", "-out:" + folder + "/probe.exe", "runtimes/Probe.cs"},
			[]string{"mono", folder + "/probe.exe"}},
	} {
		t.Run(c.kit, func(t *testing.T) {
			if _, err := exec.LookPath(c.compile[0]); err != nil {
				t.Skip(err)
			}
			if said, err := exec.Command(c.compile[0], c.compile[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			fresh, err := Start(t.Context(), c.run, Limits{Hello: time.Minute, Answer: time.Minute, Quit: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer fresh.Close()
			for _, k := range Kits(c.kit)[:1] {
				embedded := startKit(t, k)
				if fmt.Sprint(fresh.Hello.Timers) != fmt.Sprint(embedded.Hello.Timers) {
					t.Errorf("the source offers %v, what is embedded %v: run go generate", fresh.Hello.Timers, embedded.Hello.Timers)
				}
			}
			for _, timer := range fresh.Timers {
				if err := answers(t.Context(), timer, fresh.Timers[0].Name); err != nil {
					t.Errorf("%s: %v", timer.Name, err)
				}
			}
		})
	}
}
