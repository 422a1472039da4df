package meter

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// moment is a reading of the meter's clock and one of the finer clock at the same time.
type moment struct {
	reading int64
	fineNs  int64
}

func (m *Meter) now() moment { return moment{m.source.clock.Read(), m.source.fine()} }

// ledger closes a group of calls at each edge that calls see. Calls around one edge depend on one another: on
// one processor they exclude each other, and calls that serve one request on several processors coincide. The
// differences between groups contain both effects.
//
// The first call that sees an edge updates the ledger; this update is a look. If the ledger is locked, a call
// shorter than a second skips the update: the group then ends at a later edge, and its sums stay right.
type ledger struct {
	mutex   sync.Mutex
	last    atomic.Int64 // the clock's reading at the last look
	seen    moment       // both clocks at the last look
	closed  Groups
	batches Groups // sums over batches of batchGroups groups
	// measured and ticks of all shards, and the clock's reading, when the last batch was closed.
	batchMeasured, batchTicks uint64
	batchReading              int64
	// A call that started at stepBefore or earlier and ended at stepAfter or later
	// was in progress while the clock was set.
	stepBefore, stepAfter atomic.Int64
	steps                 uint64
	// measured and ticks of all shards when the last group was closed.
	measured, ticks uint64
}

func (l *ledger) open(begun moment) {
	l.seen = begun
	l.batchReading = begun.reading
	l.last.Store(begun.reading)
	l.stepBefore.Store(math.MinInt64)
	l.stepAfter.Store(math.MaxInt64)
}

// look is called for a call that has seen an edge, before that call is counted.
// It reports whether the clock was set during the call.
func (l *ledger) look(m *Meter, start, now int64) (stepped bool) {
	if now != l.last.Load() && l.enter(m.ticksBetween(start, now)*m.source.tickNs > float64(stepNs)) {
		l.turn(m, now)
		l.mutex.Unlock()
	}
	return start <= l.stepBefore.Load() && now >= l.stepAfter.Load()
}

// enter locks the ledger; it returns false if the ledger is already locked and wait is false. A call
// that may have been in progress while the clock was set has to wait, since otherwise the step would
// count as its time.
func (l *ledger) enter(wait bool) bool {
	if wait {
		l.mutex.Lock()
		return true
	}
	return l.mutex.TryLock()
}

// turn closes the current group, which ends at the edge that a call has seen.
func (l *ledger) turn(m *Meter, now int64) {
	next := moment{now, m.source.fine()}
	if m.setSince(l.seen, next) {
		l.steps++
		if now > l.seen.reading { // a step back shows as a negative length of the call
			l.stepBefore.Store(l.seen.reading)
			l.stepAfter.Store(now)
		}
	}
	c := m.shards.sum()
	l.closed.add(c.measured-l.measured, c.ticks-l.ticks, m.ticksBetween(l.seen.reading, now))
	l.measured, l.ticks = c.measured, c.ticks
	if l.closed.Count%batchGroups == 0 {
		l.batches.add(c.measured-l.batchMeasured, c.ticks-l.batchTicks, m.ticksBetween(l.batchReading, now))
		l.batchMeasured, l.batchTicks, l.batchReading = c.measured, c.ticks, now
	}
	l.seen = next
	l.last.Store(now)
}

// stepNs is the least step of a clock, by which it is set, that is detected.
const stepNs = time.Second

// setSince reports whether the clock was set between two moments: whether the time between them by this clock
// and by the finer one differs by more than the sum of a second, two ticks and 1 % of the finer clock's time.
// Late ticks don't explain such a difference. For a clock that wraps it returns false, since it may have
// wrapped in between.
func (m *Meter) setSince(from, to moment) bool {
	if m.source.unused > 0 {
		return false
	}
	fine := float64(to.fineNs - from.fineNs)
	coarse := m.ticksBetween(from.reading, to.reading) * m.source.tickNs
	return math.Abs(coarse-fine) > float64(stepNs)+2*m.source.tickNs+0.01*fine
}

// ticksBetween returns the difference of two readings, in ticks.
func (m *Meter) ticksBetween(from, to int64) float64 {
	return float64(m.source.between(from, to)) / float64(m.source.perTick)
}

// snapshot returns the closed groups and the current one.
func (l *ledger) snapshot(m *Meter, c counted, now moment) (g, batches Groups, steps uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	g = l.closed
	g.add(c.measured-min(c.measured, l.measured), c.ticks-min(c.ticks, l.ticks), m.ticksBetween(l.seen.reading, now.reading))
	return g, l.batches, l.steps
}
