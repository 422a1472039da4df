package timermeter

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/clock/check"
	"chronoscope/stats"
)

// Accuracy is the distance between two neighbouring values that a clock can show: the resolution
// of the counter behind it as a reader of the clock sees it (Kuperberg 2011a, section 2).
//
// Kuperberg reads the clock before and after growing amounts of work, clusters the differences, and
// takes the distance of neighbouring clusters, in whole units. Here the spacing of the clusters is
// a real number: it is found from the periodogram of the differences, and refined by readings that
// are further and further apart.
type Accuracy struct {
	// Units is the accuracy, in units of the clock's readings.
	Units stats.Estimate
	// UnitLimited is true if the readings take every whole unit, so that the unit of a reading
	// hides the finer counter behind it.
	UnitLimited bool
	// Changes is how many times a reading differed from the one before.
	Changes int
	stats.Judgement

	unitNs float64 // for times in reasons
}

// Patience limits the time that is spent to find the accuracy of one clock.
type Patience struct {
	// CalmNs is the time for which a clock that changes often is read.
	CalmNs float64
	// MostNs is the longest time to wait for a slow clock.
	MostNs float64
}

// Limits of a sample for accuracy.
const (
	leastChain    = 8
	mostChain     = 64
	mostWork      = 1 << 30 // rounds; if the reading does not change during them, it never will
	coarseRounds  = 1 << 18 // rounds of work in a chain of a coarse clock
	paceLength    = 16
	mostReadings  = 4096
	enoughChanges = 96
	oftenChanging = 0.25 // share of readings that differ from the one before

	fewestUpdates = 12 // needed to tell the distance between updates
)

// Sampler gathers the readings of one clock from which its accuracy is computed.
type Sampler struct {
	subject  Subject
	nowNs    func() float64
	patience Patience
	rng      *rand.Rand

	taken   readings
	ends    []int // the indices in taken at which the chains end
	work    int   // rounds of work between two readings after which the reading has often changed
	coarse  bool  // without work between them, readings rarely differ
	started float64
}

// NewSampler returns a sampler of the subject's readings. nowNs tells the time by which patience
// is measured; rng chooses the work between readings.
func NewSampler(s Subject, nowNs func() float64, p Patience, rng *rand.Rand) *Sampler {
	return &Sampler{subject: s, nowNs: nowNs, patience: p, rng: rng}
}

// Sample first increases the work between two readings until the reading changes often, and then
// reads the clock around random amounts of work of that size. It ends when it has enough
// readings, when its patience is over, or when ctx ends.
func (s *Sampler) Sample(ctx context.Context) {
	s.started = s.nowNs()
	s.findPace(ctx)
	for ctx.Err() == nil && s.wantsMore() {
		s.take(s.chainLength())
	}
}

// chainLength returns how many readings are taken around the same amount of work. A fine clock
// needs many different amounts, and so short chains. A coarse clock needs chains that are long
// compared with the time between two chains.
func (s *Sampler) chainLength() int {
	least := max(leastChain, s.subject.LeastChain)
	if !s.coarse {
		return least
	}
	return min(mostChain, max(least, coarseRounds/s.work))
}

func (s *Sampler) take(n int) {
	ticks := make([]int64, n)
	s.subject.Chain(s.randomWork(), ticks)
	s.keep(ticks)
}

func (s *Sampler) keep(ticks []int64) {
	s.taken = append(s.taken, ticks...)
	s.ends = append(s.ends, len(s.taken))
}

// sample returns what was read so far. If it takes long to start a chain, each chain is a stretch
// of its own, unless the clock hardly moves from one chain to the next.
func (s *Sampler) sample() sample {
	all := sample{readings: s.taken, stretches: []readings{s.taken}, standsStill: s.subject.StandsStill}
	if s.subject.LeastChain == 0 {
		return all
	}
	all.stretches = nil
	begin := 0
	for i, end := range s.ends {
		if end < len(s.taken) && 4*(s.taken[end]-s.taken[end-1]) <= s.taken[s.ends[i+1]-1]-s.taken[end] {
			continue
		}
		all.stretches = append(all.stretches, s.taken[begin:end])
		begin = end
	}
	return all
}

// Look takes a single reading. It is for a clock that is so slow that other clocks are measured
// between two looks.
func (s *Sampler) Look() {
	tick := make([]int64, 1)
	s.subject.Chain(0, tick)
	s.keep(tick)
}

func (s *Sampler) elapsed() float64 { return s.nowNs() - s.started }

