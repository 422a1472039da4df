package gobench

import (
	"cmp"

	"chronoscope/stats"
)

// Observation is what one run of a benchmark showed: a process that calls it with b.N = N, after a first call
// with b.N = 1.
type Observation struct {
	N int
	// stopped says that this process was stopped during the run.
	stopped bool
	// TimedNs is the time of the N iterations by the benchmark's own timer. It was printed rounded, and may be
	// off by RoundingNs.
	TimedNs, RoundingNs float64
	// OwnTime says that the benchmark reports a time of its own as ns/op (b.ReportMetric), and not that of its timer. False
	// if unknown.
	OwnTime bool
	// WallNs, CPUNs, InvoluntarySwitches and the fields up to WaitNs are those of the N iterations alone if the
	// process read its own counters ([Benchmark.Accounts]), and else of the whole process.
	WallNs, CPUNs       float64
	InvoluntarySwitches float64
	// MajorFaults is the number of times that the process waited for memory from a disk.
	MajorFaults float64
	// WaitNs is the run-queue wait of the threads that did the work; NaN if unknown. SelfWaitNs is the part of it
	// that is certainly not due to other programs or to a CPU quota, as these programs had less CPU time: the threads waited
	// for one another, or for an idle CPU to wake up, as they would on a machine of its own.
	WaitNs, SelfWaitNs float64
	// Throttled says that the CPU quota of its control groups was used up meanwhile, which stops all of their threads.
	Throttled bool
	// OneGoroutine says that one goroutine did all of the work, except collecting garbage, and Single that no garbage was
	// collected either. False if unknown.
	OneGoroutine, Single bool
	// Starts is how many times the timer started until the iterations began: the setup may stop it. 0 if unknown.
	Starts int
	// Signals is how many times a signal stopped a traced process. StoppedNs is how long the process stood
	// still for the tracer.
	Signals   int
	StoppedNs float64
	// ProcessNs is the time of the whole process by the clock; 0 if that is WallNs.
	ProcessNs float64
	// Collections is the number of garbage collections, if known.
	Collections float64
	// ExactAllocs says that allocs/op is what the testing package counted, not rounded, and ExactBytes says so of B/op.
	ExactAllocs, ExactBytes bool
	// Procs is how many threads could run Go code at a time (GOMAXPROCS).
	Procs int
	// SlowedBefore and SlowedAfter are the shares by which independent instructions took longer than on cores
	// that nothing shares, just before and just after the process; NaN if unknown.
	SlowedBefore, SlowedAfter float64
	// OthersNs is the CPU time of other processes meanwhile; NaN if unknown. Began and Around are looks at that of all processes
	// before and after the run, for when it is.
	OthersNs      float64
	Began, Around Around
	// Metrics has what else the benchmark reported per operation.
	Metrics []Metric
	// Apart is set if the loop stops its timer, so that each call was timed by itself.
	Apart *Apart
}

// exact reports whether a metric is what the testing package counted, not rounded.
func (o Observation) exact(unit string) bool {
	return unit == AllocsUnit && o.ExactAllocs || unit == bytesUnit && o.ExactBytes
}

// alone reports whether the counters are those of the iterations alone.
func (o Observation) alone() bool { return o.ProcessNs > o.WallNs }

// Apart bounds the time of all calls of a run, each timed by itself, without the cost of the clock. As far as
// known, it is also without the time for which the calls had lost their CPU.
type Apart struct{ LowNs, HighNs float64 }

// Metric is a figure that a benchmark reports per operation, beside its time.
type Metric struct {
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	// Lo and Hi are the 95 % interval of the median of the repetitions, or their range if these are
	// too few for one; missing for a single repetition.
	Lo stats.Float `json:"lo,omitzero"`
	Hi stats.Float `json:"hi,omitzero"`
}

// Repetition is a pair of runs, of few and of many iterations.
type Repetition struct {
	Few, Many Observation
	// Least is a run of two iterations, which shows what a call takes beyond its iterations. Its N is 0 if
	// there was none: then Few has hardly more iterations.
	Least Observation
	// Traced says that the runs were traced, so that the wait of all threads is known.
	Traced bool
	// Layout is the number of the random order in which the functions lay, from 1; 0 is the usual order.
	Layout int
}

func (o Observation) apart() Apart {
	if o.Apart == nil {
		return Apart{o.TimedNs, o.TimedNs}
	}
	return *o.Apart
}

// single reports whether one goroutine did all of the work.
func (r Repetition) single() bool { return r.Few.Single && r.Many.Single }

// iterations returns the number of iterations by which the runs differ.
func (r Repetition) iterations() float64 { return float64(r.Many.N - r.Few.N) }

// perIteration returns by how much a quantity grows with an iteration.
func (r Repetition) perIteration(of func(Observation) float64) float64 {
	return (of(r.Many) - of(r.Few)) / r.iterations()
}

func (r Repetition) few() Observation  { return r.Few }
func (r Repetition) many() Observation { return r.Many }

func timedNs(o Observation) float64   { return o.TimedNs }
func wallNs(o Observation) float64    { return o.WallNs }
func processNs(o Observation) float64 { return cmp.Or(o.ProcessNs, o.WallNs) }
func cpuNs(o Observation) float64     { return o.CPUNs }
func waitNs(o Observation) float64    { return o.WaitNs }
func delayNs(o Observation) float64   { return o.WaitNs - o.SelfWaitNs }
func stoppedNs(o Observation) float64 { return o.StoppedNs }
func switches(o Observation) float64  { return o.InvoluntarySwitches }

// roundingNs returns how far a time per iteration may be off because it was printed rounded.
func (r Repetition) roundingNs() float64 {
	return (r.Few.RoundingNs + r.Many.RoundingNs) / r.iterations()
}

// idleNs returns the time in which no thread was runnable and the tracer had stopped none. It is below 0 if
// several threads were runnable at a time.
func idleNs(o Observation) float64 { return o.WallNs - o.CPUNs - o.WaitNs - o.StoppedNs }
