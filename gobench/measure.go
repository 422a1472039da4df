package gobench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Progress is called with the share of the measurement that is done, and with what is being done.
type Progress func(share float64, doing string)

// Series holds the measurements of one benchmark.
type Series struct {
	Benchmark   Benchmark
	Repetitions []Repetition
	// Duets are the repetitions whose runs were made at the same time as those of the other benchmark of the group.
	Duets []Repetition
	// NoDuets is the failure of a benchmark of the group that ended its duets; nil if none did.
	NoDuets *FailedError
	// NoMoreLayouts is why no more layouts were linked although they were wanted; nil if nothing failed.
	NoMoreLayouts error
	// Failure is why there are no more repetitions; nil if there are enough.
	Failure *FailedError

	few, many       int           // iterations of the two runs of a repetition
	first           Observation   // the first run of the search for few and many
	late            []Observation // runs of more iterations than the repetitions have
	spent           time.Duration // time of the processes by the clock
	ownSpent        time.Duration // without that of duets
	slowedByTracing bool          // then every other repetition is untraced
	tooSlow         bool          // no repetition fits into the time: the first run replaces it
	done            bool
	calls           *Calls // nil if single calls were not asked for
}

// Measure repeats the benchmarks in turn until each is known as well as the plan asks for, or has used up its
// time. Those of one group are measured next to one another, so that they can be compared. If ctx ends, Measure
// returns its error with what was measured until then.
func Measure(ctx context.Context, r Runner, groups [][]Benchmark, plan Plan, setting Setting, progress Progress) ([][]*Series, error) {
	all := make([][]*Series, len(groups))
	for i, group := range groups {
		usual := slices.ContainsFunc(group, func(b Benchmark) bool { return len(b.Layouts) != len(group[0].Layouts) })
		for _, b := range group {
			if usual { // only one has been arranged
				b.Layouts = nil
			}
			if b.first = len(b.Layouts); plan.Gate == nil { // then nothing asks for more
				b.Orders = nil
			}
			all[i] = append(all[i], &Series{Benchmark: b})
		}
	}
	return all, Resume(ctx, r, all, plan, setting, progress)
}

// Resume goes on with what Measure returned, and adds to it. What was learnt of the benchmarks holds further. Their pairs
// stay of one kind: duets, or runs one after the other. With PairsOnly, the plan's limits are those of what is added.
func Resume(ctx context.Context, r Runner, all [][]*Series, plan Plan, setting Setting, progress Progress) error {
	settle, release := machine.CollectBetween(machine.UsualGarbageBytes)
	defer release()
	m := measurement{runner: r, settle: settle, plan: plan, setting: setting, progress: progress, rng: rand.New(rand.NewPCG(plan.Seed, 0x60be)), places: rand.New(rand.NewPCG(plan.Seed, 0x57ac))}
	return m.measure(ctx, all)
}

type measurement struct {
	runner   Runner
	settle   func() // collects the garbage of this process
	plan     Plan
	setting  Setting
	progress Progress
	rng      *rand.Rand
	places   *rand.Rand // draws where stacks begin
	standing []standing // of each group
	least    int        // repetitions of a benchmark, and pairs of a group
}

// standing is what is known of a group.
type standing struct {
	// duets says that it is measured in duets, with the GOMAXPROCS procs, and noDuets that one of its benchmarks fails in
	// them. weighedAt is the number of repetitions when suitDuets was last asked.
	duets, noDuets bool
	procs          int
	weighedAt      int
	// ownKnown says that the own times of its benchmarks were known well enough when ownAt repetitions were made.
	ownKnown bool
	ownAt    int
	// decided says that the sides of the limits are known, quiet that the group seems to be within them, and beyond
	// that it is beyond one.
	decided, quiet, beyond bool
	lookedAt               int // the pairs at the last look
	wantsLayouts           bool
	// wantsLate says that later iterations seem to take longer, which another late run is to confirm, and askedLate that it was wanted
	// once.
	wantsLate, askedLate bool
	// pairs and spent are what the group had before this measurement.
	pairs int
	spent time.Duration
}

// standingOf returns what is known of a group before a measurement.
func standingOf(group []*Series) standing {
	if len(group[0].Repetitions) == 0 || group[0].tooSlow {
		return standing{}
	}
	now := standing{spent: group[0].spent, noDuets: true, pairs: pairsOf(group, false)}
	if len(group[0].Duets) > 0 {
		now = standing{spent: group[0].spent, duets: true, procs: procsInDuets(group), pairs: pairsOf(group, true)}
	}
	now.lookedAt = now.pairs
	return now
}

// turn is one measurement: of a benchmark by itself, or of both of a group in a duet.
type turn struct {
	series, group []*Series
	known         *standing
}

