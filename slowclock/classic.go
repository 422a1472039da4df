package slowclock

import (
	"context"
	"math"

	"chronoscope/stats"
)

// Classic times the event by loops between two edges of the clock (Falco 2009, in its
// classic form, which begins and ends anywhere in a tick). When ctx ends, the result so
// far comes with its error.
func (l Lab) Classic(ctx context.Context, plan Plan) (Result, error) {
	lab, release := l.open()
	defer release()
	var all []loop
	readNs, err := lab.readNs(ctx)
	if err == nil {
		err = lab.loops(ctx, plan, readNs, &all)
	}
	r := lab.classic(all, readNs)
	r.cutShort(err)
	return r, err
}

// readNs is what one reading takes, by how many there are to a tick.
func (l *laboratory) readNs(ctx context.Context) (float64, error) {
	perTick, err := l.perTick(ctx, nothing)
	return l.Clock.TickNs / perTick, err
}

// loop is a stretch of events from one edge of the clock to another.
type loop struct {
	ticks, trials int64
	// reads is how many readings there were.
	reads int64
	fine  int64
	// group is how many events there were since the reading before.
	group int64
	// aligned says that it began at an edge that was waited for, and not where the
	// loop before ended.
	aligned bool
	jumped  bool
}

const (
	// mostLoops is how many loops the time is divided into: their scatter makes the
	// interval.
	mostLoops = 12
	// fewestTicksALoop keeps a loop long beside its end.
	fewestTicksALoop = 2
	// blindShare is how much of a loop is without readings. In the rest of it they take
	// readShare of the time, where the event is short.
	blindShare = 0.875
	readShare  = 1.0 / 8
)

// loops runs loops until the plan is done, each from where the one before ended.
func (l *laboratory) loops(ctx context.Context, plan Plan, readNs float64, all *[]loop) error {
	perTick, err := l.perTick(ctx, l.Event)
	if err != nil {
		return err
	}
	// What a trial of perTick holds beside the event is the reading that ends it.
	perTick = 1 / math.Max(1/perTick-readNs/l.Clock.TickNs, 0.1/perTick)
	// So many events are followed by a reading.
	group := int64(math.Ceil(readNs / readShare / l.Clock.TickNs * perTick))
	budget, trials := plan.ticks(l.Clock), plan.trials()
	if budget == math.MaxInt64 {
		budget = max(1, int64(float64(min(trials, math.MaxInt32))/perTick))
	}
	length := max(fewestTicksALoop, budget/mostLoops)
	var ticks, done, from int64
	aligned := false
	for ticks < budget && done < trials {
		if !aligned {
			if from, err = l.edge(ctx); err != nil {
				return err
			}
		}
		one, to, err := l.loop(ctx, from, length, int64(math.Max(1, perTick)), group)
		if err != nil {
			return err
		}
		one.aligned = !aligned
		*all = append(*all, one)
		ticks, done = ticks+max(1, one.ticks), done+one.trials
		from, aligned = to, !one.jumped
		l.Progress(float64(ticks)/float64(budget), string(Classic))
		if plan.Precision > 0 && len(*all) >= mostLoops/2 && l.classic(*all, readNs).Estimate.RelativeHalfWidth() <= plan.Precision {
			break
		}
	}
	return nil
}

// loop runs the event from an edge of the clock to another, at least so many ticks
// later: the first events without a reading, then a reading after each group.
func (l *laboratory) loop(ctx context.Context, from, wanted, perTick, group int64) (one loop, to int64, err error) {
	if l.Fine != nil {
		one.fine = l.Fine.Start()
	}
	last := from
	for now := from; ; last = now {
		run := group
		if one.trials == 0 {
			run = max(int64(float64(wanted*perTick)*blindShare), group)
		}
		for i := range run {
			l.Event()
			if l.ended(ctx, (i+1)%perTick == 0) {
				return one, now, ctx.Err()
			}
		}
		one.trials += run
		one.reads++
		now = l.Clock.Read()
		ticks := l.Clock.ticks(now - from)
		if now < last || l.Clock.ticks(now-last) >= 2*wanted+fewestAJump {
			one.jumped = true
		}
		if one.jumped || now != last && ticks >= wanted {
			if one.ticks = ticks; l.Fine != nil {
				one.fine = l.Fine.End() - one.fine
			}
			one.group = run
			return one, now, nil
		}
	}
}

