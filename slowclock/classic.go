package slowclock

import (
	"context"
	"math"

	"chronoscope/stats"
)

// Classic times the event by loops between two edges of the clock (Falco 2009; in its classic form
// a loop begins and ends anywhere in a tick). When ctx ends, Classic returns the result so far with
// ctx's error.
func (l Lab) Classic(ctx context.Context, plan Plan) (Result, error) {
	lab, release := l.open()
	defer release()
	var all []loop
	var p pace
	begun := lab.Clock.Read()
	err := plan.divisible()
	if err == nil {
		p.readNs, err = lab.readNs(ctx)
	}
	if err == nil {
		p, err = lab.paceOf(ctx, p.readNs)
	}
	if err == nil {
		err = lab.calibrateDelay(ctx)
	}
	if err == nil {
		err = lab.loops(ctx, lab.left(plan, begun), p, &all)
	}
	r := lab.classic(all, p)
	r.finish(plan, err)
	return r, err
}

// ticksToRead is the number of ticks over which readings are counted to find the time of one. It is more than
// one, since a clock's edges may be late.
const ticksToRead = 4

// readNs measures how long one reading takes, by the number of readings in a tick.
func (l *laboratory) readNs(ctx context.Context) (float64, error) {
	perTick, err := l.perTick(ctx, ticksToRead, nothing)
	return l.Clock.TickNs / perTick, err
}

// loop is a stretch of events from one edge of the clock to another.
type loop struct {
	ticks, trials int64
	// reads is the number of readings.
	reads  int64
	fine   int64
	jumped bool
	// passed is the number of ticks since the previous loop ended.
	passed int64
}

// pace says how events and readings take turns in loops.
type pace struct {
	// perTick is the number of events in a tick, and group the number of events between two
	// readings.
	perTick float64
	group   int64
	// readNs is how long a reading takes.
	readNs float64
}

const (
	// mostLoops is how many loops the time is divided into: the interval follows from their
	// scatter.
	mostLoops = 24
	// waitingTicks is the average number of ticks of a loop that pass in waiting: half a tick
	// each for the pause before it, for its first edge, for the random part of its length and for
	// its last edge.
	waitingTicks = 2
	// After every loopsPerLook loops it is checked whether they suffice: with frequent checks a
	// measurement would stop when the scatter happens to be small.
	loopsPerLook = mostLoops / 2
	// A step that exceeds timesAJump planned loops is a jump of the clock. A lower limit would also
	// leave out loops during which the thread lost its CPU for long.
	timesAJump = 20
	// readShare limits the time of a reading, as a share of the time of a group of events. While a loop waits for an
	// edge, it reads the clock after each group: the shorter the event, the more events make a group.
	readShare = 1.0 / 8
)

// paceOf watches the events of a few ticks, with a reading after each event and then after each
// group of events: a reading may take much longer than the event.
func (l *laboratory) paceOf(ctx context.Context, readNs float64) (pace, error) {
	p := pace{group: 1, readNs: readNs}
	read := readNs / l.Clock.TickNs
	for range 2 {
		groups, err := l.perTick(ctx, 1, func() {
			for range p.group {
				l.Event()
			}
		})
		if err != nil {
			return p, err
		}
		p.perTick = float64(p.group) / math.Max(1/groups-read, 0.1/groups)
		p.group = int64(math.Ceil(read / readShare * p.perTick))
	}
	return p, nil
}

func (l *laboratory) loops(ctx context.Context, plan Plan, p pace, all *[]loop) (err error) {
	budget, trials := plan.ticks(l.Clock), plan.trials()
	if budget == math.MaxInt64 {
		budget = max(1, int64(float64(min(trials, math.MaxInt32))/p.perTick))
	}
	wanted := math.Max(0, float64(budget)/mostLoops-waitingTicks)
	end := l.Clock.Read()
	for ticks, done := int64(0), int64(0); ticks < budget && done < trials; {
		var one loop
		if one, end, err = l.loop(ctx, end, wanted, p); err != nil {
			return err
		}
		*all = append(*all, one)
		ticks, done = ticks+max(1, one.passed), done+one.trials
		l.Progress(float64(ticks)/float64(budget), string(Classic))
		if plan.Precision > 0 && len(*all)%loopsPerLook == 0 && l.classic(*all, p).Estimate.RelativeHalfWidth() <= plan.Precision {
			break
		}
	}
	return nil
}

// loop runs the event from the first edge after a random pause to the first edge after a random
// number of events, which take between ticks and ticks + 1 ticks. So both ends may fall on any
// place of the tick, and the errors of two loops are independent.
func (l *laboratory) loop(ctx context.Context, last int64, ticks float64, p pace) (one loop, end int64, err error) {
	l.pause(ctx, l.Clock.TickNs)
	r := run{laboratory: l, mostTicks: int64(timesAJump * (ticks + fewestAJump)), now: l.Clock.Read()}
	if err := r.untilEdge(ctx, p.group); err != nil {
		return one, r.now, err
	}
	begun := r
	if l.Fine != nil {
		one.fine = l.Fine.Start()
	}
	if err = r.events(ctx, max(1, int64((ticks+l.rng.Float64())*p.perTick))); err == nil {
		err = r.untilEdge(ctx, p.group)
	}
	if l.Fine != nil {
		one.fine = l.Fine.End() - one.fine
	}
	one.trials, one.reads, one.jumped = r.trials-begun.trials, r.reads-begun.reads, r.jumped
	if !r.jumped {
		one.ticks, one.passed = l.Clock.ticks(r.now-begun.now), l.Clock.ticks(r.now-last)
	}
	return one, r.now, err
}

