package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Search looks for the commits, numbered from 1 to last, that made the change between commit 0, the good end,
// and commit last, the bad end. If ctx ends, or an end can't be measured, Search returns the error with what is known so
// far.
func Search(ctx context.Context, m Measurer, last int, plan Plan) (Result, error) {
	if last < 1 {
		return Result{}, fmt.Errorf("bisect: %d commits after the good end: give a bad end behind it", last)
	}
	s := &search{measurer: m, plan: plan, last: last, of: map[int]*evidence{}}
	outcome, why, err := s.compareEnds(ctx)
	if s.differ = err == nil && outcome == ""; s.differ {
		outcome, why, err = s.narrow(ctx)
	}
	r := s.result()
	r.Outcome, r.Why, r.Placed = outcome, why, s.placed
	if err != nil {
		r.Outcome, r.Why = CantTell, "the search did not end"
		if ctx.Err() == nil {
			r.Why = err.Error()
		}
	}
	return r, err
}

// search is a search while it is under way.
type search struct {
	measurer Measurer
	plan     Plan
	last     int
	of       map[int]*evidence // by commit
	differ   bool              // whether the two ends differ
	placed   bool              // the pairs tell whether the ends differ, and their layouts don't
}

// evidence is what was found out about a commit.
type evidence struct {
	point   // what the pairs tell
	pairs   stats.Pairs
	spent   bool // no more pairs can be had
	skipped error
}

// leastPairs is the number of pairs that tell the error of a commit's level. growthPairs is the factor by which
// a commit's pairs grow each time that it is measured again.
const leastPairs, growthPairs = 16, 1.5

// errorTail is the chance outside of each of the two bounds from which the standard error of a centre is
// computed. tailDeviations is the distance from the centre to a bound in a normal distribution, in standard
// deviations.
const errorTail, tailDeviations = 0.1, 1.2816

// measure makes more pairs of a commit. If the commit can't be measured, this is noted.
func (s *search) measure(ctx context.Context, commit, n int) error {
	m := s.of[commit]
	if m == nil {
		m = &evidence{point: point{error: math.NaN()}}
		s.of[commit] = m
	}
	s.tell()
	more, err := s.measurer.Compare(ctx, commit, n)
	if skip, ok := errors.AsType[*SkipError](err); ok {
		m.skipped = skip
		return nil
	}
	if err != nil {
		return err
	}
	m.pairs.Append(more.Pairs)
	if more.Len() > 0 {
		m.layouts, m.scatter = more.Layouts, more.Scatter
	}
	m.commit = commit
	m.byPairs(m.pairs)
	m.spent = more.Len() == 0 || m.pairs.Len() >= s.plan.MostPairs
	if m.spent && !(m.error > 0) {
		m.skipped = fmt.Errorf("%d pairs are too few", m.pairs.Len())
	}
	s.tell()
	return nil
}

func (s *search) tell() {
	if s.plan.Progress != nil {
		s.plan.Progress(s.result())
	}
}

// ratio returns the commit's time divided by that of the good end. Its interval holds what the place in memory may do.
func (m *evidence) ratio() stats.Estimate {
	r := m.pairs.Compare(0, 1).Ratio
	if m.layouts > 1 {
		far := stats.StudentT(float64(m.layouts-1)) * m.placedBy(m.scatter)
		r.Lo, r.Hi = math.Min(r.Lo, math.Exp(m.centre-far)), math.Max(r.Hi, math.Exp(m.centre+far))
	}
	return r
}

// byPairs sets the centre and its error to what the pairs of the commit tell.
func (p *point) byPairs(pairs stats.Pairs) {
	lo, hi := pairs.LogBounds(errorTail)
	p.centre, p.error, p.freedom = (lo+hi)/2, (hi-lo)/2/tailDeviations, float64(pairs.Len()-1)
}

// usable reports whether a commit was measured.
func (m *evidence) usable() bool { return m.skipped == nil && m.error > 0 }

