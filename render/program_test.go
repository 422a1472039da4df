package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// programs returns a document like one of a measurement.
func programs() record.Programs {
	code := 0
	wait, rss := stats.FloatOf(3e6), int64(1888256)
	run := func(wallNs float64) program.RunReport {
		return program.RunReport{WallNs: wallNs, UserNs: 90e6, SystemNs: 1e6, LowNs: stats.FloatOf(wallNs - 4e6), HighNs: stats.FloatOf(wallNs - 3e6), RunqueueWaitNs: wait,
			MaxRSSBytes: &rss, ExitCode: &code, VoluntarySwitches: new(int64(3)), InvoluntarySwitches: new(int64(17)), MinorFaults: new(int64(77)), MajorFaults: new(int64(0))}
	}
	estimate := func(v, off float64) stats.Estimate {
		return stats.Estimate{Value: v, Lo: v - off, Hi: v + off, Unit: "ns", Statistic: "median", N: 3}
	}
	rejected := run(900e6)
	why := "it was traced"
	rejected.Rejected, rejected.Why = true, &why
	a := program.Report{
		Command: "work --size 1", Parameters: map[string]string{"size": "1"}, Summary: program.Summary{Estimate: estimate(98.5e6, 0.4e6), Wall: estimate(102e6, 1e6), CPU: estimate(91e6, 1e6), RunqueueWaitNs: wait, MaxRSSBytes: &rss, Method: program.CycleTime, Explanation: "it runs for 98.5 ms"}, Judgement: stats.Judgement{Verdict: stats.Trusted, Reasons: []string{}},
		Runs:     []program.RunReport{rejected, run(101e6), run(102e6), run(103e6), run(140e6)},
		Outliers: []program.Outlier{{Run: 4, Causes: []string{"preempted: 17 times, usually 2"}}},
	}
	b := a
	b.Command, b.Parameters, b.Verdict, b.Reasons = "work|more", map[string]string{}, stats.Suspect, []string{"the interval is wide, for a reason that takes more than a line of text to be told to who reads it on a terminal"}
	b.Estimate, b.Outliers = estimate(49e6, 9e6), []program.Outlier{}
	return record.Programs{
		Header:  record.Header{Machine: &machine.Machine{CPUs: 2, OS: "linux", Arch: "amd64"}},
		Results: []program.Report{a, b},
		Pairs:   []stats.Pair{{A: a.Command, B: b.Command, Ratio: stats.Estimate{Value: 0.497, Lo: 0.45, Hi: 0.55}, PValue: stats.FloatOf(0.0021), Outcome: "faster"}},
	}
}

// The text contains everything that a person needs, in lines that fit on a terminal.
func TestProgramsText(t *testing.T) {
	d := programs()
	one := d
	one.Results, one.Pairs = d.Results[:1], nil
	for name, c := range map[string]struct {
		document record.Programs
		want     []string
	}{
		"one": {one, []string{
			"work --size 1\n  time      98.50 ms ± 0.40 ms alone on the machine (98.10 to 98.90 ms, 3 runs)\n",
			"  wall      102 ms (101.0 to 140.0 ms), as it was\n", "  CPU       91.0 ms (89.2 %): user 90.0 ms, system 1.00 ms\n",
			"3.00 ms for a CPU, ? blocked; switches: 17 involuntary, 3 voluntary", "1.80 MiB at most; page faults: 77 minor, 0 major",
			"  method    cycle-time: it runs for 98.5 ms\n", "  verdict   trusted\n",
			"  outliers  run 5 (140.0 ms): preempted: 17 times, usually 2\n",
		}},
		"two": {d, []string{
			"work --size 1  98.50 ms  0.41 %", "work|more", "     4  trusted", "     4  suspect",
			"faster: work|more takes 0.4970 times as long as work --size 1 (95 % interval 0.4500 to 0.5500, p = 0.0021)\n",
			"\ncycle-time: it runs for 98.5 ms\n", "\nsuspect work|more: the interval is wide",
			"work --size 1\n  outliers  run 5 (140.0 ms): preempted",
		}},
	} {
		var out bytes.Buffer
		showText(&out, c.document, Style{Width: 130})
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, &out)
			}
		}
		for l := range strings.SplitSeq(out.String(), "\n") {
			if n := utf8.RuneCountInString(l); n > 130 {
				t.Errorf("%s: a line of %d characters: %s", name, n, l)
			}
		}
	}
}

// The output of a measured program can't control the terminal.
func TestFailureIsPrintable(t *testing.T) {
	d := programs()
	failure, ending := "exit status 7", "red \x1b[31mtext\nbell \a and\rmore\t."
	d.Results, d.Pairs = d.Results[:1], nil
	d.Results[0].Failure, d.Results[0].StderrEnd = &failure, &ending
	var out bytes.Buffer
	showText(&out, d, Style{})
	if strings.ContainsAny(out.String(), "\x1b\a\r") {
		t.Errorf("%q", out.String())
	}
	for _, want := range []string{"failed    exit status 7\n", "[31mtext\n", "bell "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestProgramsPOSIX(t *testing.T) {
	d := programs()
	d.Results = d.Results[:1]
	d.Results[0].Runs = d.Results[0].Runs[1:2]
	var out bytes.Buffer
	out.WriteString(view.ProgramsPOSIX(d))
	if out.String() != "real 0.101000\nuser 0.090000\nsys 0.001000\n" {
		t.Errorf("%q", &out)
	}
}

func TestProgramsCSV(t *testing.T) {
	var out bytes.Buffer
	if err := CSV(&out, programs()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	cells := map[string]string{}
	for i, name := range rows[0] {
		cells[name] = rows[2][i]
	}
	for name, want := range map[string]string{
		"command": "work|more", "estimate.value": "4.9e+07", "estimate.lo": "4e+07", "wall.hi": "1.03e+08", "cpu.unit": "ns",
		"estimate.confidence": "0.95", "runqueue_wait_ns": "3e+06", "blocked_ns": "", "max_rss_bytes": "1888256",
		"method": "cycle-time", "failure": "", "verdict": "suspect",
	} {
		if got, ok := cells[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// There is one line for each run that counts, and names stay distinct.
func TestGoBenchPrograms(t *testing.T) {
	d := programs()
	d.Machine.CPU = "a CPU"
	d.Results[1].Command = "work -\x1b-size/1"
	d.Results[1].Parameters = map[string]string{"size": "1"}
	d.Results[0].Command = "work --size 1"
	d.Results = append(d.Results, d.Results[0])
	var out bytes.Buffer
	if err := GoBenchPrograms(&out, d); err != nil {
		t.Fatal(err)
	}
	want := "goos: linux\ngoarch: amd64\ncpu: a CPU\n"
	for _, name := range []string{"work_--size_1/size=1", "work_-_-size_1/size=1", "work_--size_1/size=1#01"} {
		for _, wall := range []int{101, 102, 103, 140} {
			want += fmt.Sprintf("BenchmarkRun/command=%s\t1\t%d500000 ns/op\t%d000000 wall-ns/op\t91000000 cpu-ns/op\t3000000 wait-ns/op\t1888256 peak-RSS-bytes\n", name, wall-4, wall)
		}
	}
	if out.String() != want {
		t.Errorf("\n%s\nwant\n%s", &out, want)
	}
}
