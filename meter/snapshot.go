package meter

import (
	"encoding/json"
	"fmt"
	"math"

	"chronoscope/stats"
)

// Schema names the form of a snapshot in JSON. Its number changes with the form.
const Schema = "chronoscope/meter/v1"

// Snapshot holds what one or several meters have counted so far.
type Snapshot struct {
	// Name is the meter's name.
	Name string
	// Parts has one element for each clock, length of tick and share of calls that was measured, in
	// no particular order.
	Parts []Part
}

// Part has the counts of one clock. They are all sums, so that parts of the same clock and tick add
// up to the counts of a single meter.
type Part struct {
	// Clock names the clock, TickNs is the length of its tick.
	Clock  string  `json:"clock"`
	TickNs float64 `json:"tick_ns"`
	// Vouched is the caller's statement why the clock is unbiased ([Own].Unbiased); empty for other
	// clocks.
	Vouched string `json:"vouched,omitempty"`

	// One call in OneIn was measured, on average.
	OneIn uint64 `json:"one_in"`
	// Calls is the number of calls, Measured the number of those that were measured.
	Calls    uint64 `json:"calls"`
	Measured uint64 `json:"measured"`
	// Edges is the number of calls during which the clock moved, Ticks the sum of the ticks by
	// which it did, and Squares the sum of their squares.
	Edges   uint64 `json:"edges"`
	Ticks   uint64 `json:"ticks"`
	Squares uint64 `json:"squares"`
	// CostNs is the part of the measured calls' time that the clock itself took; CostLoNs and CostHiNs
	// are its bounds.
	CostNs   float64 `json:"cost_ns"`
	CostLoNs float64 `json:"cost_lo_ns"`
	CostHiNs float64 `json:"cost_hi_ns"`

	// Groups are sums over groups of calls around one edge, Batches over batches of 32 consecutive
	// groups.
	Groups  Groups `json:"groups"`
	Batches Groups `json:"batches"`
	Phases  Phases `json:"phases"`
	Timed   Timed  `json:"timed"`
	// Lengths counts the calls in each bucket of [Part.Quantile], if each call was timed; otherwise it
	// is nil.
	Lengths []uint64 `json:"lengths,omitzero"`
	// Tails are the counts of [WithTails]; nil without it.
	Tails *TailCounts `json:"tails,omitempty"`

	// ElapsedTicks and ElapsedNs are how far the clock and Go's monotonic clock have advanced since the
	// meters were made. Both are 0 for clocks that wrap.
	ElapsedTicks float64 `json:"elapsed_ticks"`
	ElapsedNs    float64 `json:"elapsed_ns"`

	Faults Faults `json:"faults"`
}

// Faults counts what went wrong.
type Faults struct {
	// Foreign counts calls of Stop with a start that the meter did not make: the zero Start,
	// or another meter's.
	Foreign uint64 `json:"foreign"`
	// Backward counts calls that were left out because the clock went back.
	Backward uint64 `json:"backward"`
	// Steps is the number of times that the clock was found to have been set, and Stepped the calls that were
	// left out because it was set during them.
	Steps   uint64 `json:"steps"`
	Stepped uint64 `json:"stepped"`
	// Between counts calls during which the clock did not move by the nearest whole number of ticks.
	Between uint64 `json:"between"`
}

// Snapshot returns what the meter has counted so far. Calls that end meanwhile may be in
// some of the sums and not yet in others.
func (m *Meter) Snapshot() Snapshot {
	now := m.now()
	c := m.shards.sum()
	groups, batches, steps := m.ledger.snapshot(m, c, now)
	phases, timed := m.phases.snapshot()
	p := Part{
		Clock: m.source.clock.Name, TickNs: m.source.tickNs, Vouched: m.source.vouched,
		OneIn: m.oneIn, Calls: c.measured, Measured: c.measured, Edges: c.edges, Ticks: c.ticks, Squares: c.squares,
		Groups: groups, Batches: batches, Phases: phases, Timed: timed, Lengths: m.shards.lengths(),
		Faults: Faults{m.foreign.Load(), c.backward, steps, c.stepped, c.between},
	}
	if m.tails != nil {
		p.Tails = m.tails.snapshot()
	}
	if p.Lengths != nil {
		p.Groups, p.Batches = Groups{}, Groups{}
		p.countLengths()
	}
	if m.oneIn > 1 {
		p.Calls = max(c.begun, p.Measured)
	}
	if m.source.unused == 0 {
		p.ElapsedTicks = m.ticksBetween(m.begun.reading, now.reading)
		p.ElapsedNs = float64(now.fineNs - m.begun.fineNs)
	}
	n := float64(p.Measured)
	p.CostNs, p.CostLoNs, p.CostHiNs = n*m.costNs.Value, n*m.costNs.Lo, n*m.costNs.Hi
	return Snapshot{Name: m.name, Parts: []Part{p}}
}

// countLengths fills in what follows from the calls' lengths.
func (p *Part) countLengths() {
	p.Measured = 0
	for _, n := range p.Lengths {
		p.Measured += n
	}
	p.Calls, p.Edges = p.Measured, p.Measured
	if len(p.Lengths) > 0 {
		p.Edges -= p.Lengths[0]
	}
}

// Merge adds up what two meters of one name have counted. Parts with the same clock, tick and
// sampling add up exactly, apart from the rounding of sums that are not whole numbers. Other parts
// stay separate: ticks of different lengths can't be added, and with another sampling a measured call
// stands for another number of calls. [Snapshot.Report] combines the parts. So a fleet of machines with
// different kernel ticks has one mean. Its interval becomes narrower with the edges that all machines
// saw, but [Report.TickBias] stays. The order of merging does not matter.
//
// Meters of different names are refused, since their mean would mean nothing.
func Merge(a, b Snapshot) (Snapshot, error) {
	if a.Name != b.Name {
		return Snapshot{}, fmt.Errorf("meter: merging %q with %q: they are different meters; give those that belong together one name", a.Name, b.Name)
	}
	merged := Snapshot{Name: a.Name}
	for _, p := range append(a.Parts[:len(a.Parts):len(a.Parts)], b.Parts...) {
		merged.take(p)
	}
	return merged, nil
}