// compareEnds measures the bad end until it is known whether there is a change to find. If there is, the
// outcome is empty.
func (s *search) compareEnds(ctx context.Context) (Outcome, string, error) {
	looks := stats.LooksFor(s.plan.Error / 2)
	for {
		n := 0
		if end := s.of[s.last]; end != nil {
			n = end.pairs.Len()
		}
		goal := n + 1
		for !looks.Due(goal) {
			goal++
		}
		if err := s.measure(ctx, s.last, goal-n); err != nil {
			return "", "", err
		}
		end := s.of[s.last]
		if end.skipped != nil {
			return "", "", fmt.Errorf("the bad end can't be measured against the good one: %w", end.skipped)
		}
		if !end.spent && !looks.Due(end.pairs.Len()) {
			continue
		}
		above, below := end.pairs.Beyond(looks, 1+s.plan.Limit), end.pairs.Below(looks, 1/(1+s.plan.Limit))
		slower, faster := above <= s.plan.Error/2, below <= s.plan.Error/2
		lo, hi := end.pairs.Bounds(looks, s.plan.Error/2)
		alike := hi <= 1+s.plan.Limit && lo >= 1/(1+s.plan.Limit)
		s.placed = false
		if told := slower || faster || alike; told && end.layouts > 1 {
			notAbove, below := end.atMost(1+s.plan.Limit), end.atMost(1/(1+s.plan.Limit))
			slower, faster = slower && notAbove <= s.plan.Error/2, faster && below >= 1-s.plan.Error/2
			alike = alike && notAbove-below >= 1-s.plan.Error
			s.placed = !slower && !faster && !alike
		}
		switch {
		case s.plan.Faster && faster, !s.plan.Faster && slower:
			return "", "", nil
		case slower, faster:
			return Opposite, "the bad end has changed in the other direction", nil
		case alike:
			return NoChange, fmt.Sprintf("the two ends differ by less than %.3g %%", 100*s.plan.Limit), nil
		case s.placed && (end.spent || end.error < precise*end.placedBy(end.scatter)):
			return CantTell, fmt.Sprintf("the bad end takes %.4g times as long as the good one, and each other order of its functions in memory changes that by some %.2g %%: it can't be told whether the code differs by %.3g %%", math.Exp(end.centre), 100*end.scatter, 100*s.plan.Limit), nil
		case end.spent && math.IsNaN(lo):
			return CantTell, fmt.Sprintf("%d pairs of measurements of the two ends are too few to tell whether they differ by %.3g %%", end.pairs.Len(), 100*s.plan.Limit), nil
		case end.spent:
			return CantTell, fmt.Sprintf("the time of the bad end is %.4g to %.4g times that of the good one: too little was measured to tell whether they differ by %.3g %%", lo, hi, 100*s.plan.Limit), nil
		}
	}
}

// precise is the error by the pairs, as a share of that by the layouts, at which more pairs hardly tell more.
const precise = 0.2

// points returns the good end and the measured commits, in order.
func (s *search) points() []point {
	points := []point{{commit: 0, freedom: math.MaxInt16}}
	for _, m := range s.of {
		if m.usable() {
			points = append(points, m.point)
			points[0].exact = points[0].exact || m.layouts > 1
		}
	}
	slices.SortFunc(points, func(a, b point) int { return a.commit - b.commit })
	return points
}

// gap lies between two neighbours among the measured commits.
type gap struct {
	before, after point
	probability   float64 // of a step in it
}

func (s *search) gaps() (all []gap) {
	points := s.points()
	if len(points) < 2 || !s.differ {
		return nil
	}
	for i, p := range stepProbabilities(points) {
		all = append(all, gap{points[i], points[i+1], p})
	}
	return all
}

// A gap may hold a step if its probability of a step is above possible, and is then searched. As soon as some gap
// surely holds a step, only gaps with a probability above likely are searched.
const likely, possible = 0.3, 0.1

// narrow measures until no gap is left to be examined.
func (s *search) narrow(ctx context.Context) (Outcome, string, error) {
	for {
		gaps := s.gaps()
		mayBuild := len(s.of)+1 < s.plan.mostBuilds(s.last, expected(gaps))
		commit, pairs := s.next(gaps, mayBuild)
		switch {
		case commit > 0:
			if err := s.measure(ctx, commit, pairs); err != nil {
				return "", "", err
			}
		case slices.ContainsFunc(s.steps(), func(s Step) bool { return s.Found }):
			return Found, "", nil
		case !mayBuild:
			return CantTell, fmt.Sprintf("%d commits were built, which is the limit", len(s.of)+1), nil
		default:
			return CantTell, "the measurements contradict one another, or differ too much", nil
		}
	}
}

// sure returns the least probability at which a step (a change of the level between two measured commits)
// counts as found.
func (s *search) sure() float64 { return 1 - s.plan.Error }

// count returns the number of gaps that surely hold a step.
func (s *search) count(gaps []gap) (n int) {
	for _, g := range gaps {
		if g.probability >= s.sure() {
			n++
		}
	}
	return n
}

// expected returns the mean number of steps, 1 or more.
func expected(gaps []gap) int {
	sum := 0.
	for _, g := range gaps {
		sum += g.probability
	}
	return max(1, int(math.Round(sum)))
}

