package gobench

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"chronoscope/stats"
)

// A core may run much faster at one moment than at another, and no counter tells: another virtual machine uses its second
// hyperthread, or the clock rate changes. Two runs that are made one after the other see different conditions. In a duet,
// two benchmarks run at the same time on one CPU, so that the scheduler alternates between them every few milliseconds: both
// see the same conditions, and the ratio of their CPU times scatters less. (Bulej, Horký, Tůma, Farquet and Prokopec, Duet
// Benchmarking: Improving Measurement Accuracy in the Cloud, ICPE 2020, run each on a CPU of its own, but different neighbours
// may share the two CPUs.) Each also finds the caches as the other left them. The added time is in proportion to the time that
// they run, so that it cancels in the ratio, unless only one of them needs the caches.
//
// Duets tell ratios only. A benchmark's own time comes from runs by itself.

// DuetRunner is a [Runner] that may be able to run duets, too.
type DuetRunner interface {
	Runner
	// CanDuet reports whether it can.
	CanDuet() bool
	// RunDuet runs both benchmarks of a duet, and returns what each showed, and its error as in [Runner], in the order
	// of the duet.
	RunDuet(ctx context.Context, d Duet) ([2]Observation, [2]error)
}

// Duet is two runs at the same time.
type Duet struct {
	Benchmarks [2]Benchmark // in the order in which they start
	Starts     [2]int       // how many times the timer of each starts until its iterations begin; 0 if unknown
	N          int          // iterations of each
	Procs      int          // GOMAXPROCS of both, unless they set it
	Turn       int          // selects the CPU
}

// CanDuet implements [DuetRunner].
func (p Processes) CanDuet() bool { return len(p.DuetCPUs) > 0 }

// RunDuet implements [DuetRunner].
func (p Processes) RunDuet(ctx context.Context, d Duet) (o [2]Observation, errs [2]error) {
	meets := newMeeting(filepath.Dir(d.Benchmarks[0].Binary))
	env := meets.env(d.Starts)
	on := Processes{CPUs: []int{p.DuetCPUs[d.Turn%len(p.DuetCPUs)]}, Timeout: 2 * p.Timeout, Nice: p.Nice}
	var both sync.WaitGroup
	for i, b := range d.Benchmarks {
		both.Go(func() {
			o[i], errs[i] = on.run(ctx, b, d.N, false, append(env[i], "GOMAXPROCS="+strconv.Itoa(d.Procs))...)
			meets.leave()
		})
	}
	both.Wait()
	meets.close()
	return o, errs
}

// weigh finds out whether a group may be measured in duets. It looks again until there are enough pairs for a first look of
// the gate, since something may have disturbed the first repetitions. After that look a change of the pairs would spend the
// rate of errors twice.
func (m *measurement) weigh(group []*Series, now *standing) {
	fewest := min(len(group[0].Repetitions), len(group[len(group)-1].Repetitions))
	if now.duets || now.noDuets || fewest <= now.weighedAt || fewest < m.plan.LeastRepetitions || fewest > m.least || m.plan.MostRepetitions > 0 && fewest >= m.plan.MostRepetitions {
		return
	}
	if now.weighedAt = fewest; m.suitDuets(group) {
		*now = standing{duets: true, procs: procsInDuets(group)}
	}
}

// duetsFrom is the share of its time after which a group has to have made the repetitions that come before its duets, so
// that enough of the time is left.
const duetsFrom = 0.5

// mostAtOnce is the largest share of its CPU time for which threads of the garbage collector may run in parallel with a
// benchmark in duets.
const mostAtOnce = 0.3

// suitDuets reports whether the two benchmarks of a group may be measured in duets: both compute all the time, in one thread at
// a time or in one goroutine, so that their CPU time is about their time (the bounds of [duetPairs] allow for the rest), neither
// reports a time of its own that is not shorter than the iterations', and nothing but times and allocations has a limit.
func (m *measurement) suitDuets(group []*Series) bool {
	runner, ok := m.runner.(DuetRunner)
	if !ok || !runner.CanDuet() || len(group) != 2 || group[0].many != group[1].many {
		return false
	}
	if float64(spentOn(group)) > duetsFrom*float64(m.own(group)) {
		return false
	}
	for unit := range m.plan.gate().Metrics {
		if !isCount(unit) {
			return false
		}
	}
	return !slices.ContainsFunc(group, func(s *Series) bool {
		if s.Failure != nil || s.tooSlow || s.slowedByTracing {
			return true
		}
		r := Conclude(s, m.plan, m.setting)
		k := r.timed.kind
		collects := s.oneGoroutine() && !k.blocks && stats.Median(r.atOnceShares()) < mostAtOnce
		return !k.alone && !collects || k.mayBlock || k.apart || k.ownTime || k.untimed > nothingMissing
	})
}

