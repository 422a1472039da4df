package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
)

// Topics of figures.
const (
	topicBest      = "best clock"
	topicClock     = "clock"
	topicCounter   = "counter"
	topicNoise     = "noise"
	topicProgram   = "program"
	topicBenchmark = "benchmark"
	topicEvent     = "event"
	topicMethod    = "method"
	topicBytecode  = "instruction"
)

// Directions: which values are better.
const (
	lower   = "lower"
	higher  = "higher"
	neither = ""
)

// key is what figures of several subjects have in common.
type key struct{ topic, name, quantity string }

// figure is one value of a document.
type figure struct {
	key
	better string
	record.ComparisonValue
	samples []float64 // that the value is made of, where they are known
	// repeatability is how far the value strays from one measurement to the next, in its
	// unit, where it has no interval that says so; NaN where that is not known.
	repeatability float64
	// work is what was done, where values of other work under the same name have nothing in
	// common; empty where the name says it.
	work string
	// standIn is for another quantity of the same name: the figure is of use only where
	// that one can't be had of all subjects.
	standIn string
}

// figuresOf are those of a document, in its order.
func figuresOf(d record.Document) []figure {
	switch d := d.(type) {
	case record.Card:
		return slices.Concat(bestFigures(d.Ranking), clockFigures(d.Ranking), counterFigures(d.Trust), noiseFigures(d.Traces))
	case record.Clocks:
		return slices.Concat(bestFigures(d.Ranking), clockFigures(d.Ranking))
	case record.Fidelity:
		return counterFigures(d.Trust)
	case record.Activity:
		return noiseFigures(d.Traces)
	case record.Programs:
		return programFigures(d.Results)
	case record.Bench:
		return benchFigures(d.Results)
	case record.SlowClock:
		return eventFigures(d)
	case record.Bytecode:
		return instructionFigures(d.Instructions)
	case record.Validation:
		return methodFigures(d)
	}
	return nil
}

// measured is the figure of an estimate.
func measured(k key, better string, e stats.Estimate, v stats.Verdict, reasons []string) figure {
	return figure{
		key: k, better: better, repeatability: math.NaN(),
		ComparisonValue: record.ComparisonValue{Estimate: e, Verdict: v, Reasons: append([]string{}, reasons...)},
	}
}

// bare is the figure of a number that has no interval. There is none where the number is
// not known.
func bare(k key, better, unit string, x *float64, v stats.Verdict, reasons []string) []figure {
	if x == nil {
		return nil
	}
	e := stats.Estimate{Value: *x, Lo: math.NaN(), Hi: math.NaN(), Unit: unit, Statistic: k.quantity, N: 1}
	return []figure{measured(k, better, e, v, reasons)}
}

// qualityRepeatability is by how much a clock's quality differs from one measurement to
// the next: clocks that are nearer to one another are tied in the ranking, too.
const qualityRepeatability = 0.015

