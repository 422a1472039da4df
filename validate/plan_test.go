package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

func format(v any) string { return fmt.Sprint(v) }

// The plans keep to the time that they promise, with two fifths to spare for what is not in
// the estimate, and for what else runs on the machine.
func TestPlansFit(t *testing.T) {
	for name, c := range map[string]struct {
		plan Plan
		most time.Duration
	}{"default": {DefaultPlan, 10 * time.Minute}, "quick": {QuickPlan, time.Minute}, "full": {FullPlan, 100 * time.Minute}} {
		if err := c.plan.Check(); err != nil {
			t.Error(name, err)
		}
		tasks, _ := c.plan.tasks(Schemes())
		var sum float64
		for _, task := range tasks {
			sum += task.costNs
		}
		for _, load := range c.plan.Loads { // the CPU is looked at, and a line fitted for each work
			sum += float64(watching(load)) + float64(load)*float64(len(c.plan.Works))*fitted*fitRepeats*batchNs
		}
		t.Logf("%s: %d tasks, %v", name, len(tasks), time.Duration(sum))
		if sum > float64(c.most)/1.4 {
			t.Errorf("%s takes %v", name, time.Duration(sum))
		}
		for _, load := range c.plan.Loads {
			longest := c.plan.Durations[len(c.plan.Durations)-1]
			if !slices.ContainsFunc(tasks, func(t task) bool {
				return t.Work == Chain && t.Load == load && t.Duration == longest && t.program == ""
			}) {
				t.Errorf("%s: no chain of %v at load %d", name, longest, load)
			}
		}
	}
}

func TestTasks(t *testing.T) {
	p := DefaultPlan
	p.Loads, p.Durations, p.Works = []int{1, 10}, []time.Duration{10 * ms, time.Second}, Works
	p.LongestCell, p.LongestOther, p.Kinds = 12*time.Second, 9*time.Second, []Kind{Compute, Sleep}
	all := Schemes()
	tasks, left := p.tasks(all)
	names := func(tasks []task) string {
		var names []string
		for _, t := range tasks {
			names = append(names, t.words())
		}
		return strings.Join(names, "; ")
	}
	if got, want := names(tasks), "load 1: chain, 10ms; load 1: ints, 10ms; load 1: traced, 10ms; load 1: program of compute, 10ms; load 1: program of sleep, 10ms; load 1: hyperfine of compute, 10ms; "+
		"load 1: chain, 1s; load 1: ints, 1s; load 1: traced, 1s; load 1: program of compute, 1s; load 1: hyperfine of compute, 1s; load 10: chain, 10ms; load 10: ints, 10ms; load 10: program of compute, 10ms; load 10: program of sleep, 10ms; load 10: hyperfine of compute, 10ms"; got != want {
		t.Errorf("%s", got)
	}
	if got, want := names(left), "load 10: chain, 1s; load 10: ints, 1s; load 10: program of compute, 1s; load 10: hyperfine of compute, 1s"; got != want {
		t.Errorf("left: %s", got)
	}
	p.Works = []Work{Chain}
	only, _ := Choose([]string{OwnProgram})
	if tasks, _ := p.tasks(only); len(tasks) != 5 {
		t.Errorf("programs alone: %s", names(tasks))
	}
}

func TestPlanCheck(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"load":             func(p *Plan) { p.Loads = []int{0} },
		"a load":           func(p *Plan) { p.Loads = []int{1000} },
		"a load twice":     func(p *Plan) { p.Loads = []int{1, 11, 1} },
		"a duration twice": func(p *Plan) { p.Durations = milliseconds(1, 1) },
		"a kind twice":     func(p *Plan) { p.Kinds = []Kind{Sleep, Sleep} },
		"a work twice":     func(p *Plan) { p.Works = []Work{Ints, Ints} },
		"nothing":          func(p *Plan) { p.Works = nil },
		"traced":           func(p *Plan) { p.Works, p.Loads = []Work{Traced}, []int{2, 11} },
		"short":            func(p *Plan) { p.Works, p.Durations = []Work{Traced}, milliseconds(1, 3) },
		"duration":         func(p *Plan) { p.Durations = []time.Duration{time.Hour} },
		"trials":           func(p *Plan) { p.MinTrials = 0 },
		"scheme":           func(p *Plan) { p.Schemes = []string{"sourc"} },
	} {
		p := DefaultPlan
		change(&p)
		if err := p.Check(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestChoose(t *testing.T) {
	for text, want := range map[string]int{"source": 10, "times": 1, "kbest,times": 2, "source-k3": 2, "gettimeofday-k3-compensated": 1} {
		chosen, err := Choose(strings.Split(text, ","))
		if err != nil || len(chosen) != want {
			t.Errorf("%q: %d schemes, %v", text, len(chosen), err)
		}
	}
	if all, err := Choose(nil); err != nil || len(all) != len(Schemes()) {
		t.Errorf("%d schemes, %v", len(all), err)
	}
}

func TestUnsteady(t *testing.T) {
	s := &Stream{}
	for i := range 10 {
		s.Samples = append(s.Samples, Sample{BeforeNs: 10 + float64(i%3)/10, AfterNs: 10})
	}
	if marks := s.unsteady(); len(marks) > 0 {
		t.Errorf("%q", marks)
	}
	for i := 5; i < 10; i++ {
		s.Samples[i].BeforeNs, s.Samples[i].AfterNs = 11, 11
	}
	if marks := s.unsteady(); len(marks) != 1 || !strings.Contains(marks[0], "changed its speed") {
		t.Errorf("%q", marks)
	}
	for i := range s.Samples {
		s.Samples[i].BeforeNs, s.Samples[i].AfterNs = 10, 10
	}
	s.Samples[2].BeforeNs, s.Samples[2].AfterNs = 6, 6 // by accident
	if marks := s.unsteady(); len(marks) > 0 {
		t.Errorf("%q", marks)
	}
	s.Samples[7].BeforeNs = 6
	if marks := s.unsteady(); len(marks) != 1 || !strings.Contains(marks[0], "faster by 40 %") {
		t.Errorf("%q", marks)
	}
	s.Expected = stats.Estimate{Value: 100, Lo: 88, Hi: 100}
	if marks := s.unsteady(); len(marks) != 1 || !strings.Contains(marks[0], "± 6 %") {
		t.Errorf("%q", marks)
	}
}

func TestReadHyperfine(t *testing.T) {
	a := readHyperfine([]byte(`Benchmark 1
{"results": [{"command": "x", "mean": 0.1, "stddev": 0.002, "median": 0.1, "times": [0.098, 0.102]}]}`))
	if math.Abs(a.Estimate.Value-1e8) > 1 || !math.IsNaN(a.Estimate.Lo) || !math.IsNaN(a.Estimate.Hi) || a.Estimate.N != 2 {
		t.Errorf("%+v", a)
	}
	for _, text := range []string{"", "{", `{"results": []}`} {
		if a := readHyperfine([]byte(text)); a.Verdict != "unusable" {
			t.Errorf("%q: %+v", text, a)
		}
	}
}