func (s *Snapshot) take(p Part) {
	for i := range s.Parts {
		if s.Parts[i].sameClock(p) {
			s.Parts[i] = s.Parts[i].plus(p)
			return
		}
	}
	s.Parts = append(s.Parts, p)
}

func (p Part) sameClock(other Part) bool {
	return p.Clock == other.Clock && p.TickNs == other.TickNs && p.Vouched == other.Vouched && p.OneIn == other.OneIn &&
		(p.Lengths == nil) == (other.Lengths == nil) && (p.Tails == nil) == (other.Tails == nil)
}

// plus adds two parts. It changes nothing that they refer to.
func (p Part) plus(other Part) Part {
	ticks := p.sums().Plus(other.sums())
	p.Calls = saturating(p.Calls, other.Calls)
	p.Measured, p.Ticks, p.Squares = ticks.Calls, ticks.Sum, ticks.Squares
	p.Edges = saturating(p.Edges, other.Edges)
	p.CostNs += other.CostNs
	p.CostLoNs += other.CostLoNs
	p.CostHiNs += other.CostHiNs
	p.Groups.merge(other.Groups)
	p.Batches.merge(other.Batches)
	p.Phases = p.Phases.plus(other.Phases)
	p.Timed.merge(other.Timed)
	p.Lengths = sumOf(p.Lengths, other.Lengths)
	if p.Tails != nil {
		p.Tails = p.Tails.plus(*other.Tails)
	}
	p.ElapsedTicks += other.ElapsedTicks
	p.ElapsedNs += other.ElapsedNs
	f, g := &p.Faults, other.Faults
	f.Foreign = saturating(f.Foreign, g.Foreign)
	f.Backward = saturating(f.Backward, g.Backward)
	f.Steps = saturating(f.Steps, g.Steps)
	f.Stepped = saturating(f.Stepped, g.Stepped)
	f.Between = saturating(f.Between, g.Between)
	return p
}

func (p Part) sums() stats.Ticks {
	return stats.Ticks{Calls: p.Measured, Sum: p.Ticks, Squares: p.Squares}
}

// sumOf adds up two lists of counts, which may differ in length. It returns nil if both are nil.
func sumOf(a, b []uint64) []uint64 {
	if a == nil && b == nil {
		return nil
	}
	sum := make([]uint64, max(len(a), len(b)))
	copy(sum, a)
	for i, n := range b {
		sum[i] = saturating(sum[i], n)
	}
	return sum
}

// total returns the sum of counts, or the greatest number if it overflows.
func total(counts []uint64) (sum uint64) {
	for _, n := range counts {
		sum = saturating(sum, n)
	}
	return sum
}

// saturating adds two counts and stops at the greatest number: a sum that wrapped around would look
// valid.
func saturating(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// snapshotJSON is a snapshot with the name of its form.
type snapshotJSON struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Parts  []Part `json:"parts"`
}

// MarshalJSON writes the snapshot in the form that [Schema] names.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	return json.Marshal(snapshotJSON{Schema, s.Name, s.Parts})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses other forms and impossible counts.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var from snapshotJSON
	if err := json.Unmarshal(data, &from); err != nil {
		return fmt.Errorf("meter: a snapshot: %w", err)
	}
	if from.Schema != Schema {
		return fmt.Errorf("meter: a snapshot of the form %q: this version reads %q", from.Schema, Schema)
	}
	for i, p := range from.Parts {
		if fault := p.impossible(); fault != "" {
			return fmt.Errorf("meter: a snapshot of %q, part %d (%s): %s; no meter writes that", from.Name, i, p.Clock, fault)
		}
	}
	s.Name, s.Parts = from.Name, from.Parts
	return nil
}

// impossible says what is wrong with a part that no meter could have written.
func (p Part) impossible() string {
	switch {
	case !(p.TickNs > 0):
		return fmt.Sprintf("a tick of %v ns", p.TickNs)
	case p.Measured > p.Calls:
		return fmt.Sprintf("%d of %d calls measured", p.Measured, p.Calls)
	case !(0 <= p.CostLoNs && p.CostLoNs <= p.CostNs && p.CostNs <= p.CostHiNs):
		return fmt.Sprintf("a cost of %v ns between %v and %v", p.CostNs, p.CostLoNs, p.CostHiNs)
	case len(p.Phases.Bins) != 0 && len(p.Phases.Bins) != phaseBins:
		return fmt.Sprintf("%d bins of phases instead of %d", len(p.Phases.Bins), phaseBins)
	case len(p.Lengths) > buckets:
		return fmt.Sprintf("%d lengths of calls, of %d at most", len(p.Lengths), buckets)
	case !p.Groups.possible() || !p.Batches.possible():
		return "a sum of squares below 0"
	case p.Tails != nil && p.Tails.impossible() != "":
		return p.Tails.impossible()
	case p.Lengths != nil && p.Measured != total(p.Lengths):
		return fmt.Sprintf("the lengths of %d calls, of %d that were timed", total(p.Lengths), p.Measured)
	case p.Lengths == nil && (p.Edges > p.Measured || p.Edges > p.Ticks || p.Squares < p.Ticks):
		return fmt.Sprintf("%d edges, %d ticks, %d squares in %d calls", p.Edges, p.Ticks, p.Squares, p.Measured)
	}
	return ""
}