func (s *Sampler) wantsMore() bool {
	n, changes := len(s.taken), s.taken.changes()
	switch {
	case n >= mostReadings, s.elapsed() >= s.patience.MostNs:
		return false
	case s.elapsed() >= s.patience.CalmNs:
		return changes < enoughChanges
	}
	return true
}

// findPace increases the work between two readings until a quarter of them or more differ from
// the one before, and the mean step is at least twice that without work. Then the readings show
// the steps of the clock and not only the cost of a reading.
func (s *Sampler) findPace(ctx context.Context) {
	first := s.pace(0)
	s.coarse = first.changing < oftenChanging
	for s.work = 1; ctx.Err() == nil && s.work < mostWork && s.elapsed() < s.patience.MostNs/2; s.work *= 2 {
		step := s.pace(s.work)
		if step.changing >= oftenChanging && (s.coarse || step.mean >= 2*first.mean) {
			return
		}
	}
}

// step says how the readings of a chain move.
type step struct {
	changing float64 // share of readings that differ from the one before
	mean     float64 // mean step, in units
}

// pace returns how the clock moves with some work between readings. It leaves out the two largest
// steps, so that an interrupt does not affect it.
func (s *Sampler) pace(work int) step {
	ticks := make([]int64, paceLength)
	s.subject.Chain(work, ticks)
	s.keep(ticks)
	var steps []float64
	changed := 0
	for i := 1; i < len(ticks); i++ {
		if ticks[i] != ticks[i-1] {
			changed++
		}
		steps = append(steps, float64(ticks[i]-ticks[i-1]))
	}
	slices.Sort(steps)
	trimmed := steps[:len(steps)-2]
	return step{changing: float64(changed) / float64(len(steps)), mean: stat.Mean(trimmed, nil)}
}

// randomWork returns a random amount of work, because equal amounts would add a regular pattern of
// their own to the readings. For a coarse clock the amount is small enough to see every update.
// For a fine clock it is log-uniform, so that there are both small and large differences.
func (s *Sampler) randomWork() int {
	if s.coarse {
		return s.work/4 + s.rng.IntN(s.work-s.work/4)
	}
	return int(math.Exp(s.rng.Float64()*math.Log(float64(4*s.work)+1))) - 1
}

// changes returns how many readings differ from the one before.
func (r readings) changes() int { return max(0, len(r.values())-1) }

// Accuracy returns the accuracy according to the readings so far.
func (s *Sampler) Accuracy() Accuracy { return accuracyOf(s.sample(), s.subject.UnitNs) }

// accuracyOf finds and judges the spacing of readings, which are in units of unitNs.
func accuracyOf(s sample, unitNs float64) Accuracy {
	r := s.readings
	a := Accuracy{Judgement: stats.NewJudgement(), Changes: r.changes(), unitNs: unitNs}
	a.judgeOrder(r)
	a.Units = stats.NoEstimate("units", "quantum")
	a.Units.N = len(r)
	if a.Changes == 0 {
		a.Lower(stats.Unusable, "the reading never changed in %d readings", len(r))
		return a
	}
	found, unseen := findLattice(s)
	if found != nil && (found.blur > 0 || found.mirror > 0) && s.standsStill {
		found = found.within(s.stretches)
	}
	switch updates, apart := updatesApart(s.stretches, found); {
	case apart:
		a.takeUpdates(updates)
	case found != nil:
		a.takeLattice(*found)
	default:
		a.takeUnit(math.Min(boundFromRuns(r), unseen))
	}
	return a
}

func (a *Accuracy) time(units float64) string { return stats.Duration(units*a.unitNs, 4) }

