package gobench

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"chronoscope/repeat"
	"chronoscope/stats"
)

// A core may run much faster at one moment than at another, and no counter tells: another virtual machine uses its second
// hyperthread, or the clock rate changes. Two runs that are made one after the other meet different moments. In a duet,
// two benchmarks run at the same time on one CPU, so that the scheduler lets them take turns of a few milliseconds: both
// meet the same moments, and the ratio of their CPU times scatters less. (Bulej, Horký, Tůma, Farquet and Prokopec, Duet
// Benchmarking: Improving Measurement Accuracy in the Cloud, ICPE 2020, run both on CPUs of their own. Two CPUs may be
// shared by different neighbours.) Each also finds caches that the other has used. The time that this adds is in
// proportion to the time that they run, so that it cancels in the ratio, unless only one of them needs the caches.
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
	N          int          // iterations of each
	Procs      int          // GOMAXPROCS of both, unless they set it
	Number     int          // of earlier duets of these benchmarks; it chooses the CPU
}

// CanDuet implements [DuetRunner].
func (p Processes) CanDuet() bool { return len(p.DuetCPUs) > 0 }

// RunDuet implements [DuetRunner].
func (p Processes) RunDuet(ctx context.Context, d Duet) (o [2]Observation, errs [2]error) {
	meets, err := newMeeting(filepath.Dir(d.Benchmarks[0].Binary))
	if err != nil {
		return o, [2]error{err, err}
	}
	on := Processes{CPUs: []int{p.DuetCPUs[d.Number%len(p.DuetCPUs)]}, Timeout: p.Timeout, Nice: p.Nice}
	procs := "GOMAXPROCS=" + strconv.Itoa(d.Procs)
	var both sync.WaitGroup
	for i, b := range d.Benchmarks {
		both.Go(func() {
			o[i], errs[i] = on.run(ctx, b, d.N, false, procs, meets.env()[i])
			meets.leave()
		})
	}
	both.Wait()
	return o, [2]error{cmp.Or(errs[0], meets.close()), errs[1]}
}

// duetsFrom is the share of its time after which a group has to have made the repetitions that come before its duets, so
// that enough of the time is left.
const duetsFrom = 0.5

// suitDuets reports whether the two benchmarks of a group may be measured in duets: both compute in one thread at a
// time, so that their CPU time is their time, and nothing but times and allocations has a limit.
func (m *measurement) suitDuets(group []*Series) bool {
	if !m.canDuet() || len(group) != 2 || float64(spentOn(group)) > duetsFrom*float64(m.own(group)) {
		return false
	}
	for unit := range m.plan.gate().Metrics {
		if !isCount(unit) {
			return false
		}
	}
	return group[0].many == group[1].many && !slices.ContainsFunc(group, func(s *Series) bool {
		if s.Failure != nil || s.tooSlow || s.slowedByTracing {
			return true
		}
		k := Conclude(s, m.plan, m.setting).timed.kind
		return !k.alone || k.mayBlock || k.apart || k.untimed > untimedShare
	})
}

func (m *measurement) canDuet() bool {
	r, ok := m.runner.(DuetRunner)
	return ok && r.CanDuet()
}

// weigh finds out whether a group may be measured in duets. It looks again when there are more repetitions, since something
// may have disturbed the first ones.
func (m *measurement) weigh(group []*Series, now *standing) {
	fewest := min(len(group[0].Repetitions), len(group[len(group)-1].Repetitions))
	if !now.duets && fewest > now.weighedAt && repeat.Due(fewest, m.plan.LeastRepetitions, repeat.UsualGrowth) {
		now.duets, now.weighedAt = m.suitDuets(group), fewest
	}
}

// turns returns what a round measures of a group: a duet, or each benchmark by itself, or both while the benchmarks' own
// times are not known well enough.
func (m *measurement) turns(group []*Series, duets bool) (all []turn) {
	if duets {
		all = append(all, group)
	}
	if !duets || m.wantsOwn(group) && ownSpent(group) <= spentOn(group)/2 {
		for _, s := range group {
			all = append(all, turn{s})
		}
	}
	return all
}