func (m *measurement) measure(ctx context.Context, all [][]*Series) error {
	m.plan, m.standing, m.least = m.plan.forManyProcesses(), make([]standing, len(all)), m.plan.leastOf(pairsAmong(all))
	for i, group := range all {
		m.standing[i] = standingOf(group)
		if m.standing[i].pairs > 0 {
			continue
		}
		for _, s := range group {
			m.tell(0.2*float64(i)/float64(len(all)), "how long is "+s.Benchmark.Name)
			if err := m.choose(ctx, s); err != nil {
				return err
			}
		}
		alike(group)
	}
	return repeat.InTurn(m.rng, func() [][]turn { return m.unfinished(all) }, func(_ int, t turn) error {
		if t.known.wantsLayouts {
			t.known.wantsLayouts = false
			m.tell(m.shareDone(all), "linking the tests of "+t.group[0].Benchmark.Package+" in more orders")
			if err := grow(ctx, t.group); err != nil {
				return err
			}
		}
		m.tell(m.shareDone(all), t.series[0].Benchmark.Name)
		if t.known.wantsLate {
			t.known.wantsLate = false
			if err := m.confirmLate(ctx, t.group); err != nil || failed(t.group) {
				return err
			}
		}
		m.setting.Checks.Look(ctx, nil)
		if len(t.series) > 1 {
			return m.runDuet(ctx, t.series, t.known)
		}
		return m.repeat(ctx, t.series[0])
	})
}

// pairsAmong counts the groups of two benchmarks.
func pairsAmong(all [][]*Series) (pairs int) {
	for _, group := range all {
		if len(group) > 1 {
			pairs++
		}
	}
	return pairs
}

// leastOf returns the least number of repetitions, with which the two benchmarks of each group can be told apart, for this
// number of pairs of benchmarks.
func (p Plan) leastOf(pairs int) int {
	if pairs == 0 {
		return p.LeastRepetitions
	}
	return max(p.LeastRepetitions, p.gate().LooksFor(pairs).First)
}

func (m *measurement) tell(share float64, doing string) {
	if m.progress != nil {
		m.progress(share, doing)
	}
}

func (m *measurement) shareDone(all [][]*Series) float64 {
	var sum, n float64
	for _, group := range all {
		for _, s := range group {
			n++
			if s.done {
				sum++
			} else {
				sum += math.Min(0.99, float64(s.spent)/float64(m.plan.MaxTime))
			}
		}
	}
	return 0.2 + 0.8*sum/math.Max(1, n)
}

// unfinished returns the turns of the groups that need more repetitions. A group continues as a whole, so that its
// repetitions are pairs. It ends if one of its benchmarks fails. Groups that seem to be within their limit wait
// until no other group needs their time.
func (m *measurement) unfinished(all [][]*Series) (busy [][]turn) {
	var waiting [][]turn
	left, beyond, looked := m.leftOver(all), false, false
	for i, group := range all {
		now := &m.standing[i]
		m.weigh(group, now)
		lookedAt, more := now.lookedAt, false
		switch {
		case failed(group):
		case m.plan.PairsOnly:
			more = !now.decided && !group[0].tooSlow && !m.limits().Ended(pairsOf(group, now.duets)-now.pairs, group[0].spent-now.spent)
		case len(group) > 1 && m.plan.Gate != nil:
			more = !m.settled(group, now, pairsAmong(all), left)
			beyond, looked = beyond || now.beyond, looked || now.lookedAt != lookedAt
		case now.duets:
			more = (!m.ownKnown(group, now) || pairsOf(group, true) < m.least) && !m.limits().Ended(pairsOf(group, true), group[0].spent)
		default:
			few := len(group) > 1 && !group[0].tooSlow && pairsOf(group, false) < m.least && !m.limits().Ended(pairsOf(group, false), group[0].spent)
			more = few || slices.ContainsFunc(group, func(s *Series) bool { return !s.done && !m.enough(s, m.limits()) })
		}
		for _, s := range group {
			s.done = !more
		}
		switch {
		case more && now.quiet:
			waiting = append(waiting, m.turns(group, now))
		case more:
			busy = append(busy, m.turns(group, now))
		}
	}
	switch {
	case m.plan.FailFast && beyond && looked && m.fails(all):
		return nil
	case len(busy) > 0:
		return busy
	}
	return waiting
}

// failed reports whether a benchmark of a group fails.
func failed(group []*Series) bool {
	return slices.ContainsFunc(group, func(s *Series) bool { return s.Failure != nil })
}

// limits returns the limits of each benchmark, or pair of benchmarks.
func (m *measurement) limits() repeat.Limits {
	limits := m.plan.limits()
	limits.Least = m.least
	return limits
}

// fails reports whether the gate fails with what has been measured.
func (m *measurement) fails(all [][]*Series) bool {
	var comparisons []Comparison
	for _, group := range all {
		if len(group) > 1 {
			comparisons = append(comparisons, CompareAll(Conclude(group[0], m.plan, m.setting), Conclude(group[1], m.plan, m.setting), m.plan)...)
		}
	}
	return slices.ContainsFunc(Judge(comparisons, m.plan), func(j Judged) bool { return j.Side == stats.Beyond })
}

// mostOverdrawn is how many times its own time a group may take, if other groups leave theirs.
const mostOverdrawn = 4

// leftOver returns the time that finished and waiting groups did not use, less what other groups took of it.
func (m *measurement) leftOver(all [][]*Series) (left time.Duration) {
	for i, group := range all {
		over := m.own(group) - spentOn(group)
		if group[0].done || m.standing[i].quiet || over < 0 {
			left += over
		}
	}
	return left
}