func count(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// judgeOrder looks for readings that are less than the previous one.
func (a *Accuracy) judgeOrder(r readings) {
	if b := check.Order(r); b.Count > 0 {
		a.Lower(stats.Unusable, "%d of %d readings step back, by up to %s", b.Count, b.Readings, a.time(float64(b.Worst)))
	}
}

// takeLattice sets the accuracy to the spacing of a lattice.
func (a *Accuracy) takeLattice(l lattice) {
	a.Units.Value, a.Units.Lo, a.Units.Hi = l.quantum, l.lo, l.hi
	if l.mirror > 0 {
		a.Units.Lo = min(l.lo, mirror(l.lo), mirror(l.hi))
		a.Units.Hi = max(l.hi, mirror(l.lo), mirror(l.hi))
		a.Lower(stats.Suspect, "rounded to whole units, an accuracy of %s and one of %s look alike", a.time(l.quantum), a.time(l.mirror))
	}
	if l.blur > 0 {
		a.Lower(stats.Suspect, "its values lie about multiples of %s, and stray from them by up to %s", a.time(l.quantum), a.time(l.blur))
	}
	if a.Units.RelativeHalfWidth() > stats.WideShare {
		a.Lower(stats.Suspect, "only %.0f quanta were seen in one stretch; a longer measurement narrows the interval", l.extent/l.quantum)
	}
}

// takeUnit sets the accuracy to the unit of the readings, if the spacing was found to be at most
// hi units.
func (a *Accuracy) takeUnit(hi float64) {
	if math.IsInf(hi, 1) {
		a.Lower(stats.Unusable, "the reading changed %s, too few to tell by how much; a longer measurement can", count(a.Changes))
		return
	}
	a.UnitLimited = true
	a.Units.Value, a.Units.Lo, a.Units.Hi = 1, 1, hi
	switch {
	case a.Changes < fewestUpdates:
		a.Lower(stats.Suspect, "the reading was seen to change only %s; a longer measurement narrows the interval", count(a.Changes))
	case hi > 1.5:
		a.Lower(stats.Suspect, "it takes all whole units, but a coarser step of up to %s is not ruled out; a longer measurement can", a.time(hi))
	}
}

// takeUpdates sets the accuracy to the typical update of a clock whose values are finer than its
// updates. An update is the difference of two readings, each rounded down to the unit, so it is
// known to a unit in either direction.
func (a *Accuracy) takeUpdates(median stats.Estimate) {
	a.Units = median
	a.Units.Lo, a.Units.Hi = math.Max(0, median.Lo-1), median.Hi+1
	a.Lower(stats.Suspect, "its updates come at irregular intervals, half of them after %s or more, though its values lie closer than that", a.time(median.Value))
}

// updatesApart returns the median of the updates and whether it is the clock's accuracy (apart).
// It is if four in five updates move the reading by more than 1.5 units or, if the readings lie
// on a sharp lattice, by more than skippedSteps of its steps: on a busy machine several steps of
// a coarse clock pass while the reader is preempted.
//
// The updates are those between repeated readings, because there the clock was read often enough
// to see each update. If there are few of them, and no sharp lattice was found, updatesApart uses
// all changes of a reading that mostly repeats. The change from one stretch to the next is not an
// update.
func updatesApart(stretches []readings, found *lattice) (median stats.Estimate, apart bool) {
	var updates, moves []float64
	n := 0
	for _, r := range stretches {
		updates = append(updates, r.seenUpdates()...)
		moves = append(moves, r.differences(1)...)
		n += len(r)
	}
	beyond := 1.5
	if found != nil && found.blur == 0 {
		beyond = skippedSteps * found.quantum
	} else if len(updates) < fewestUpdates && 2*len(moves) < n {
		updates = moves
	}
	slices.Sort(updates)
	if len(updates) < fewestUpdates || stats.Quantile(updates, 0.2) < beyond {
		return median, false
	}
	median, _, err := stats.QuantileInterval(updates, 0.5, "units")
	return median, err == nil
}

// skippedSteps is how many steps of a coarse clock may pass while its reader is preempted.
const skippedSteps = 50

// An update was seen at once if the reading repeats repeatsBefore times before it and
// repeatsAfter times after it.
const (
	repeatsBefore = 4
	repeatsAfter  = 3
)

// seenUpdates returns by how much updates moved the reading, for updates before and after which
// the reading repeats.
func (r readings) seenUpdates() []float64 {
	var updates []float64
	run := 0 // number of readings up to i that repeat the previous one
	for i := 1; i+repeatsAfter < len(r); i++ {
		switch {
		case r[i] == r[i-1]:
			run++
		case r[i] > r[i-1] && run >= repeatsBefore && r[i+repeatsAfter] == r[i]:
			updates = append(updates, float64(r[i]-r[i-1]))
			fallthrough
		default:
			run = 0
		}
	}
	return updates
}

// boundFromRuns returns the largest possible spacing, in units. A spacing of 1 + 1/n units skips
// one whole unit in every n, so the longest rise without a skipped unit bounds it.
func boundFromRuns(r readings) float64 {
	longest, run := 0, 0
	for i := 1; i < len(r); i++ {
		switch r[i] - r[i-1] {
		case 0:
		case 1:
			run++
		default:
			run = 0
		}
		longest = max(longest, run)
	}
	if longest == 0 {
		return math.Inf(1)
	}
	return 1 + 1/float64(longest)
}