// classic judges loops.
func (l *laboratory) classic(all []loop, readNs float64) Result {
	r := l.newResult(Classic)
	var kept []loop
	jumped := 0
	for _, one := range all {
		r.Trials += one.trials
		r.ElapsedNs += float64(max(0, one.ticks)) * l.Clock.TickNs
		if one.jumped {
			jumped++
			continue
		}
		kept = append(kept, one)
	}
	l.meanOfLoops(&r, kept, readNs)
	r.Estimate.Discarded = jumped
	switch {
	case len(kept) == 0:
		r.Lower(stats.Unusable, "no loop was finished: let it run for longer")
	case len(kept) < fewestLoops:
		r.Lower(stats.Suspect, "%d loops were finished, %d are needed for an interval: let it run for longer", len(kept), fewestLoops)
	}
	if jumped > 0 {
		r.Lower(stats.Suspect, "the clock went backwards or jumped in %d loops, which are left out: it was set, it wraps, or the machine stood still; take one that nobody sets, such as a monotonic one", jumped)
	}
	return r
}

// fewestLoops is how many an interval takes.
const fewestLoops = 3

// endsAlone is the share of the scatter that their ends give to loops of the same
// length; loops that scatter less differ in nothing else, as far as can be told. Where
// they do scatter more, all of it counts: what part of it is due to the ends is not
// known well from a dozen loops.
const endsAlone = 0.5

// meanOfLoops is the time of all loops over the number of events.
//
// A loop ends with the event, or the group of them, within which the clock ticked, or,
// where that is longer than a tick, ticked for the last time: what is left of it then is
// anything up to its length, or a tick, and half of that is added. The next loop begins
// there, so that all of them together are off by what the last one is. The interval
// holds that, and by how much the loops scatter beyond what their ends do.
func (l *laboratory) meanOfLoops(r *Result, loops []loop, readNs float64) {
	if len(loops) == 0 {
		return
	}
	var ticks, trials, reads, fine int64
	var left []float64
	for _, one := range loops {
		ticks, trials, reads, fine = ticks+one.ticks, trials+one.trials, reads+one.reads, fine+one.fine
	}
	n, count := float64(trials), float64(len(loops))
	perEvent := float64(ticks) / n
	ends, uneven := 0.0, 0.0
	for i, one := range loops {
		left = append(left, math.Min(1, float64(one.group)*perEvent))
		uneven += left[i] * left[i] / 6
		if i == len(loops)-1 || loops[i+1].aligned {
			ends += left[i]
		}
	}
	mean := (float64(ticks) + ends/2) / n
	var squares float64
	for _, one := range loops {
		off := float64(one.ticks) - mean*float64(one.trials)
		squares += off * off
	}
	if squares < endsAlone*uneven {
		squares = 0
	}
	e := unknown()
	e.N, e.Value = int(trials), mean*l.Clock.TickNs
	if len(loops) >= fewestLoops {
		scatter := stats.StudentT(count-1) * math.Sqrt(squares*count/(count-1))
		half := math.Hypot(scatter, stats.Confidence/2*ends) / n * l.Clock.TickNs
		e.Lo, e.Hi = e.Value-half, e.Value+half
	}
	overhead := readNs * float64(reads) / n
	// What a reading takes is known by how many there are to a tick.
	off := overhead * (0.01 + 2*readNs/l.Clock.TickNs)
	r.Overhead = stats.Estimate{Value: overhead, Lo: overhead - off, Hi: overhead + off, Unit: "ns", Statistic: "mean", N: int(reads)}
	r.Estimate, r.Edges = less(e, r.Overhead), ticks
	if l.Fine != nil {
		r.Truth = l.watchedMean(fine, trials, overhead, off)
	}
}
