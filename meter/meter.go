package meter

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"chronoscope/stats"
)

// Meter counts calls of one piece of code. Its methods are safe for many
// goroutines at once, and a goroutine may change its thread and CPU between Start
// and Stop. It has to come from [New].
type Meter struct {
	name   string
	source Source
	// One call in oneIn is measured, on average.
	oneIn uint64
	// chosen is the largest value of scramble with which a call is measured.
	chosen uint64
	shards shards
	ledger ledger
	phases phases
	// begun is the reading of both clocks when the meter was made.
	begun  moment
	made   time.Time
	costNs stats.Estimate
	// timedCostNs is the most that the clocks add to a timed call; see timedCostOf.
	timedCostNs float64
	foreign     atomic.Uint64 // calls of Stop with a start of another meter
	tails       *tails        // nil if single calls are not timed
}

// Start is the value that [Meter.Start] returns for [Meter.Stop]. The zero value is that of a call
// that was never started. It has four words: Go keeps no larger struct in registers.
type Start struct {
	meter   *Meter
	reading int64
	// fine is when the call began, by the clock of [WithTails]; without one, by the source's finer
	// clock in ns, for calls with a weight.
	fine  int64
	notes notes
}

// notes are the weight of a call and how late it began, in one word.
type notes int64

const (
	weightBits notes = 1<<4 - 1 // the logarithm of the weight to base 2, plus 1; 0 without a weight
	late       notes = 1 << 4   // set if it is known how late the call began: the bits above, in ns
	lateShift        = 5
)

// weight is the number of calls that a timed call represents; 0 if the finer clock does not time it.
func (n notes) weight() int64 { return 1 << (n & weightBits) >> 1 }

// lateNs returns how late the call began.
func (n notes) lateNs() (ns float64, known bool) { return float64(n >> lateShift), n&late != 0 }

// passedOver is the meter of the starts of calls that sampling leaves out.
var passedOver Meter

// Option changes how a meter is made.
type Option func(*Meter)

// Sampled measures one call in n on average, chosen at random, and only counts the
// others.
func Sampled(n int) Option { return func(m *Meter) { m.oneIn = uint64(max(n, 1)) } }

// New returns a meter with the given name. It measures the clock's cost, which takes some
// 100 µs. It panics if the source is the zero value, as after an error of [KernelTick].
func New(name string, source Source, options ...Option) *Meter {
	if source.clock == nil {
		panic(fmt.Sprintf("meter: %q has no source: take one from KernelTick or Counter, and look at its error", name))
	}
	m := &Meter{name: name, source: source, oneIn: 1}
	for _, option := range options {
		option(m)
	}
	m.chosen = ^uint64(0) / m.oneIn
	m.shards = newShards(source.eachCall)
	m.costNs = costOf(source)
	m.timedCostNs = timedCostOf(source)
	m.shareSketches()
	m.begun, m.made = m.now(), time.Now()
	m.ledger.open(m.begun)
	return m
}

// Name returns the meter's name.
func (m *Meter) Name() string { return m.name }

// Made returns when the meter was made, and began to count from 0.
func (m *Meter) Made() time.Time { return m.made }

// Start begins a call. A start that is never stopped is not measured; a meter that samples still counts
// the call.
func (m *Meter) Start() Start {
	shard := m.shards.mine()
	if m.oneIn > 1 && shard.passesOver(m.chosen) {
		return Start{meter: &passedOver}
	}
	start := Start{meter: m}
	if shard.distribution == nil {
		start.notes = weightOf(shard.measured.Load() + 1)
	}
	start.reading, start.fine = m.begin(start.notes)
	return start
}

// begin reads the clocks at the beginning of a call. The more expensive one is read first, so that its
// interval holds the cost of the other.
func (m *Meter) begin(n notes) (reading, fine int64) {
	if m.tails != nil {
		fine = m.tails.clock.Read()
	} else if n.weight() > 0 {
		fine = m.source.fine()
	}
	return m.source.clock.Read(), fine
}

// Stop ends a call. Stopping the same start twice counts two calls with a common beginning. A start that
// this meter did not make is counted as a fault only.
func (m *Meter) Stop(start Start) {
	if start.meter != &passedOver {
		m.stop(context.Background(), start)
	}
}

func (m *Meter) stop(ctx context.Context, start Start) {
	now := m.source.clock.Read()
	var fine int64
	if m.tails != nil {
		fine = m.tails.clock.Read()
	} else if start.notes.weight() > 0 {
		fine = m.source.fine()
	}
	if start.meter != m {
		m.foreign.Add(1)
		return
	}
	shard := m.shards.mine()
	if shard.distribution != nil {
		if shard.time(m.source.between(start.reading, now)) && m.tails != nil {
			m.tails.book(ctx, shard, start, fine)
		}
		return
	}
	var ticks uint64
	if now != start.reading {
		var counts bool
		if ticks, counts = m.moved(shard, start.reading, now); !counts {
			return
		}
	}
	shard.measured.Add(1)
	if ticks > 0 {
		shard.book(ticks)
	}
	if start.notes.weight() > 0 {
		m.lookAt(start, now, fine)
	}
	if m.tails != nil {
		m.tails.book(ctx, shard, start, fine)
	}
}

// lookAt records where in the tick a weighted call ended, and its length. reading and fine are the
// clocks' readings at its end.
func (m *Meter) lookAt(start Start, reading, fine int64) {
	if m.tails != nil {
		m.phases.look(m, start.notes.weight(), m.tails.ns(start.fine, fine), moment{reading, m.source.fine()})
		return
	}
	m.phases.look(m, start.notes.weight(), float64(fine-start.fine)-m.timedCostNs, moment{reading, fine})
}

// moved returns the ticks that a call saw whose clock moved. counts is false if the clock went back or
// was set.
func (m *Meter) moved(shard *shard, start, now int64) (ticks uint64, counts bool) {
	moved := m.source.between(start, now)
	if moved < 0 {
		shard.backward.Add(1)
		return 0, false
	}
	if m.ledger.look(m, start, now) {
		shard.stepped.Add(1)
		return 0, false
	}
	whole, exact := m.source.ticks(moved)
	if !exact {
		shard.between.Add(1)
	}
	return uint64(whole), true
}

// scramble maps consecutive numbers to unrelated ones (the multipliers are those of the finalizer of
// MurmurHash3), so that the choice of calls is not in step with a pattern in them.
func scramble(n uint64) uint64 {
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	return n * 0xc4ceb9fe1a85ec53
}