// next returns the commit to measure, and the number of pairs; 0 if there is none. Before another commit is
// built, the known ones are measured well enough to tell on which side of a step they are. If nothing is left
// to be built, they are measured better.
func (s *search) next(gaps []gap, mayBuild bool) (commit, pairs int) {
	if len(gaps) == 0 {
		return 0, 0
	}
	size, least := math.Abs(gaps[len(gaps)-1].after.centre)/float64(expected(gaps)), possible
	if s.count(gaps) > 0 {
		least = likely
	}
	for _, choose := range []func() int{
		func() int { return s.vague(gaps, s.plan.Error/2, size*finePart) },
		func() int { return s.split(gaps, least) },
		func() int { return s.vague(gaps, s.plan.Error, size*finePart/2) },
		func() int { return s.second(gaps) },
		func() int { return s.witness(gaps, least) },
		func() int { return s.vague(gaps, s.plan.Error, size*finePart/8) },
	} {
		commit := choose()
		if m := s.of[commit]; m != nil {
			return commit, int(math.Ceil(float64(m.pairs.Len()) * (growthPairs - 1)))
		}
		if commit > 0 && mayBuild {
			return commit, s.firstPairs(size * finePart)
		}
	}
	return 0, 0
}

// firstPairs returns about as many pairs as the bad end would have needed for an error of fine.
func (s *search) firstPairs(fine float64) int {
	end := s.of[s.last]
	ratio := end.error / fine
	return max(leastPairs, min(end.pairs.Len(), int(float64(end.pairs.Len())*ratio*ratio/growthPairs)))
}

// finePart is a share of a step's size. If the error of a commit's level is at most that, it is clear on which
// side of the step the commit is.
const finePart = 1. / 8

// vague returns the commit with the largest error, above fine, among those next to an open gap: a gap for which
// both a step and no step have at least this chance.
func (s *search) vague(gaps []gap, chance, fine float64) (worst int) {
	for _, g := range gaps {
		if g.probability < chance || g.probability > 1-chance {
			continue
		}
		for _, p := range []point{g.before, g.after} {
			if m := s.of[p.commit]; m != nil && !m.spent && p.error > fine {
				fine, worst = p.error, p.commit
			}
		}
	}
	return worst
}

// split returns a commit in the middle of the gap that most probably holds a step, if the probability is above
// best.
func (s *search) split(gaps []gap, best float64) (commit int) {
	for _, g := range gaps {
		if middle := s.nearest(g.before.commit, g.after.commit, g.before.commit+g.after.commit); middle > 0 && g.probability > best {
			best, commit = g.probability, middle
		}
	}
	return commit
}

// second returns a commit that confirms a sure step. If the step rests on a single commit on one of its sides,
// second returns a neighbour of that commit, so that no single wrong answer leads to a wrong commit.
func (s *search) second(gaps []gap) (commit int) {
	for i, g := range gaps {
		if g.probability < s.sure() || commit > 0 {
			continue
		}
		if i > 0 && g.before.commit-gaps[i-1].before.commit > nearEnough {
			commit = s.nearest(gaps[i-1].before.commit, g.before.commit, 2*g.before.commit)
		}
		if i+1 < len(gaps) && commit == 0 && gaps[i+1].after.commit-g.after.commit > nearEnough {
			commit = s.nearest(g.after.commit, gaps[i+1].after.commit, 2*g.after.commit)
		}
	}
	return commit
}

// nearEnough is the largest distance between two commits at which each confirms the other.
const nearEnough = 2

// witness returns an unmeasured commit that tests the most probable step that is not sure yet. One of the two commits
// around that step may have been measured wrongly; then the step is in another gap. witness returns the nearest commit
// in the most probable of the other gaps; 0 if there is none.
func (s *search) witness(gaps []gap, least float64) (commit int) {
	best := -1
	for i, g := range gaps {
		if g.probability > least && g.probability < s.sure() && (best < 0 || g.probability > gaps[best].probability) {
			best = i
		}
	}
	if best < 0 {
		return 0
	}
	twice, most := gaps[best].before.commit+gaps[best].after.commit, 0.
	for i, g := range gaps {
		if c := s.nearest(g.before.commit, g.after.commit, twice); i != best && c > 0 && g.probability < s.sure() && g.probability > most {
			most, commit = g.probability, c
		}
	}
	return commit
}

// nearest returns the untried commit between before and after, exclusive, that is nearest to twice/2; 0 if there is
// none. The argument is twice the target, since the target may lie in the middle between two commits.
func (s *search) nearest(before, after, twice int) (nearest int) {
	off := func(commit int) int { return max(2*commit-twice, twice-2*commit) }
	for commit := before + 1; commit < after; commit++ {
		if s.of[commit] == nil && (nearest == 0 || off(commit) < off(nearest)) {
			nearest = commit
		}
	}
	return nearest
}