// own returns the time that a group may take, unless it waits and others take of it.
func (m *measurement) own(group []*Series) time.Duration {
	return time.Duration(len(group)) * m.plan.MaxTime
}

func spentOn(group []*Series) (spent time.Duration) {
	for _, s := range group {
		spent += s.spent
	}
	return spent
}

// settled reports whether a pair may end: its comparisons show on which side of the limit they lie, or its own
// time and the time that others left are used up. It does not end before fewestFar pairs if all are far beyond. At each look
// it also notes whether the pair is quiet.
func (m *measurement) settled(group []*Series, known *standing, pairs int, left time.Duration) bool {
	spent, own, n := spentOn(group), m.own(group), pairsOf(group, known.duets)
	limits := m.limits()
	limits.Time = own
	switch {
	case n < limits.Least:
	case left > 0:
		limits.Time = mostOverdrawn * own
	case known.quiet: // others took its time
		limits.Time = 0
	}
	switch {
	case known.decided || group[0].tooSlow || group[1].tooSlow:
		return true
	case limits.Ended(n, spent):
		return !(n < fewestFar && m.isFar(group))
	case n < limits.Least || n == known.lookedAt || !m.plan.gate().LooksFor(pairs).Due(n):
		return false
	}
	then, now := Conclude(group[0], m.plan, m.setting), Conclude(group[1], m.plan, m.setting)
	known.decided, known.quiet, known.beyond, known.lookedAt = true, true, false, n
	beyondInPairs, later := false, false
	for _, c := range CompareAll(then, now, m.plan) {
		switch c.side(m.plan, pairs) {
		case stats.Beyond:
			known.beyond = true
		case stats.Within:
			later = later || c.mayExceedLater(m.plan.gate().LimitOf(c.Metric))
		case stats.Open:
			known.decided, known.quiet = false, known.quiet && c.quiet(m.plan)
			beyondInPairs = beyondInPairs || c.beyondInPairs(m.plan, pairs)
		}
	}
	known.wantsLayouts = beyondInPairs && m.affordsLayouts(group, n, min(limits.Time, own+left)-spent)
	if later && !known.askedLate { // more pairs would not tell, and others don't need its time more
		known.decided, known.quiet, known.wantsLate, known.askedLate = false, false, true, true
	}
	return known.decided
}

// isFar reports whether all pairs of a group are far beyond its limit.
func (m *measurement) isFar(group []*Series) bool {
	c := Compare(Conclude(group[0], m.plan, m.setting), Conclude(group[1], m.plan, m.setting), 2*m.plan.Precision, m.plan.Seed)
	return c.isFar(m.plan.gate().LimitOf(c.Metric))
}

// enough reports whether a series within these limits may end.
func (m *measurement) enough(s *Series, limits repeat.Limits) bool {
	return s.tooSlow || limits.Enough(len(s.Repetitions), s.spent, func() float64 {
		r := Conclude(s, m.plan, m.setting)
		if r.Estimate.N < limits.Least { // some repetitions are left out, or only every other one counts
			return math.Inf(1)
		}
		return r.Estimate.RelativeHalfWidth()
	})
}

// repeat makes one more repetition, its runs in random order. After the least repetitions it also makes the late
// runs, which have more iterations (see runLate).
func (m *measurement) repeat(ctx context.Context, s *Series) error {
	layout, used := s.Benchmark.next(s.Repetitions)
	rep := Repetition{Layout: layout, Traced: !s.slowedByTracing || (used+s.Benchmark.turn(layout))%2 == 0} // each layout is traced and untraced
	few, least := s.few, s.few >= manyMoreThanLeast*fewestFew
	if len(s.Repetitions) >= shapeRepetitions {
		few, least = max(fewestFew, s.many/farRatio), false
	}
	runs := []func() error{
		func() (err error) { rep.Few, err = m.run(ctx, s, few, rep.Traced); return err },
		func() (err error) { rep.Many, err = m.run(ctx, s, s.many, rep.Traced); return err },
	}
	if least {
		runs = append(runs, func() (err error) { rep.Least, err = m.run(ctx, s, fewestFew, rep.Traced); return err })
	}
	m.rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	for _, run := range runs {
		if err := run(); err != nil || s.Failure != nil {
			return err
		}
	}
	s.Repetitions = append(s.Repetitions, rep)
	if len(s.Repetitions) == m.least {
		return m.runLate(ctx, s)
	}
	return nil
}

// run runs the benchmark once. If the benchmark fails, that ends its series, not the measurement.
func (m *measurement) run(ctx context.Context, s *Series, n int, traced bool) (Observation, error) {
	m.settle()
	layout, _ := s.Benchmark.next(s.Repetitions)
	o, err := m.runner.Run(ctx, s.Benchmark.placed(layout, m.places), n, traced)
	s.spent, s.ownSpent = s.spent+time.Duration(processNs(o)), s.ownSpent+time.Duration(processNs(o))
	if failed, ok := errors.AsType[*FailedError](err); ok {
		s.Failure = failed
		return o, nil
	}
	return o, err
}
