package chronoscope_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// correction is a step that corrects a measured time or bounds its error: a piece of a file, and that piece with the
// correction switched off.
type correction struct{ name, file, on, off string }

// corrections of the conclusions about programs and benchmarks. Those of kbest are switched off in its own tests.
var corrections = []correction{
	{"interrupts", "program/bounds.go", "\tr.LowNs = max(r.leastNs, r.calmNs, r.LowNs-off(low))\n", ""},
	{"that interrupts may take more", "program/bounds.go", "return noise.MoreShare*p.ranNs + cold(p.preemptions", "return cold(p.preemptions"},
	{"that interrupts may take less", "program/bounds.go", "return noise.LessShare*p.ranNs + certain(p)", "return certain(p)"},
	{"preemptions", "program/bounds.go", "float64(p.preemptions)*each }", "0 * float64(p.preemptions) * each }"},
	{"cold caches after preemptions", "program/bounds.go", "(mostNs - machine.UsualColdNs)", "0*(mostNs-machine.UsualColdNs)"},
	{"cold caches of another CPU", "program/bounds.go", "elsewhere = min(elsewhere, r.traced.moves)", "elsewhere = 0"},
	{"cold caches at the start", "program/conclude.go", "runs[i].allowForColdStart(s.coldBytes())", "_ = i"},
	{"waits for a CPU", "program/bounds.go", "\t\tr.byEvents(cpus)\n", "\t\tr.byEvents(cpus)\n\t\tr.LowNs, r.HighNs = r.traced.wallNs, r.traced.wallNs\n"},
	{"steal", "program/bounds.go", "r.LowNs, r.HighNs = t.low.atNs-stopped-stolen,", "r.LowNs, r.HighNs = t.low.atNs-stopped,"},
	{"steal of a single thread", "program/bounds.go", "\t\tr.HighNs -= t.stolenNs\n", ""},
	{"stops for the tracer", "program/bounds.go", "stopped, stolen := float64(r.StoppedNs), t.stolenNs", "stopped, stolen := 0., t.stolenNs"},
	{"spinning", "program/bounds.go", "\tr.LowNs -= spun\n", ""},
	{"spinning that the runs rule out", "program/conclude.go", "\t\tc.allowForSpinning()\n", ""},
	{"what others ran at most", "program/bounds.go", "\t\tatLeast(r.calm.atNs, r.calm.ranNs, r.calm.preemptions)\n", ""},
	{"CPU time over the number of CPUs", "program/bounds.go", "\t\tatLeast(r.least.atNs, r.least.ranNs, r.least.preemptions)\n", ""},
	{"contradictions", "program/bounds.go", "\t\tr.HighNs = math.Max(r.HighNs, wall)\n", ""},
	{"waits of woken threads", "program/conclude.go", "\tc.allowForWaits(s.wokenNs)\n", ""},
	{"shared cores", "program/conclude.go", "\t\tc.allowForSharing()\n", ""},
	{"sharing that recurs with a period", "env/sharingcost.go", "followsLo < c.follows*recursBelow", "false"},
	{"what sharing a core may cost", "program/sharing.go", "\t\tr.allowFor(down)\n", "\t\t_ = down\n"},
	{"sleeps that deadlines cut short", "program/conclude.go", "\t\tc.allowForDeadlines()\n", ""},
	{"deadlines that passed", "program/conclude.go", "\t\tc.allowForLateness()\n", ""},
	{"sleeps without a deadline", "program/conclude.go", "\t\tc.ruleOutDeadline()\n", ""},
	{"clocks that the program reads", "program/conclude.go", "\t\tc.allowForClocks()\n", ""},
	{"the order of threads", "program/conclude.go", "\t\tc.allowForOrder()\n", ""},
	{"repeating timers", "program/conclude.go", "\t\tc.allowForTimers()\n", ""},
	{"other programs that it waits for", "program/conclude.go", "\t\tc.outsideNs = c.allowForOutside()\n", ""},
	{"programs on other CPUs", "program/conclude.go", "\t\tc.allowForNeighbours()\n", ""},
	{"servers that were kept from a CPU", "program/conclude.go", "\t\te = widened(widened(e, late), -late)\n", ""},
	{"the method of Bryant's protocol", "program/conclude.go", "\t\tc.chooseMethod()\n", ""},
	{"the quarter that waited least", "program/conclude.go", "\treturn order[:n], c.moreCPU(order[:n], order[n:])\n", "\treturn all, 0\n"},
	{"runs in which nobody delays it", "program/conclude.go", "[]chosenRuns{calmRuns, favouredOnly}", "[]chosenRuns{favouredOnly}"},
	{"runs that others hardly disturb", "program/conclude.go", "[]chosenRuns{calmRuns, favouredOnly}", "[]chosenRuns{calmRuns}"},
	{"the least and the most that it takes", "program/conclude.go", "e := c.hold(joined)", "e := joined"},
	{"caches at a higher priority", "program/conclude.go", "\te = widened(e, -c.coldNs())\n", ""},
	{"runs that are left out", "program/conclude.go", "widened(e, c.disturbedMoreNs)", "e"},
	{"shared runs, in pairs", "program/compare.go", "if a.leavesOut || b.leavesOut {", "if false {"},
	{"waits in duets", "program/duet.go", "Hi: r.CPUNs + r.BlockedNs", "Hi: r.CPUNs"},
	{"threads that run at once, in duets", "program/duet.go", "Lo: r.CPUNs * (1 - atOnce)", "Lo: r.CPUNs"},
	{"duets of programs that work until some time", "program/duet.go", " || m.contradict() {", " {"},

	{"interrupts", "gobench/disturbance.go", "busy * share,", "0 * busy * share,"},
	{"what one revision leaves out", "gobench/compare.go", "if a.standstillsTold == b.standstillsTold && !a.leftShared && !b.leftShared {", "if true {"},
	{"standstills of one revision", "gobench/compare.go", "\t\tfirst, second = a.whole, b.whole\n", ""},
	{"few layouts", "gobench/placement.go", "student := distuv.StudentsT{Sigma: 1, Nu: freedom}", "student := distuv.StudentsT{Sigma: 1, Nu: 1e6 * freedom}"},
	{"looks at layouts", "gobench/placement.go", "looksAtLayouts, grownShare = 4, 0.25", "looksAtLayouts, grownShare = 0.5, 0.25"},
	{"layouts that agree", "gobench/gate.go", "math.Max(c.pairs.Beyond(looks, limit), c.placed.beyond(typical, limit))", "c.pairs.Beyond(looks, limit)"},
	{"preemptions", "gobench/disturbance.go", "\treturn d.byOthers * math.Max(0, rep.perIteration(switches))\n", "\treturn 0\n"},
	{"standstills", "gobench/conclude.go", "r.Rejections, r.standstillsTold = standstills(k, s.Repetitions);", "r.Rejections = nil;"},
	{"shared cores", "gobench/conclude.go", "leftOut := sharing.Told() &&", "leftOut := false && sharing.Told() &&"},
	{"rounding", "gobench/conclude.go", "t.roundingNs = k.typical(Repetition.roundingNs)", "t.roundingNs = 0"},
	{"vain waits of the shorter run", "gobench/kind.go", "\t\tshare = math.Min(share, idleNs(r.Many)/r.Many.CPUNs)\n", ""},
	{"waits for a CPU", "gobench/kind.go", "\treturn math.Max(0, wait)\n", "\treturn 0 * math.Max(0, wait)\n"},
	{"what others ran, where it blocks", "gobench/kind.go", "; k.mayBlock && most > ns {", "; false && most > ns {"},
	{"what others ran, by the machine's own figures", "gobench/kind.go", "k.othersAround = othersAround(k.used)", "k.othersAround = 0"},
	{"waits for a CPU quota", "gobench/runner.go", "!others.Known || o.Throttled ||", "!others.Known ||"},
	{"delays that two revisions share", "gobench/compare.go", "\tif alike {", "\tif false && alike {"},
	{"CPU time in duets", "gobench/duet.go", "cpu, idle := rep.perIteration(cpuNs)", "cpu, idle := rep.perIteration(timedNs)"},
	{"benchmarks that have no duets", "gobench/duet.go", "return !k.alone && !collects ||", "_ = collects\n\t\treturn false &&"},
	{"waits in duets", "gobench/duet.go", "Hi: cpu + math.Max(0, idle)}", "Hi: cpu}"},
	{"threads that run at once in duets", "gobench/duet.go", "Lo: cpu * (1 - atOnce)", "Lo: cpu"},
	{"one kind of both revisions", "gobench/compare.go", "\treturn a.with(b), b.with(a), true\n", "\treturn a, b, true\n"},
}