// run is a series of events with readings between them.
type run struct {
	*laboratory
	// now is the latest reading.
	now           int64
	trials, reads int64
	// A step of mostTicks or more is a jump, as is a step back.
	mostTicks int64
	jumped    bool
}

// events runs the event n times, and reads the clock once after them.
func (r *run) events(ctx context.Context, n int64) error {
	for range n {
		r.Event()
		r.trials++
		if r.ended(ctx, false) {
			return ctx.Err()
		}
	}
	last := r.now
	r.now = r.Clock.Read()
	r.reads++
	r.jumped = r.jumped || r.now < last || r.Clock.ticks(r.now-last) >= r.mostTicks
	if r.ended(ctx, r.now != last) {
		return ctx.Err()
	}
	return nil
}

// untilEdge runs groups of events until the clock ticks within a group.
func (r *run) untilEdge(ctx context.Context, group int64) error {
	for last := r.now; r.now == last && !r.jumped; {
		if err := r.events(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

func (l *laboratory) classic(all []loop, p pace) Result {
	r := l.newResult(Classic)
	var kept []loop
	jumped := 0
	for _, one := range all {
		r.Trials += one.trials
		r.ElapsedNs += float64(one.passed) * l.Clock.TickNs
		if one.jumped {
			jumped++
			continue
		}
		kept = append(kept, one)
	}
	l.meanOfLoops(&r, kept, p)
	r.Estimate.Discarded = jumped
	if len(kept) < fewestLoops {
		r.Lower(stats.Unusable, "%d loops were finished, %d are needed for an interval: let it run for longer", len(kept), fewestLoops)
	}
	if jumped > 0 {
		r.Lower(stats.Suspect, "the clock went backwards or jumped in %d loops, which are left out: it was set, it wraps, or the machine stood still; take one that nobody sets, such as a monotonic one", jumped)
	}
	return r
}

// fewestLoops is the least number of loops for an interval.
const fewestLoops = 3

// priorLoops is the weight, as a number of loops, of the known variance of the loops' ends. The
// weight becomes smaller if loops vary by more than that.
const priorLoops = 4

// meanOfLoops computes the time of all loops over the number of events: a ratio of sums.
//
// A loop begins and ends with the group of events within which the clock ticked. So each of its
// ends is off by up to the length of a group, or by up to a tick if that is shorter. The
// difference of both errors has a mean of 0, and its variance is a sixth of the square of that
// length. All other errors show as scatter of the loops. As each loop is part of the mean that it
// is compared with, the scatter is corrected for that, as in [shares.mean].
//
// While an edge is awaited, the clock is read after each group of events; before that, only once
// after many events. So loops differ in the number of readings per event, and the time of the
// readings would count as scatter. It is subtracted from each loop first.
func (l *laboratory) meanOfLoops(r *Result, loops []loop, p pace) {
	var ticks, trials, reads, fine int64
	for _, one := range loops {
		ticks, trials, reads, fine = ticks+one.ticks, trials+one.trials, reads+one.reads, fine+one.fine
	}
	if trials == 0 {
		return
	}
	n, count := float64(trials), float64(len(loops))
	read := p.readNs / l.Clock.TickNs
	perEvent := (float64(ticks) - read*float64(reads)) / n
	e := stats.NoEstimate("ns", "mean")
	e.N, e.Value = int(trials), float64(ticks)/n*l.Clock.TickNs
	if len(loops) >= fewestLoops {
		var squares float64
		for _, one := range loops {
			off := float64(one.ticks) - read*float64(one.reads) - perEvent*float64(one.trials)
			squares += off * off
		}
		group := math.Min(1, float64(p.group)*perEvent+read)
		ends, measured := group*group/6, count-1
		squares *= count / measured
		known := priorLoops / math.Pow(math.Max(1, squares/measured/ends), 2)
		variance := (squares + known*ends) / (measured + known)
		// The degrees of freedom count only the measured variance, since the known one has no
		// scatter (Satterthwaite, "An Approximate Distribution of Estimates of Variance
		// Components", Biometrics Bulletin 2, 1946).
		half := stats.StudentT((measured+known)*(measured+known)/measured) * math.Sqrt(count*variance) / n * l.Clock.TickNs
		e.Lo, e.Hi = e.Value-half, e.Value+half
	}
	// The time of a reading is known as precisely as the number of readings in a tick.
	overhead := p.readNs * float64(reads) / n
	off := overhead * (0.01 + read)
	r.Overhead = stats.Estimate{Value: overhead, Lo: overhead - off, Hi: overhead + off, Unit: "ns", Statistic: "mean", N: int(reads)}
	r.Estimate, r.Edges = e.Less(r.Overhead), ticks
	if l.Fine != nil {
		r.Truth = l.watchedMean(fine, trials, overhead, off)
	}
}
