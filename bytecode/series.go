package bytecode

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Series holds the measurements of a run, in a form that can be stored as JSON.
type Series struct {
	Java   Java `json:"java"`
	Mode   Mode `json:"mode"`
	Length int  `json:"length"`
	// Pairs and Load are those of the options.
	Pairs bool `json:"pairs"`
	Load  int  `json:"load"`
	// Instructions are the mnemonics that were asked for.
	Instructions []string `json:"instructions"`
	// TickNs is the tick of System.currentTimeMillis.
	TickNs float64 `json:"tick_ns"`
	// TSCHz is the rate of the time stamp counter; 0 if it was not read.
	TSCHz float64 `json:"tsc_hz"`
	// ElapsedNs is how long everything took.
	ElapsedNs float64           `json:"elapsed_ns"`
	Unused    map[Method]string `json:"unused,omitempty"`
	Starts    []Start           `json:"starts"`
	Failures  []Failure         `json:"failures,omitempty"`
}

// Start holds the measurements of one start of a virtual machine.
type Start struct {
	// Methods are the methods whose timers were read, all around the same sequences.
	Methods []Method `json:"methods"`
	// Alone says that only the reference was measured.
	Alone bool `json:"alone"`
	// Complete says that the start did everything that was planned.
	Complete  bool      `json:"complete"`
	Stretches []Stretch `json:"stretches"`
	// Interpreted names the sequences that the interpreter executed although Mode is that of a compiler, each with
	// what the virtual machine said about it.
	Interpreted map[string]string `json:"interpreted,omitempty"`
}

// Stretch holds the measurements of a number of consecutive trials of one sequence.
type Stretch struct {
	Sequence string `json:"sequence"`
	// Group is the number of the group within the start, counted from 0. The sequences of a group were timed soon
	// after one another. They include the empty sequence, and the sentinels nop and ldiv, which show whether the
	// machine was slow.
	Group int `json:"group"`
	// All holds the sums over all trials, Kept those over the trials that a fine method uses.
	All  Sums            `json:"all"`
	Kept map[Method]Sums `json:"kept,omitempty"`
	// Blocks is the number of blocks.
	Blocks int `json:"blocks"`
	// Passed is how far each timer advanced in all from the first to the last block, both within and
	// between trials.
	Passed Sums `json:"passed"`
	// CountsAMilli is the counter's rate in counts per millisecond, over the time in which both threads ran as
	// usual (see steady); 0 if it is not known.
	CountsAMilli float64 `json:"counts_a_milli,omitempty"`
	// SteadyMillis is the time over which that rate was measured.
	SteadyMillis float64 `json:"steady_millis,omitempty"`

	// rate is CountsAMilli corrected for the counts that readings cost; see correctRates.
	rate float64
	// ElapsedNs is how long the stretch took by this program's clock.
	ElapsedNs float64 `json:"elapsed_ns"`
}

// Sums holds sums over trials: their number, and the sum of the differences of each timer in its own
// unit. Ones is the number of trials during which currentTimeMillis advanced.
type Sums struct {
	Trials int64 `json:"trials"`
	Millis int64 `json:"millis,omitempty"`
	Ones   int64 `json:"ones,omitempty"`
	Nano   int64 `json:"nano,omitempty"`
	Counts int64 `json:"counts,omitempty"`
	Cycles int64 `json:"cycles,omitempty"`
}

// Failure is a virtual machine that was lost while it ran a sequence.
type Failure struct {
	Sequence string `json:"sequence"`
	Problem  string `json:"problem"`
	// Dropped tells that the sequence was not tried again.
	Dropped bool `json:"dropped"`
}

func (s Sums) plus(o Sums) Sums {
	return Sums{s.Trials + o.Trials, s.Millis + o.Millis, s.Ones + o.Ones, s.Nano + o.Nano, s.Counts + o.Counts, s.Cycles + o.Cycles}
}

// fine lists the methods whose timers resolve a single block.
var fine = []Method{TSC, Counter, Nano}

// of returns the sum of a method's timer, in its own unit.
func (s Sums) of(m Method) float64 {
	switch m {
	case TSC:
		return float64(s.Cycles)
	case Counter:
		return float64(s.Counts)
	case Nano:
		return float64(s.Nano)
	case Bernoulli:
		return float64(s.Ones)
	}
	return float64(s.Millis)
}

// perTrial returns the mean of a method's timer over the trials.
func (s Sums) perTrial(m Method) float64 { return s.of(m) / float64(s.Trials) }

// block is a row of the virtual machine's answer: the sums over a number of trials.
type block struct {
	Sums
	// last holds the last readings of the timers.
	last Sums
}