// Each correction stands where this file says. Whether it matters is a longer test.
func TestCorrectionsStand(t *testing.T) {
	for _, c := range corrections {
		sourceWith(t, c)
	}
}

// sourceWith returns the file of a correction, which has to hold it once.
func sourceWith(t *testing.T, c correction) string {
	t.Helper()
	source, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), c.on); n != 1 {
		t.Fatalf("%s: %s has %d times %q, want one", c.name, c.file, n, c.on)
	}
	return string(source)
}

// Each correction matters: with it switched off, a test of its package fails.
func TestEachCorrectionMatters(t *testing.T) {
	if os.Getenv("CHRONOSCOPE_CORRECTIONS") == "" {
		t.Skip("takes a quarter of an hour: make test-long runs it")
	}
	for _, c := range corrections {
		t.Run(filepath.Dir(c.file)+": "+c.name, func(t *testing.T) {
			failed, output := testedWithout(t, c)
			if !failed {
				t.Errorf("nothing fails without it:\n%s", output)
			}
			t.Logf("fails without it: %s", strings.Join(failures.FindAllString(output, 3), ", "))
		})
	}
}

var failures = regexp.MustCompile(`(?m)^--- FAIL: \w+`)

// testedWithout runs the tests of a correction's package with the correction switched off, and reports whether one of
// them failed.
func testedWithout(t *testing.T, c correction) (failed bool, output string) {
	t.Helper()
	source, dir := sourceWith(t, c), t.TempDir()
	file, err := filepath.Abs(c.file)
	if err != nil {
		t.Fatal(err)
	}
	without, overlay := filepath.Join(dir, "without.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: without}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{without: []byte(strings.Replace(source, c.on, c.off, 1)), overlay: text} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, length := range []string{"-short", "-short=false"} { // short tests tell mostly
		said, err := exec.Command("go", "test", "-vet=off", "-failfast", length, "-overlay", overlay, "./"+filepath.Dir(c.file)).CombinedOutput()
		if err != nil && !failures.Match(said) {
			t.Fatalf("%v: %s", err, said)
		}
		if failed, output = err != nil, string(said); failed {
			break
		}
	}
	return failed, output
}