// turns returns what a round measures of a group: a duet, or each benchmark by itself, or both while the benchmarks' own
// times are not known well enough.
func (m *measurement) turns(group []*Series, now *standing) (all []turn) {
	if now.duets {
		all = append(all, turn{group, group, now})
	}
	if !now.duets || m.wantsOwn(group, now) {
		for _, s := range group {
			all = append(all, turn{[]*Series{s}, group, now})
		}
	}
	return all
}

// ownShare is the largest share of their time for which the benchmarks of a group run by themselves, if they have duets.
func (p Plan) ownShare() float64 {
	switch {
	case p.PairsOnly:
		return 0
	case p.Gate != nil:
		return 0.25
	}
	return 0.5
}

// wantsOwn reports whether the own time of a benchmark of a group with duets is not known well enough, and time is left for it.
func (m *measurement) wantsOwn(group []*Series, now *standing) bool {
	var own time.Duration
	for _, s := range group {
		own += s.ownSpent
	}
	return float64(own) <= m.plan.ownShare()*float64(spentOn(group)) && !m.ownKnown(group, now)
}

// ownKnown reports whether the own times of both benchmarks of a group are known well enough.
func (m *measurement) ownKnown(group []*Series, now *standing) bool {
	if n := len(group[1].Repetitions); n != now.ownAt {
		now.ownAt = n
		now.ownKnown = !slices.ContainsFunc(group, func(s *Series) bool { return !m.enough(s, m.plan.limits()) })
	}
	return now.ownKnown
}

// pairsOf returns how many pairs of a group count: those in the usual layout don't if there are others.
func pairsOf(group []*Series, duets bool) int {
	last := group[len(group)-1]
	made := last.Repetitions
	if duets {
		made = last.Duets
	}
	if len(last.Benchmark.Layouts) == 0 || len(group) == 1 {
		return len(made)
	}
	n := 0
	for _, rep := range made {
		if rep.Layout > 0 {
			n++
		}
	}
	return n
}

// runDuet makes one more duet of a group, of few and of many iterations, in random order. The late runs come before the
// first one. If a benchmark fails in a duet, perhaps because both use the same file or port, the group goes on without duets.
// If the gate has looked at them, the group ends with those that it has, and each runs once by itself, which shows whether it
// fails there, too.
func (m *measurement) runDuet(ctx context.Context, group []*Series, now *standing) error {
	if len(group[0].Duets) == 0 {
		for _, s := range group {
			if err := m.runLate(ctx, s); err != nil || s.Failure != nil {
				return err
			}
		}
	}
	few, many := max(fewestFew, group[0].many/farRatio), group[0].many
	counts := []int{few, many}
	m.rng.Shuffle(len(counts), func(i, j int) { counts[i], counts[j] = counts[j], counts[i] })
	shown := map[int][2]Observation{}
	layout, used := group[0].Benchmark.next(group[0].Duets)
	for _, n := range counts {
		o, err := m.together(ctx, group, Duet{N: n, Procs: now.procs, Turn: used}, layout) // each layout on each CPU
		var failed *FailedError
		switch {
		case errors.As(err, &failed):
			group[0].NoDuets, group[1].NoDuets = failed, failed
			if now.lookedAt == 0 {
				*now, group[0].Duets, group[1].Duets = standing{noDuets: true}, nil, nil
				return nil
			}
			now.decided = true
			for _, s := range group {
				if _, err := m.run(ctx, s, n, false); err != nil {
					return err
				}
			}
			return nil
		case err != nil:
			return err
		}
		shown[n] = o
	}
	for i, s := range group {
		s.Duets = append(s.Duets, Repetition{Few: shown[few][i], Many: shown[many][i], Layout: layout})
	}
	return nil
}