// wantsOwn reports whether the own time of a benchmark of a group that is measured in duets is not known well enough.
func (m *measurement) wantsOwn(group []*Series) bool {
	for _, s := range group {
		s.known = s.known || m.enough(s, m.plan.limits())
	}
	return slices.ContainsFunc(group, func(s *Series) bool { return !s.known })
}

// ownSpent returns the time that the benchmarks of a group ran by themselves.
func ownSpent(group []*Series) (spent time.Duration) {
	for _, s := range group {
		spent += s.spent - s.inDuets
	}
	return spent
}

// pairsOf returns how many pairs of a group count.
func pairsOf(group []*Series, duets bool) int {
	if duets {
		return len(group[1].Duets)
	}
	return len(group[len(group)-1].Repetitions)
}

// runDuet makes one more duet of a group, of few and of many iterations, in random order. The late runs come before the
// first one.
func (m *measurement) runDuet(ctx context.Context, group []*Series) error {
	if len(group[0].Duets) == 0 {
		for _, s := range group {
			if err := m.runLate(ctx, s); err != nil || s.Failure != nil {
				return err
			}
		}
	}
	var pair [2]Repetition
	counts := []int{max(fewestFew, group[0].many/farRatio), group[0].many}
	few := counts[0]
	m.rng.Shuffle(len(counts), func(i, j int) { counts[i], counts[j] = counts[j], counts[i] })
	for _, n := range counts {
		o, err := m.together(ctx, group, n)
		if err != nil || group[0].Failure != nil || group[1].Failure != nil {
			return err
		}
		for i := range pair {
			if n == few {
				pair[i].Few = o[i]
			} else {
				pair[i].Many = o[i]
			}
		}
	}
	for i, s := range group {
		s.Duets = append(s.Duets, pair[i])
	}
	return nil
}

// together runs both benchmarks of a group at the same time. Which one starts first is drawn at random. If one of them
// fails, that ends its series, not the measurement.
func (m *measurement) together(ctx context.Context, group []*Series, n int) (shown [2]Observation, err error) {
	order, number := m.rng.Perm(2), len(group[0].Duets)
	d := Duet{N: n, Procs: procsInDuets(group), Number: number}
	for place, i := range order {
		d.Benchmarks[place] = group[i].Benchmark.inLayout(number)
	}
	m.settle()
	o, errs := m.runner.(DuetRunner).RunDuet(ctx, d)
	for place, i := range order {
		shown[i] = o[place]
		group[i].spent, group[i].inDuets = group[i].spent+wallOf(o[0], o[1])/2, group[i].inDuets+wallOf(o[0], o[1])/2
		var failed *FailedError
		if errors.As(errs[place], &failed) {
			group[i].Failure = failed
		} else if errs[place] != nil {
			return shown, errs[place]
		}
	}
	return shown, nil
}

// procsInDuets returns the GOMAXPROCS of a group's duets: that of the benchmarks by themselves. It makes no difference to a
// single goroutine, but on one CPU the start of a process takes twice as long with two as with one.
func procsInDuets(group []*Series) int {
	for _, s := range group {
		if slices.ContainsFunc(s.Repetitions, func(rep Repetition) bool { return !rep.single() }) {
			return s.first.Procs
		}
	}
	return 1
}

// wallOf returns the time by the clock of two processes that ran at once.
func wallOf(a, b Observation) time.Duration { return time.Duration(max(processNs(a), processNs(b))) }

// duetPairs returns the pairs of times of duets, and their numbers. They are CPU times, with what interrupts and the other
// one's use of the caches add to both.
func duetPairs(a, b *Result) (pairs stats.Pairs, numbers []int) {
	exactly := func(rep Repetition) stats.Bounded {
		ns := rep.perIteration(cpuNs)
		return stats.Bounded{Lo: ns, Mid: ns, Hi: ns}
	}
	for i := range min(len(a.Duets), len(b.Duets)) {
		if pairs.Add(exactly(a.Duets[i]), exactly(b.Duets[i])) {
			numbers = append(numbers, i)
		}
	}
	return pairs, numbers
}
