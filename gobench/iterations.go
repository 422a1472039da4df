package gobench

import (
	"context"
	"math"
	"time"
)

// Limits of the choice of iterations.
const (
	fewestFew  = 2 // with one iteration the testing package makes only its first run
	fewestMany = 4
	// With a gate the longer run has at least fewestGated iterations, if time permits. If the times of
	// processes scatter by a fixed share, this number gives the differences from runs of fewestFew iterations
	// that have the least error for a given time of measurement.
	fewestGated = 9
	ratio       = 5 // iterations of the longer run divided by those of the shorter one
	// The first shapeRepetitions show whether the time is in proportion to the iterations. In the others the
	// shorter run has 1/farRatio of the longer run's iterations, as the scatter of both goes into the difference,
	// and there is no third run.
	shapeRepetitions, farRatio = 10, 20
	// If the shorter run has manyMoreThanLeast times fewestFew iterations or more, a third run of fewestFew
	// tells something more.
	manyMoreThanLeast = 5
	mostN             = 1e9
	// mostApart is the largest number of iterations of a loop that stops its timer, which takes some tens of
	// microseconds each.
	mostApart = 20_000
	// A run's time is believed from sureN iterations on, or if it takes long: what is spent once in a process
	// may be twice as much in the next one.
	sureN = 4 * fewestFew
	// muchSignals is the number of signals a second that slows a traced benchmark by about half a percent.
	muchSignals = 300
)

// choose sets the iterations of a repetition's two runs, after runs with more and more iterations. The first of these
// may fill caches and pools, so an iteration's time follows from what later ones take beyond it.
func (m *measurement) choose(ctx context.Context, s *Series) error {
	n, goal, onceNs := fewestFew, float64(m.plan.RunTime), 0.
	for {
		o, err := m.run(ctx, s, n, true)
		if err != nil || s.Failure != nil {
			return err
		}
		if n == fewestFew {
			s.first = o
			if s.tooSlow = !m.affordsOne(s); s.tooSlow {
				return nil
			}
		}
		s.Benchmark.IterationNs = o.WallNs / float64(n)
		grown := math.Max(1, dedicatedNs(o)-onceNs)
		s.slowedByTracing = float64(o.Signals) > muchSignals*o.WallNs/1e9
		most := mostN
		if o.Apart != nil {
			most = mostApart
		}
		sure := n >= sureN || n > fewestFew && processNs(o) > float64(m.plan.MaxTime)/20
		fits := m.searchRunNs() / math.Max(1, s.clockNs(o)) // the timer may stand still for most of an iteration
		long := n > fewestFew && float64(n) > fits          // then twice as many would take too long
		if sure && grown >= goal/ratio || float64(n) >= most || long || s.spent > m.plan.MaxTime/3 {
			many := math.Min(goal/grown*float64(n-fewestFew)*ratio/(ratio-1), 2*ratio*float64(n))
			if m.plan.Gate != nil {
				many = math.Max(many, fewestGated)
			}
			iterationNs := math.Max(o.TimedNs/float64(n), (processNs(o)-processNs(s.first))/float64(max(1, n-fewestFew)))
			s.choose(int(math.Min(most, math.Max(fewestMany, m.affordable(s, many, iterationNs)))))
			return nil
		}
		if n == fewestFew {
			onceNs = grown
		}
		wanted := math.Min(fits, 1.2*goal/ratio/grown*float64(n))
		n = int(math.Min(most, math.Max(float64(n)*2, math.Min(float64(n)*100, wanted))))
	}
}

// searchRunNs returns how long the iterations of a run of the search may take. A run of twice as many iterations as a shorter
// one may take twice this time, which is within the timeout.
func (m *measurement) searchRunNs() float64 {
	most := m.plan.MaxTime / 20
	if p, ok := m.runner.(Processes); ok && p.Timeout > 0 {
		most = min(most, p.Timeout/4)
	}
	return float64(most)
}

