package gobench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"chronoscope/stats"
)

// Calls are the percentiles of single calls of a benchmark's loop, in nanoseconds, without the cost of
// the clock.
type Calls struct {
	// All has the calls as they were. OnCPU has the calls without the time for which other programs had their
	// CPU. Interrupts, and what a hypervisor takes, are in both.
	All   stats.Tails `json:"all"`
	OnCPU stats.Tails `json:"on_cpu"`
	// Preempted counts the calls that lost their CPU to others, Blocked those that waited by themselves, and
	// Moved those that went on in another thread. What others took of these calls is unknown.
	Preempted int `json:"preempted"`
	Blocked   int `json:"blocked"`
	Moved     int `json:"moved"`
	// ClockNs is what the clock added to each call. StepNs is the smallest difference between calls that it can
	// show.
	ClockNs stats.Float `json:"clock_ns"`
	StepNs  stats.Float `json:"step_ns"`
	stats.Judgement
}

// Limits of the measurement of calls.
const (
	callsWanted    = 4000 // 3,688 carry a p99.9
	callsProcesses = 4    // in turn, so that one stretch of noise does not decide alone
	callsWarming   = 100  // the first ones of each process fill caches, and are left out
)

// CallRunner times single calls.
type CallRunner interface {
	// RunCalls times n calls in a process of its own. It returns fewer if the benchmark's loop ends early.
	RunCalls(ctx context.Context, b Benchmark, n int) ([]call, error)
}

// RunCalls implements [CallRunner].
func (p Processes) RunCalls(ctx context.Context, b Benchmark, n int) ([]call, error) {
	b.Binary = b.CallsBinary
	noted := notesOf(b.Binary, n+1)
	run, output, err := p.test(ctx, b, false, noted.env(), "-test.v", "-test.bench="+exactly(b.plainName()), "-test.benchtime="+strconv.Itoa(n+1)+"x")
	if err != nil {
		return nil, err
	}
	if err := run.Failure(); err != nil {
		return nil, &FailedError{Benchmark: b, Why: err.Error(), Output: output}
	}
	calls, err := noted.read()
	if err != nil {
		return nil, &FailedError{Benchmark: b, Why: err.Error(), Output: output}
	}
	return calls, nil
}

// MeasureCalls times single calls of the loop of a benchmark that has been measured: callsWanted calls, or fewer
// if these don't fit into the time of the plan.
func (s *Series) MeasureCalls(ctx context.Context, r CallRunner, plan Plan) error {
	switch {
	case s.Failure != nil || len(s.Repetitions) == 0:
		return nil
	case s.Benchmark.CallsBinary == "":
		s.calls = noCalls()
		return nil
	}
	wall := func(rep Repetition) float64 { return rep.Many.WallNs / float64(rep.Many.N) }
	n := int(float64(plan.MaxTime) / callsProcesses / stats.Median(each(s.Repetitions, wall)))
	n = min(callsWanted/callsProcesses, max(1, n-callsWarming))
	var all []call
	for range callsProcesses {
		calls, err := r.RunCalls(ctx, s.Benchmark, callsWarming+n)
		if failed, ok := errors.AsType[*FailedError](err); ok {
			s.calls = noCalls()
			s.calls.Reasons = []string{failed.reason()}
			return nil
		}
		if err != nil {
			return err
		}
		all = append(all, calls[min(len(calls), callsWarming):]...)
	}
	s.calls = callsOf(all)
	return nil
}

// noCalls returns the result for a benchmark whose single calls can't be timed.
func noCalls() *Calls {
	c := &Calls{All: stats.TailsOf(nil), OnCPU: stats.TailsOf(nil), ClockNs: stats.FloatOf(math.NaN()), StepNs: stats.FloatOf(math.NaN()), Judgement: stats.NewJudgement()}
	c.Lower(stats.Unusable, "no single call was timed: no loop of it runs up to b.N or while b.Loop, one call in each iteration, in the function that has the *testing.B")
	return c
}

// tellsApart is the smallest allowed ratio of a typical call to the smallest difference that the clock shows.
const tellsApart = 2

// callsOf returns the percentiles of calls.
func callsOf(all []call) *Calls {
	if len(all) == 0 {
		return noCalls()
	}
	c := &Calls{Judgement: stats.NewJudgement()}
	leastNs := math.Inf(1)
	var timed, low, middle, high, readings []float64
	for _, x := range all {
		leastNs = math.Min(leastNs, x.timedNs)
		timed, readings = append(timed, x.timedNs), append(readings, x.timedNs, x.chainNs)
	}
	for _, x := range all {
		least, most := x.boundsNs(leastNs)
		low, middle, high = append(low, least), append(middle, (least+most)/2), append(high, most)
		switch {
		case !x.sameThread:
			c.Moved++
		case x.voluntary > 0:
			c.Blocked++
		case x.involuntary > 0:
			c.Preempted++
		}
	}
	cost := clockCost(all)
	cost.Value, cost.Lo, cost.Hi = -cost.Value, -cost.Hi, -cost.Lo
	step := stepOf(readings)
	coarse := math.Max(step, cost.Hi-cost.Lo)
	c.All = stats.TailsOfReadings(timed, step).Shifted(cost)
	cost.Lo, cost.Hi = cost.Lo-step, cost.Hi+step
	c.OnCPU = stats.TailsBetween(low, middle, high).Shifted(cost)
	c.ClockNs = stats.FloatOf(-cost.Value)
	c.StepNs = stats.FloatOf(coarse)
	if median := c.All.Percentiles[0].Value; median < tellsApart*coarse {
		c.Lower(stats.Unusable, "a call takes %s, and the clock tells single calls apart by %s: time more work in a call", stats.Duration(median, 2), stats.Duration(coarse, 2))
	}
	if unknown := c.Moved + c.Blocked; float64(unknown) > 0.001*float64(len(all)) {
		c.Lower(stats.Suspect, "%d of %d calls blocked, or went on in another thread: what others took of these is not known, and their intervals allow for it", unknown, len(all))
	}
	return c
}

// stepOf returns the least distance between different readings.
func stepOf(readings []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(readings)))
	step := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		step = math.Min(step, sorted[i]-sorted[i-1])
	}
	if math.IsInf(step, 1) {
		return sorted[0] // all the same
	}
	return step
}

// String writes both distributions.
func (c *Calls) String() string { return fmt.Sprintf("%s; on its CPU %s", c.All, c.OnCPU) }