// readBlocks splits an answer into blocks.
func readBlocks(answer []int64, methods []Method, trials int) ([]block, error) {
	timers := timersOf(methods)
	width := rowWidth(timers)
	if width == 0 || len(answer)%width != 0 {
		return nil, fmt.Errorf("%d numbers are no rows of %d", len(answer), width)
	}
	var blocks []block
	for row := range slices.Chunk(answer, width) {
		b := block{Sums: Sums{Trials: int64(trials)}}
		next := func() int64 { v := row[0]; row = row[1:]; return v }
		for _, t := range timers {
			*t.of(&b.Sums), *t.of(&b.last) = next(), next()
			if t.ones {
				b.Ones = next()
			}
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

var errBackward = errors.New("a timer went backwards")

// newStretch sums the blocks. It leaves the first block out, because that is only a warm-up.
func newStretch(sequence string, group int, blocks []block, methods []Method) (Stretch, error) {
	s := Stretch{Sequence: sequence, Group: group, Blocks: len(blocks) - 1, Kept: map[Method]Sums{}}
	if s.Blocks < 1 {
		return s, errors.New("there are no blocks but the first, which does not count")
	}
	for i, b := range blocks[1:] {
		passed := b.last.minus(blocks[i].last)
		if b.Sums.negative() || passed.minus(b.Sums).negative() {
			return s, errBackward
		}
		s.All = s.All.plus(b.Sums)
		s.Passed = s.Passed.plus(passed)
	}
	for _, m := range fine {
		if !slices.Contains(methods, m) {
			continue
		}
		if m == Counter {
			s.Kept[m], s.CountsAMilli, s.SteadyMillis = steady(blocks)
		} else {
			s.Kept[m] = keep(blocks, m)
		}
	}
	return s, nil
}

func (s Sums) minus(o Sums) Sums {
	return Sums{s.Trials - o.Trials, s.Millis - o.Millis, s.Ones - o.Ones, s.Nano - o.Nano, s.Counts - o.Counts, s.Cycles - o.Cycles}
}

func (s Sums) negative() bool { return min(s.Millis, s.Nano, s.Counts, s.Cycles) < 0 }

// A block is kept if the time of its trials differs from the expected one by at most usualDistances median deviations, or by
// at most the share closeShare, whichever is more. Other blocks were interrupted.
const (
	usualDistances = 6
	closeShare     = 0.003
)

// keep sums the blocks that were not interrupted, according to a timer of constant rate.
func keep(blocks []block, m Method) Sums {
	var within, passed, shares []float64
	for i, b := range blocks[1:] {
		within = append(within, b.of(m))
		passed = append(passed, b.last.of(m)-blocks[i].last.of(m))
		if passed[i] > 0 {
			shares = append(shares, within[i]/passed[i])
		}
	}
	share := stats.Median(shares)
	var off []float64
	for i := range within {
		off = append(off, within[i]-share*passed[i])
	}
	middle := stats.Median(off)
	reach := math.Max(usualDistances*stats.MAD(off), closeShare*stats.Median(within))
	var kept Sums
	for i, b := range blocks[1:] {
		if math.Abs(off[i]-middle) <= reach {
			kept = kept.plus(b.Sums)
		}
	}
	return kept
}

// The span between two edges of currentTimeMillis counts if the counter's rate in it differs by at most
// the share usualRate from the upper quartile of the stretch, because the counter can be slowed down but
// not sped up. An edge is known to half a block, which is a few hundredths of a span. A span does not
// count if one of its blocks took longAway times as long as usual, because the measuring thread was then
// preempted. At least the share leastSteady of the stretch must remain.
const (
	usualRate   = 0.15
	longAway    = 3
	leastSteady = 0.3
)

// steady sums the blocks during which both threads ran as usual, and returns the counter's rate during
// them, in counts per millisecond, and the number of milliseconds. It never leaves out single blocks:
// short interrupts of either thread affect the rate and the trials alike, and a choice by the interrupts
// of one thread would bias the other.
func steady(blocks []block) (kept Sums, rate, millis float64) {
	edges := edges(blocks)
	if len(edges) < 2 {
		return Sums{}, 0, 0
	}
	var rates, passed []float64
	for k, e := range edges[1:] {
		rates = append(rates, (e.counts-edges[k].counts)/float64(e.millis-edges[k].millis))
	}
	for i := range blocks[1:] {
		passed = append(passed, float64(blocks[i+1].last.Counts-blocks[i].last.Counts))
	}
	usual := stats.QuantileOf(rates, 0.75)
	away := longAway * stats.Median(passed)
	var counts float64
	for k, e := range edges[1:] {
		from := edges[k]
		if math.Abs(rates[k]-usual) > usualRate*usual || slices.Max(passed[from.block-1:e.block]) > away {
			continue
		}
		counts += e.counts - from.counts
		millis += float64(e.millis - from.millis)
		for _, b := range blocks[from.block+1 : e.block+1] {
			kept = kept.plus(b.Sums)
		}
	}
	if counts == 0 || millis < leastSteady*float64(edges[len(edges)-1].millis-edges[0].millis) {
		return Sums{}, 0, 0
	}
	return kept, counts / millis, millis
}

// edge is a change of currentTimeMillis: the block in which it happened, and the count in the middle of
// that block.
type edge struct {
	block  int
	millis int64
	counts float64
}

func edges(blocks []block) []edge {
	var found []edge
	for i := 1; i < len(blocks); i++ {
		before, now := blocks[i-1].last, blocks[i].last
		if now.Millis > before.Millis {
			found = append(found, edge{i, now.Millis, float64(before.Counts)/2 + float64(now.Counts)/2})
		}
	}
	return found
}