// clockNs returns the time of an iteration by the clock, as a run of the search for iterations shows it: beyond the first run,
// which may fill caches.
func (s *Series) clockNs(o Observation) float64 {
	if o.N == fewestFew {
		_, iterationNs := s.firstCosts()
		return iterationNs
	}
	ofRun := processNs
	if o.alone() && s.first.alone() {
		ofRun = wallNs
	}
	return (ofRun(o) - ofRun(s.first)) / float64(o.N-fewestFew)
}

// affordsOne reports whether one repetition with the fewest iterations would end within twice the plan's time for the
// benchmark, counting what is spent already, judged by the first run.
func (m *measurement) affordsOne(s *Series) bool {
	startNs, iterationNs := s.firstCosts()
	return s.spent+time.Duration(2*startNs+(fewestFew+fewestMany)*iterationNs) <= 2*m.plan.MaxTime
}

// firstCosts returns what the first run shows by the clock: the time that a process takes for its start, a first call and the
// setup, and the time of an iteration. If other threads ran in the first run, that time is unknown, and the time of one iteration
// stands in its place.
func (s *Series) firstCosts() (startNs, iterationNs float64) {
	if s.first.alone() {
		return processNs(s.first) - s.first.WallNs, s.first.WallNs / fewestFew
	}
	iterationNs = processNs(s.first) / (fewestFew + 1) // each process makes one call more
	return iterationNs, iterationNs
}

// affordable reduces the iterations of the longer run so that the least number of repetitions fits into the
// time that is left after the start and setup of their processes. It does not go below a quarter of the time that these take:
// fewer iterations would show less, and save little. iterationNs is the time of an iteration by the clock, which is longer on
// a busy machine.
func (m *measurement) affordable(s *Series, many, iterationNs float64) float64 {
	left := math.Max(float64(m.plan.MaxTime-s.spent), float64(m.plan.MaxTime)/2)
	startNs, _ := s.firstCosts()
	starts := float64(m.least) * 2 * startNs
	left = math.Max(left-starts, math.Min(left, starts)/4)
	all := float64(m.least) * many * (1 + 1./ratio) * iterationNs
	return many * math.Min(1, left/math.Max(all, 1))
}

// dedicatedNs estimates what the timed part of a run would take on a machine of its own.
func dedicatedNs(o Observation) float64 {
	waited := o.WaitNs / o.WallNs
	if !(waited > 0) {
		return o.TimedNs
	}
	return o.TimedNs * math.Max(0.05, 1-waited)
}

// alikeWithin is the factor by which the iterations chosen for the benchmarks of a group may differ by chance,
// as each choice rests on a single run.
const alikeWithin = 20

// alike gives the benchmarks of a group the same number of iterations, the same tracing, and the same time of an iteration for
// RunParallel, which is the shortest. Otherwise a cost that is not in proportion to the iterations would look like a
// difference.
func alike(group []*Series) {
	slowedByTracing, tooSlow, fewest, iterationNs := false, false, int(mostN), math.Inf(1)
	for _, s := range group {
		slowedByTracing, tooSlow = slowedByTracing || s.slowedByTracing, tooSlow || s.tooSlow
		if s.many > 0 {
			fewest, iterationNs = min(fewest, s.many), min(iterationNs, s.Benchmark.IterationNs)
		}
	}
	for _, s := range group {
		s.slowedByTracing = slowedByTracing
		switch {
		case s.Failure != nil:
		case tooSlow:
			s.standIn()
		case s.many <= alikeWithin*fewest:
			s.choose(fewest)
			s.Benchmark.IterationNs = iterationNs
		}
	}
}

// standIn makes the first run the only repetition. No others tell what other programs used meanwhile on average: if it is not
// known, the looks before and after the run bound it.
func (s *Series) standIn() {
	s.tooSlow, s.few, s.many = true, 0, s.first.N
	if math.IsNaN(s.first.OthersNs) {
		s.first.OthersNs = s.first.Around.mostOthersNs(s.first.Began)
	}
	layout, _ := s.Benchmark.next(nil)
	s.Repetitions = []Repetition{{Many: s.first, Traced: true, Layout: layout}}
}

// choose sets the iterations of both runs of a repetition.
func (s *Series) choose(many int) { s.few, s.many = max(fewestFew, many/ratio), many }