// clockFigures are those of each clock, the best first: its quality, and what it rests on,
// in time and in cycles. Two machines are told apart fairly in cycles alone: 1,000 ns at
// 1 GHz are better than 700 ns at 2 GHz (Kuperberg 2011a, section 1 and 4.1).
func clockFigures(r record.Ranking) (all []figure) {
	clocks := slices.Clone(r.Clocks)
	slices.SortStableFunc(clocks, func(a, b record.Clock) int { return cmp.Compare(orZero(b.Quality), orZero(a.Quality)) })
	for _, c := range clocks {
		of := func(quantity string) key { return key{topicClock, c.Name, quantity} }
		add := func(quantity, better, unit string, x *float64) {
			all = append(all, bare(of(quantity), better, unit, x, c.Verdict, c.Reasons)...)
		}
		quality := bare(of("quality"), higher, "share", c.Quality, c.Verdict, c.Reasons)
		for i := range quality {
			quality[i].repeatability = qualityRepeatability
		}
		all = append(all, quality...)
		if stats.Finite(c.Accuracy.Value) != nil {
			all = append(all, measured(of("accuracy"), lower, c.Accuracy, c.Verdict, c.Reasons))
		}
		add("cost", lower, "ns", c.Cost.MedianNs)
		if c.Cycles.Accuracy != nil && c.Accuracy.Value > 0 {
			inCycles := c.Accuracy.Scaled(*c.Cycles.Accuracy/c.Accuracy.Value, "cycles")
			all = append(all, measured(of("accuracy in cycles"), lower, inCycles, c.Verdict, c.Reasons))
		}
		add("cost in cycles", lower, "cycles", c.Cycles.Cost)
		add("spread", higher, "share", c.Spread)
	}
	return all
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// bestFigures are the qualities of the clocks to use, which may be others on each machine.
func bestFigures(r record.Ranking) (all []figure) {
	for _, best := range []struct {
		purpose string
		name    *string
	}{{"wall", r.Best.Wall}, {"cpu", r.Best.CPU}, {"timestamp", r.Best.Timestamp}, {"counter", r.Best.Counter}} {
		i := slices.IndexFunc(r.Clocks, func(c record.Clock) bool { return best.name != nil && c.Name == *best.name })
		if i < 0 {
			continue
		}
		c := r.Clocks[i]
		for _, f := range bare(key{topicBest, best.purpose, "quality"}, higher, "share", c.Quality, c.Verdict, c.Reasons) {
			f.Of, f.repeatability = c.Name, qualityRepeatability
			all = append(all, f)
		}
	}
	return all
}

// counterFigures are rates and errors of counters.
func counterFigures(t record.Trust) (all []figure) {
	for _, s := range t.Sandwiches {
		name := s.Counter + " in " + s.Workload
		if stats.Finite(s.Rate.Value) != nil {
			all = append(all, measured(key{topicCounter, name, "rate"}, neither, s.Rate, s.Verdict, s.Reasons))
		}
		all = append(all, bare(key{topicCounter, name, "largest error"}, lower, "ppm", s.MaxErrorPPM, s.Verdict, s.Reasons)...)
	}
	return all
}

// noiseFigures are how much of the time the traced CPUs were lost, in all and to each
// cause. CPUs of two machines are not the same ones, so that it is the mean over them.
func noiseFigures(traces []record.Trace) (all []figure) {
	if len(traces) == 0 {
		return nil
	}
	lost, watchedNs := map[string]float64{}, 0.0
	var tick *record.Interrupts
	for _, t := range traces {
		if t.ActiveRatio == nil {
			continue
		}
		watchedNs += t.DurationNs
		for cause, total := range t.Causes {
			lost[cause] += total.TotalNs
		}
		lost["all"] += (1 - *t.ActiveRatio) * t.DurationNs
		if tick == nil {
			tick = t.Interrupts
		}
	}
	if !(watchedNs > 0) {
		return nil
	}
	share := func(cause string) {
		x := lost[cause] / watchedNs
		all = append(all, bare(key{topicNoise, cause, "time lost"}, lower, "share", &x, stats.Trusted, nil)...)
		delete(lost, cause)
	}
	share("all")
	for _, cause := range slices.Sorted(maps.Keys(lost)) {
		share(cause)
	}
	if tick != nil {
		all = append(all, measured(key{topicNoise, "timer-tick", "period"}, neither, tick.Period, stats.Trusted, nil))
		all = append(all, bare(key{topicNoise, "timer-tick", "cost"}, lower, "ns", tick.MedianCostNs, stats.Trusted, nil)...)
	}
	return all
}

// Quantities of programs and benchmarks. A wall time stands in for the time on a machine
// of its own where one of the subjects has no other.
const (
	quantityTime = "time"
	quantityWall = "wall time"
	quantityCPU  = "CPU time"
)

// timing adds an estimate with its samples, where there is one.
func timing(all []figure, k key, e stats.Estimate, v stats.Verdict, reasons []string, samples []float64) []figure {
	if !(e.Value > 0) || e.N == 0 || math.IsInf(e.Value, 0) {
		return all
	}
	f := measured(k, lower, e, v, reasons)
	f.samples = samples
	if k.quantity == quantityWall {
		f.standIn = quantityTime
	}
	return append(all, f)
}

func programFigures(results []record.Program) (all []figure) {
	for _, p := range results {
		var alone, wall []float64
		for _, r := range p.Counted() {
			wall = append(wall, r.WallNs)
			if r.LowNs != nil && r.HighNs != nil {
				alone = append(alone, (*r.LowNs+*r.HighNs)/2)
			}
		}
		name := programName(p)
		all = timing(all, key{topicProgram, name, quantityTime}, p.Estimate, p.Verdict, p.Reasons, alone)
		all = timing(all, key{topicProgram, name, quantityWall}, p.Wall, p.Verdict, p.Reasons, wall)
		all = timing(all, key{topicProgram, name, quantityCPU}, p.CPU, p.Verdict, p.Reasons, nil)
	}
	return all
}

// programName is a command with its parameters.
func programName(p record.Program) string {
	var parameters []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		parameters = append(parameters, name+"="+p.Parameters[name])
	}
	if len(parameters) == 0 {
		return p.Command
	}
	return fmt.Sprintf("%s (%s)", p.Command, strings.Join(parameters, ", "))
}