// together runs both benchmarks of a group at the same time. Which one starts first is drawn at random.
func (m *measurement) together(ctx context.Context, group []*Series, d Duet, layout int) (shown [2]Observation, err error) {
	order := m.rng.Perm(2)
	for place, i := range order {
		d.Benchmarks[place], d.Starts[place] = group[i].Benchmark.placed(layout, m.places), group[i].Repetitions[0].Many.Starts
	}
	m.settle()
	began := time.Now()
	o, errs := m.runner.(DuetRunner).RunDuet(ctx, d)
	took := max(wallOf(o[0], o[1]), time.Since(began)) // also if one of them was ended
	for place, i := range order {
		shown[i] = o[place]
		group[i].spent += took / 2
	}
	return shown, cmp.Or(errs[0], errs[1])
}

// procsInDuets returns the GOMAXPROCS of a group's duets: that of the benchmarks by themselves, or 1 if each has one goroutine.
// On one CPU, with a GOMAXPROCS of 2 the start of a process takes twice as long as with 1, and threads of the garbage collector
// that wait for one another use a third more CPU time.
func procsInDuets(group []*Series) int {
	for _, s := range group {
		if !s.oneGoroutine() {
			return s.first.Procs
		}
	}
	return 1
}

// oneGoroutine reports whether one goroutine did all of the work, except collecting garbage.
func (s *Series) oneGoroutine() bool {
	return !slices.ContainsFunc(s.Repetitions, func(rep Repetition) bool { return !rep.Few.OneGoroutine || !rep.Many.OneGoroutine })
}

// wallOf returns the time by the clock of two processes that ran at once.
func wallOf(a, b Observation) time.Duration { return time.Duration(max(processNs(a), processNs(b))) }

// inDuets reports whether two results are compared by their duets: there are enough of them.
func inDuets(a, b *Result) bool { return min(len(a.Duets), len(b.Duets)) >= leastPairs }

// duetPairs returns the pairs of times of duets, and their numbers. They are CPU times. Interrupts, and caches that the other
// one used, add to both. A time is longer if the benchmark also waited for something other than a CPU, and shorter if several
// of its threads ran at once when it had more CPUs. As far as that is the same for both, it cancels.
func duetPairs(a, b *Result) (pairs stats.Pairs, numbers []int) {
	bounded := func(r *Result, rep Repetition, atOnce float64) stats.Bounded {
		cpu, idle := rep.perIteration(cpuNs), rep.perIteration(idleNs)
		if math.IsNaN(idle) { // a thread has ended
			idle = r.timed.kind.missingMost * cpu
		}
		return stats.Bounded{Lo: cpu * (1 - atOnce), Mid: cpu, Hi: cpu + math.Max(0, idle)}
	}
	var first, second []stats.Bounded
	then, now := atOnce(a, b)
	for i := range min(len(a.Duets), len(b.Duets)) {
		first, second = append(first, bounded(a, a.Duets[i], then)), append(second, bounded(b, b.Duets[i], now))
	}
	numbers = pairs.AddAlike(first, second)
	return pairs, numbers
}

// atOnceShares returns the largest shares of the CPU time for which several threads of a benchmark can have run at once, in the
// runs by itself in which threads waited least: while one waits, another may run alone.
func (r *Result) atOnceShares() (shares []float64) {
	calmest := calmestRuns(r.Repetitions, math.Inf(1), func(int) bool { return false })
	for _, o := range calmest {
		shares = append(shares, math.Max(0, -idleNs(o)/o.CPUNs))
	}
	if len(shares) < fewestEscaped { // the process does not read its own counters
		shares = nil
		for _, idle := range r.timed.kind.idle {
			shares = append(shares, math.Max(0, -idle))
		}
	}
	return shares
}

// atOnce returns the shares of the CPU times of two benchmarks for which several of their threads ran at once, when they ran by
// themselves. It is the mean for both, if they may have the same share and allocate as much, so that their collectors have as
// much to do.
func atOnce(a, b *Result) (then, now float64) {
	first, second := stats.MedianOrRange(a.atOnceShares(), ""), stats.MedianOrRange(b.atOnceShares(), "")
	then, now = first.Value, second.Value
	if first.Lo <= second.Hi && second.Lo <= first.Hi && math.Abs(a.bytesPerOp()-b.bytesPerOp()) <= sameBytes*a.bytesPerOp()+1 {
		then, now = (then+now)/2, (then+now)/2
	}
	return then, now
}

// sameBytes is the share by which allocated bytes may differ that keep a collector as busy.
const sameBytes = 0.01

// bytesPerOp returns how many bytes an iteration allocates; 0 if it is not known.
func (r *Result) bytesPerOp() float64 {
	for _, m := range r.Metrics {
		if m.Unit == bytesUnit {
			return m.Value
		}
	}
	return 0
}
