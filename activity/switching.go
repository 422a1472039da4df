package activity

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Switching is the cost of switching a CPU from one thread to another: the switch itself, and the
// cache that is cold afterwards (Bryant 2003, section 9.2.3, third cause).
type Switching struct {
	CPU   int    `json:"cpu"`
	Clock string `json:"clock"`
	// Cost is the median of one switch, in nanoseconds: a thread wakes another one and waits, and
	// the CPU goes to the other. The cost of the same system calls without a switch is subtracted.
	// The interval is over the medians of blocks of [RoundTripsPerBlock] round trips, since
	// neighbouring round trips are not independent.
	//
	// Both threads belong to one process, so that the address space stays the same; a switch
	// between processes costs more. A preemption costs less, since no thread is put to sleep and
	// woken for it.
	Cost stats.Estimate `json:"cost"`
	// LeastNs and P95Ns are the least and the 95th percentile of single switches: half of a round
	// trip each.
	LeastNs stats.Float `json:"min_ns"`
	P95Ns   stats.Float `json:"p95_ns"`
	// Switches is the number of all switches, including those for the caches. Counted is the
	// kernel's count for both threads during that time; nil if it does not count them.
	Switches int          `json:"switches"`
	Counted  *SwitchCount `json:"-"`
	// Cold is the cost of the caches that the other thread left cold, for several working sets.
	Cold []ColdCache `json:"cold"`
	stats.Judgement
	Caveats []string `json:"caveats"`
}

// SwitchCount is how often threads lost their CPU: voluntarily, as they waited, or by preemption.
type SwitchCount struct {
	Voluntary   int64 // while waiting
	Involuntary int64 // by preemption
}

// SwitchingOptions say how to measure. The zero value of a field selects its default.
type SwitchingOptions struct {
	// CPU is the CPU on which both threads run; -1 selects the last that the calling thread may
	// use, which usually serves fewer interrupts than the first.
	CPU int
	// Duration is about how long to measure. The default is 200 ms.
	Duration time.Duration
	// SweepBytes is how much memory the other thread reads to evict a working set from the caches
	// (see [ColdCache]). The default is twice the size of the CPU's second cache.
	SweepBytes int
	// Root is the root of the file system, for the sizes of the caches. The default is "/".
	Root fs.FS
	// Seed fixes the order of the random walks.
	Seed uint64
}

// These are the limits and shares of a measurement.
const (
	// LongestSwitching is the longest measurement. It keeps a mistyped duration from blocking a CPU
	// for a day.
	LongestSwitching = time.Minute
	// MostSweepBytes is the greatest SweepBytes. It keeps a mistyped size from taking all memory.
	MostSweepBytes = 1 << 30
	// RoundTripsPerBlock is how many round trips are timed in a row.
	RoundTripsPerBlock = 64

	usualSwitching = 200 * time.Millisecond
	// tripShare is the share of the duration for the cost of a switch; the rest is for the caches.
	tripShare = 0.2
)

// These limits lower the verdict.
const (
	// A round trip of more than lateTrip times the median was disturbed. If the excess of such
	// trips over the median takes more than the share mostLate of the time, all round trips are
	// doubtful.
	lateTrip = 2
	mostLate = 0.1
	// leastVoluntary is the least share of the switches that has to be voluntary.
	leastVoluntary = 0.95
	// widestInterval is the greatest half width of the interval as a share of the cost, and
	// coarsest the greatest tick of the clock as a share of the cost.
	widestInterval = 0.1
	coarsest       = 0.1
)