// result returns what is known so far.
func (s *search) result() Result {
	r := Result{Change: stats.NoEstimate("ratio", "median"), Steps: []Step{}, Commits: []Measured{}, Builds: len(s.of) + 1}
	for commit, m := range s.of {
		c := Measured{Number: commit, Ratio: stats.NoEstimate("ratio", "median")}
		if m.skipped != nil {
			c.Skipped = m.skipped.Error()
		}
		if m.usable() {
			c.Ratio = m.ratio()
		}
		r.Commits = append(r.Commits, c)
		if commit == s.last {
			r.Change = c.Ratio
		}
	}
	slices.SortFunc(r.Commits, func(a, b Measured) int { return a.Number - b.Number })
	r.Steps = append(r.Steps, s.steps()...)
	return r
}

// steps returns the gaps that hold a step for sure, or perhaps.
func (s *search) steps() (all []Step) {
	gaps := s.joined(s.gaps())
	for i, g := range gaps {
		if g.probability > possible {
			all = append(all, Step{
				First: g.before.commit + 1, Last: g.after.commit,
				Probability: g.probability, Found: g.probability >= s.sure(), Ratio: ratioOf(gaps, i),
			})
		}
	}
	return all
}

// joined joins neighbouring gaps that each perhaps hold a step, if they surely hold one together: then it is
// unknown which of them holds it.
func (s *search) joined(gaps []gap) []gap {
	perhaps := func(g gap) bool { return g.probability > possible && g.probability < s.sure() }
	first := slices.IndexFunc(gaps, perhaps)
	if first < 0 {
		return gaps
	}
	last := first
	for i := first; i < len(gaps) && gaps[i].probability < s.sure(); i++ {
		if perhaps(gaps[i]) {
			last = i
		}
	}
	rest := gaps[last+1:]
	if len(rest) > 0 {
		rest = s.joined(rest)
	}
	points := []point{gaps[0].before}
	for i, g := range gaps {
		if i < first || i >= last {
			points = append(points, g.after)
		}
	}
	if together := stepProbabilities(points)[first]; last > first && together >= s.sure() {
		return slices.Concat(gaps[:first], []gap{{gaps[first].before, gaps[last].after, together}}, rest)
	}
	return slices.Concat(gaps[:last+1], rest)
}

// ratioOf returns the size of a step: the level of the points after it divided by that of the points before it,
// each up to the next step.
func ratioOf(gaps []gap, at int) stats.Estimate {
	var before, after []point
	for i := at; i >= 0; i-- {
		if before = append(before, gaps[i].before); i > 0 && gaps[i-1].probability > possible {
			break
		}
	}
	for i := at; i < len(gaps); i++ {
		if after = append(after, gaps[i].after); i+1 < len(gaps) && gaps[i+1].probability > possible {
			break
		}
	}
	deviation, freedom := placementOf(gaps)
	from, fromError := levelOf(before, deviation)
	to, toError := levelOf(after, deviation)
	width := stats.StudentT(freedom) * math.Hypot(fromError, toError)
	return stats.Estimate{Value: math.Exp(to - from), Lo: math.Exp(to - from - width), Hi: math.Exp(to - from + width), Unit: "ratio", Statistic: "mean", N: len(before) + len(after)}
}

// placementOf returns by how much builds of the same code deviate, by the layouts of all points, and the degrees of freedom
// of that. If there are none, it is a usual deviation.
func placementOf(gaps []gap) (deviation, freedom float64) {
	squares := 0.
	for _, g := range gaps {
		if p := g.after; p.layouts > 1 {
			squares, freedom = squares+float64(p.layouts-1)*p.scatter*p.scatter, freedom+float64(p.layouts-1)
		}
	}
	if freedom == 0 {
		return usualPlacement, math.MaxInt16
	}
	return math.Max(usualPlacement, math.Sqrt(squares/freedom)), freedom
}

// usualPlacement is a deviation that many benchmarks have. leastVariance keeps the weight of an exact point finite.
const usualPlacement, leastVariance = 0.003, 1e-8

// levelOf returns the mean of points, each weighted by its error, and its standard error. deviation is that of builds of the
// same code.
func levelOf(points []point, deviation float64) (level, standardError float64) {
	var sum, weights float64
	for _, p := range points {
		w := 1 / math.Max(leastVariance, p.error*p.error+p.placedBy(deviation)*p.placedBy(deviation))
		sum, weights = sum+w*p.centre, weights+w
	}
	return sum / weights, 1 / math.Sqrt(weights)
}
