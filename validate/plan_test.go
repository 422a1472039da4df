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

// The plans keep to the time that they promise, with a reserve of two fifths for what the estimate
// leaves out and for other programs on the machine.
func TestPlansFit(t *testing.T) {
	for name, c := range map[string]struct {
		plan Plan
		most time.Duration
	}{"default": {DefaultPlan, 8 * time.Minute}, "quick": {QuickPlan, time.Minute}, "full": {FullPlan, 100 * time.Minute}} {
		if err := c.plan.Check(); err != nil {
			t.Error(name, err)
		}
		tasks, _ := c.plan.tasks(Schemes())
		var sum float64
		for _, task := range tasks {
			sum += task.costNs
		}
		for _, r := range c.plan.Regimes { // includes tracing the CPU, and fitting a line for each work
			sum += float64(watching(r)) + r.slowdown()*float64(len(c.plan.Works))*fitted*fitRepeats*batchNs
		}
		t.Logf("%s: %d tasks, %v", name, len(tasks), time.Duration(sum))
		if sum > float64(c.most)/1.4 {
			t.Errorf("%s takes %v", name, time.Duration(sum))
		}
		for _, r := range c.plan.Regimes {
			longest := c.plan.Durations[len(c.plan.Durations)-1]
			if name == "default" && r.Load > 4 {
				longest = 300 * ms
			}
			if !slices.ContainsFunc(tasks, func(t task) bool {
				return t.Work == Chain && t.Regime == r && t.Duration == longest && t.program == ""
			}) {
				t.Errorf("%s: no chain of %v beside %s", name, longest, r)
			}
		}
	}
}

func TestTasks(t *testing.T) {
	p := DefaultPlan
	p.Regimes, p.Durations, p.Works = Regimes(nil, []int{1, 10}), []time.Duration{10 * ms, time.Second}, Works
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
	if got, want := names(tasks), "none: chain, 10ms; none: ints, 10ms; none: traced, 10ms; none: program, 10ms; none: program (sleep), 10ms; none: hyperfine, 10ms; "+
		"none: chain, 1s; none: ints, 1s; none: traced, 1s; none: program, 1s; none: hyperfine, 1s; loops 10: chain, 10ms; loops 10: ints, 10ms; loops 10: program, 10ms; loops 10: program (sleep), 10ms; loops 10: hyperfine, 10ms"; got != want {
		t.Errorf("%s", got)
	}
	if got, want := names(left), "loops 10: chain, 1s; loops 10: ints, 1s; loops 10: program, 1s; loops 10: hyperfine, 1s"; got != want {
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
		"load":             func(p *Plan) { p.Regimes = Regimes(nil, []int{0}) },
		"a load":           func(p *Plan) { p.Regimes = Regimes(nil, []int{1000}) },
		"a load twice":     func(p *Plan) { p.Regimes = Regimes(nil, []int{1, 11, 1}) },
		"few neighbours":   func(p *Plan) { p.Regimes = []Regime{{1, Bursty}} },
		"a duration twice": func(p *Plan) { p.Durations = milliseconds(1, 1) },
		"a kind twice":     func(p *Plan) { p.Kinds = []Kind{Sleep, Sleep} },
		"a work twice":     func(p *Plan) { p.Works = []Work{Ints, Ints} },
		"nothing":          func(p *Plan) { p.Works = nil },
		"traced":           func(p *Plan) { p.Works, p.Regimes = []Work{Traced}, Regimes(nil, []int{2, 11}) },
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

// Loads without neighbours mean loops. Neighbours without loads get their usual loads.
func TestRegimes(t *testing.T) {
	for _, c := range []struct {
		neighbours []Neighbours
		loads      []int
		want       string
	}{
		{nil, []int{1, 4, 11}, "[none loops 4 loops 11]"},
		{[]Neighbours{NoNeighbours, Bursty, Builds}, nil, "[none bursty 4 build 2]"},
		{[]Neighbours{NoNeighbours, Bursty}, []int{1, 2, 11}, "[none bursty 2 bursty 11]"},
		{[]Neighbours{Wakers}, []int{1}, "[wakers 2]"},
	} {
		if got := format(Regimes(c.neighbours, c.loads)); got != c.want {
			t.Errorf("%v at %v: %s, want %s", c.neighbours, c.loads, got, c.want)
		}
	}
	for _, h := range neighbourhoods {
		if n, err := ParseNeighbours(string(h.name)); err != nil || n != h.name {
			t.Errorf("%s: %q %v", h.name, n, err)
		}
	}
	if _, err := ParseNeighbours("quiet"); err == nil || !strings.Contains(err.Error(), "none, loops, bursty, wakers, memory, build, changing") {
		t.Error(err)
	}
	if (Regime{4, Bursty}).Endless() || !(Regime{4, ""}).Endless() || !(Regime{1, NoNeighbours}).Endless() {
		t.Error("bursty neighbours compute without end, or loops do not")
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
	s.Samples[2].BeforeNs, s.Samples[2].AfterNs = 6, 6 // one sample is fast by accident
	if marks := s.unsteady(); len(marks) > 0 {
		t.Errorf("%q", marks)
	}
	s.Samples[7].BeforeNs = 6
	if marks := s.unsteady(); len(marks) != 1 || !strings.Contains(marks[0], "faster by 40 %") {
		t.Errorf("%q", marks)
	}
	s.Expected = stats.Estimate{Value: 100, Lo: 88, Hi: 100}
	if marks := s.unsteady(); len(marks) != 1 || !strings.Contains(marks[0], "± 6.0 %") {
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