// MeasureSwitching measures on a clock whose ticks are tickNs long, with the calling goroutine's
// thread and one more, both bound to one CPU until it returns. It needs no privileges. If ctx ends
// it, it returns what it has measured with ctx's error.
//
// The error is a [machine.UnsupportedError] if threads can't be bound to a CPU, and a
// [machine.AffinityError] if the thread may not run on this CPU.
func MeasureSwitching(ctx context.Context, c *clock.Clock, tickNs float64, o SwitchingOptions) (*Switching, error) {
	if err := o.complete(tickNs); err != nil {
		return nil, err
	}
	// A collection would run at the same time as the threads, on their CPU too.
	defer machine.HoldCollector(0)()
	s := &Switching{Clock: c.Name, CPU: o.CPU, Cold: []ColdCache{}, Judgement: stats.NewJudgement(), Caveats: []string{}}
	caches, caveat := cachesOf(o.Root, o.CPU)
	if caveat != "" {
		s.Caveats = append(s.Caveats, caveat)
	}
	if o.SweepBytes == 0 {
		o.SweepBytes = 2 * caches.second
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	p, err := openPair(o.CPU, newWorkingSet(o.SweepBytes, Random, rng))
	if err != nil {
		return nil, err
	}
	e := experiment{clock: c, tickNs: tickNs, pair: p}
	begun := time.Now()
	blocks, err := e.roundTrips(ctx, begun.Add(time.Duration(tripShare*float64(o.Duration))))
	if err == nil {
		err = e.coldCaches(ctx, begun.Add(o.Duration), caches.last, rng)
	}
	counted, partnerErr := p.close()
	if failed := cmp.Or(partnerErr, err); failed != nil && !Interrupted(failed) {
		return nil, failed
	}
	s.Switches, s.Counted = 2*p.trips, counted
	s.costOf(blocks, tickNs)
	s.Cold = e.results()
	s.judgeCount()
	if runtime.GOMAXPROCS(0) == 1 {
		e.caveat("GOMAXPROCS is 1, so that the threads pass Go's only processor to each other with every switch, which delays some of them: set it to 2 or more")
	}
	s.Caveats = append(s.Caveats, e.caveats...)
	return s, err
}

// complete fills in the defaults, and returns an error for what can't be measured.
func (o *SwitchingOptions) complete(tickNs float64) error {
	switch {
	case !(tickNs > 0) || math.IsInf(tickNs, 1):
		return fmt.Errorf("switching: a clock whose ticks are %v ns long: calibrate it first", tickNs)
	case o.Duration < 0 || o.Duration > LongestSwitching:
		return fmt.Errorf("switching: a duration of %v: choose one above 0 and up to %v", o.Duration, LongestSwitching)
	case o.SweepBytes < 0 || o.SweepBytes > MostSweepBytes:
		return fmt.Errorf("switching: %d bytes to sweep the cache with: choose 1 to %d", o.SweepBytes, MostSweepBytes)
	}
	if o.Duration == 0 {
		o.Duration = usualSwitching
	}
	if o.Root == nil {
		o.Root = os.DirFS("/")
	}
	var err error
	o.CPU, err = switchingCPU(o.CPU)
	return err
}

// experiment is the state of one measurement.
type experiment struct {
	clock   *clock.Clock
	tickNs  float64
	pair    *pair
	cells   []*cell
	caveats []string
}

func (e *experiment) caveat(format string, args ...any) {
	e.caveats = append(e.caveats, fmt.Sprintf(format, args...))
}

// roundTrip is one sample, in ticks: trip is two switches, there and back, and calls the same
// system calls without a switch.
type roundTrip struct{ calls, trip int64 }

// roundTrips takes blocks of samples, at least two, until the given time. It drops the first block,
// which finds code and data cold.
func (e *experiment) roundTrips(ctx context.Context, until time.Time) (blocks [][]roundTrip, err error) {
	samples := make([]roundTrip, RoundTripsPerBlock)
	if err := e.block(samples); err != nil {
		return nil, err
	}
	for len(blocks) == 0 || time.Now().Before(until) {
		if err := ctx.Err(); err != nil {
			return blocks, err
		}
		if err := e.block(samples); err != nil {
			return blocks, err
		}
		blocks = append(blocks, slices.Clone(samples))
	}
	return blocks, nil
}

// block fills samples. It times the calls without a switch next to each round trip, so that a slow
// spell of the machine affects both.
func (e *experiment) block(samples []roundTrip) error {
	for i := range samples {
		start := e.clock.Start()
		err := e.pair.calls()
		samples[i].calls = e.clock.End() - start
		if err != nil {
			return err
		}
		start = e.clock.Start()
		err = e.pair.trip(returnAtOnce)
		samples[i].trip = e.clock.End() - start
		if err != nil {
			return err
		}
	}
	return nil
}

// costOf computes the cost of a switch from blocks of samples.
func (s *Switching) costOf(blocks [][]roundTrip, tickNs float64) {
	var costs, medians []float64
	for _, block := range blocks {
		ns := switchesNs(block, tickNs)
		costs = append(costs, ns...)
		medians = append(medians, stats.Median(ns))
	}
	slices.Sort(costs)
	slices.Sort(medians)
	s.LeastNs, s.P95Ns = stats.FloatOf(stats.Quantile(costs, 0)), stats.FloatOf(stats.Quantile(costs, 0.95))
	var err error
	if s.Cost, _, err = stats.QuantileInterval(medians, 0.5, "ns"); err != nil {
		s.Lower(stats.Suspect, "the cost of a switch has no interval: %v", err)
	}
	s.judge(blocks, tickNs)
}

// switchesNs returns what each switch of a block took: half of the round trip less the calls.
func switchesNs(block []roundTrip, tickNs float64) []float64 {
	calls := make([]float64, len(block))
	ns := make([]float64, len(block))
	for i, sample := range block {
		calls[i] = float64(sample.calls)
	}
	without := stats.Median(calls)
	for i, sample := range block {
		ns[i] = (float64(sample.trip) - without) / 2 * tickNs
	}
	return ns
}

// judge sets the verdict on the cost.
func (s *Switching) judge(blocks [][]roundTrip, tickNs float64) {
	if len(blocks) == 0 || !(s.Cost.Value > 0) {
		s.Lower(stats.Unusable, "no switch was measured that took longer than its system calls: measure for longer, on a clock with finer ticks")
		return
	}
	if late := lateShare(blocks); late > mostLate {
		s.Lower(stats.Suspect, "%.0f %% of the time went into round trips that took more than %d times the median: something else ran on CPU %d; stop it, or name another CPU", 100*late, lateTrip, s.CPU)
	}
	if s.Cost.RelativeHalfWidth() > widestInterval {
		s.Lower(stats.Suspect, "the cost of a switch changed meanwhile: from block to block its median varied between %.4g and %.4g ns; measure for longer, or on a quieter machine", s.Cost.Lo, s.Cost.Hi)
	}
	if tickNs > coarsest*s.Cost.Value {
		s.Lower(stats.Suspect, "a tick of %s is %.4g ns long, and a switch takes %.4g: choose a clock with finer ticks", s.Clock, tickNs, s.Cost.Value)
	}
}

// judgeCount compares the switches with the kernel's count of them.
func (s *Switching) judgeCount() {
	made, counted := int64(s.Switches), s.Counted
	switch {
	case counted == nil:
		s.Caveats = append(s.Caveats, "that the switches took place rests on both threads being bound to one CPU: the kernel's own count of them could not be read")
	case counted.Voluntary+counted.Involuntary < made:
		s.Lower(stats.Unusable, "the kernel counted %d switches where %d should have taken place: the threads did not share CPU %d", counted.Voluntary+counted.Involuntary, made, s.CPU)
	case float64(counted.Voluntary) < leastVoluntary*float64(made):
		s.Lower(stats.Suspect, "of %d switches the kernel counted %d as voluntary: the others were preemptions, which cost less; a sandbox that allows sched_setattr with SCHED_BATCH mends it, or a quieter CPU", made, counted.Voluntary)
	}
}

// lateShare returns the excess of disturbed round trips over the median, as a share of the time
// of all round trips.
func lateShare(blocks [][]roundTrip) float64 {
	var trips []float64
	for _, block := range blocks {
		for _, sample := range block {
			trips = append(trips, float64(sample.trip))
		}
	}
	median := stats.Median(trips)
	var all, late float64
	for _, trip := range trips {
		all += trip
		if trip > lateTrip*median {
			late += trip - median
		}
	}
	return late / all
}