func benchFigures(results []record.Benchmark) (all []figure) {
	several := onSeveralProcs(results)
	for _, b := range results {
		var times, walls []float64
		for _, r := range b.Repetitions {
			times = append(times, r.TimeNs)
		}
		for _, r := range b.Runs {
			if 2*r.Iterations > b.Iterations { // shorter runs hold the start of the process
				walls = append(walls, r.TimedNs/float64(r.Iterations))
			}
		}
		name := benchmarkName(b)
		if several[name] {
			name += fmt.Sprintf("-%d", b.Procs)
		}
		all = timing(all, key{topicBenchmark, name, quantityTime}, b.Estimate, b.Verdict, b.Reasons, times)
		all = timing(all, key{topicBenchmark, name, quantityWall}, b.Wall, b.Verdict, b.Reasons, walls)
		for _, m := range b.Metrics {
			direction := lower
			if strings.HasSuffix(m.Unit, "/s") {
				direction = higher
			}
			all = append(all, bare(key{topicBenchmark, name, m.Unit}, direction, m.Unit, &m.Value, b.Verdict, b.Reasons)...)
		}
	}
	return all
}

// onSeveralProcs are the names of benchmarks that ran with several numbers of processors
// (go test -cpu): these are not the same benchmark. Elsewhere that number is no part of the
// name, since machines differ in it.
func onSeveralProcs(results []record.Benchmark) map[string]bool {
	procs, several := map[string]int{}, map[string]bool{}
	for _, b := range results {
		name := benchmarkName(b)
		if other, known := procs[name]; known && other != b.Procs {
			several[name] = true
		}
		procs[name] = b.Procs
	}
	return several
}

func benchmarkName(b record.Benchmark) string {
	name := strings.TrimPrefix(b.Name, "Benchmark")
	if b.Package != "" {
		name = b.Package + "." + name
	}
	if b.Revision != "" {
		name += " at " + b.Revision
	}
	return name
}

// eventFigures are what each method made of the event. Events of other lengths are not the
// same work.
func eventFigures(d record.SlowClock) (all []figure) {
	for _, e := range d.Estimates {
		all = timing(all, key{topicEvent, e.Method + " with " + e.Clock, quantityTime}, e.Estimate, e.Verdict, e.Reasons, nil)
	}
	for i := range all {
		all[i].work = fmt.Sprintf("an event of %v", time.Duration(d.EventNs))
	}
	return all
}

func instructionFigures(instructions []record.BytecodeInstruction) (all []figure) {
	for _, i := range instructions {
		all = timing(all, key{topicBytecode, i.Mnemonic + " " + i.Form, quantityTime}, i.Time, i.Verdict, i.Reasons, nil)
	}
	return all
}

// methodFigures are how often a method's interval held, and up to which duration it was
// good to a tolerance.
func methodFigures(d record.Validation) (all []figure) {
	for _, c := range d.Coverage {
		if c.Cells == 0 {
			continue
		}
		covered := float64(c.Covered) / float64(c.Cells)
		all = append(all, bare(key{topicMethod, fmt.Sprintf("%s at load %d", c.Scheme, c.Load), "coverage"}, higher, "share", &covered, stats.Trusted, nil)...)
	}
	for _, r := range d.Reach {
		name := fmt.Sprintf("%s at load %d, within %g %%", r.Scheme, r.Load, 100*r.Tolerance)
		all = append(all, bare(key{topicMethod, name, "reach"}, higher, "ns", r.MaxDurationNs, stats.Trusted, nil)...)
	}
	return all
}
