package activity

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// tooth returns the number of the comb's tooth to which a gap that starts at atNs may belong, and
// how long after that tooth the gap started.
func (c *Comb) tooth(atNs float64) (number, lateNs float64) {
	since := atNs - c.PhaseNs
	number = math.Round((since - (c.fromNs+c.toNs)/2) / c.Period.Value)
	return number, since - number*c.Period.Value
}

// pick collects the comb's gaps: those that begin at a tooth. If there are several at one tooth it
// takes the longest, since a timer's interrupt takes longer than most other gaps. It returns how
// many gaps of other causes begin in a nanosecond.
func (s *combSearch) pick(c *Comb) (othersPerNs float64) {
	c.Gaps = c.Gaps[:0]
	gaps := s.trace.Gaps
	others, last := 0, math.Inf(-1)
	for i, g := range gaps {
		if !s.eligible(i) {
			continue
		}
		k, late := c.tooth(s.trace.Ns(g.Start))
		switch n := len(c.Gaps); {
		case late < c.fromNs || late > c.toNs:
			others++
		case k > last:
			c.Gaps = append(c.Gaps, i)
			last = k
		default:
			others++
			if g.Ticks > gaps[c.Gaps[n-1]].Ticks {
				c.Gaps[n-1] = i
			}
		}
	}
	return float64(others) / s.freeNs
}

// settlePoints is the number of gaps that fix a period well enough to pick gaps by it. The estimate
// of the period uses up to mostPoints.
const settlePoints = 100

// mostPoints limits the number of points for a line: a line through more is hardly sharper, since
// no more pairs of them are used ([stats.TheilSen]).
const mostPoints = 1 << 15

// fit picks the comb's gaps, fits period, phase and window to them, and counts its teeth. It
// returns false if there are too few.
func (s *combSearch) fit(c *Comb) bool {
	c.othersPerNs = s.pick(c)
	if n := float64(len(c.Gaps)); n < fewestTeeth || n < nearlyAll/2*s.freeNs/c.Period.Value {
		return false
	}
	if !s.measure(c, settlePoints) {
		return false
	}
	s.expect(c)
	return true
}

// measure fits period, phase and window of a comb to at most the given number of its gaps.
func (s *combSearch) measure(c *Comb, points int) bool {
	var numbers, starts []float64
	for _, i := range stats.Thinned(c.Gaps, points) {
		at := s.trace.Ns(s.trace.Gaps[i].Start)
		k, _ := c.tooth(at)
		numbers, starts = append(numbers, k), append(starts, at)
	}
	line, err := stats.TheilSen(numbers, starts)
	if err != nil {
		line, err = stats.LeastSquares(numbers, starts) // too few points for the robust line
	}
	if err != nil {
		return false
	}
	c.Period = line.Slope
	c.Period.Unit = "ns"
	c.PhaseNs = line.Intercept.Value - line.Slope.Value*math.Floor(line.Intercept.Value/line.Slope.Value)
	c.open(starts)
	return true
}

// rareOthers is a share of teeth. If gaps of other causes hit more of the teeth of full width than
// this, only narrow teeth are used.
const rareOthers = 0.02

// open sets the bounds between which the comb's gaps begin after their teeth. A gap may well be
// late, but is hardly ever early.
func (c *Comb) open(starts []float64) {
	late := make([]float64, len(starts))
	for n, at := range starts {
		_, late[n] = c.tooth(at)
	}
	middle, spread := stats.Median(late), math.Max(stats.MAD(late), 1)
	c.fromNs, c.toNs = middle-4*spread, middle+12*spread
	if width := toothWidth(c.Period.Value); c.othersPerNs*width < rareOthers {
		c.fromNs, c.toNs = math.Min(c.fromNs, middle-width/2), math.Max(c.toNs, middle+width/2)
	}
}

// shareOfOthers returns the share of the comb's teeth that gaps of other causes hit.
func (c *Comb) shareOfOthers() float64 { return -math.Expm1(-c.othersPerNs * (c.toNs - c.fromNs)) }

// present reports whether enough of the comb's teeth have a gap, allowing for gaps of other causes.
func (s *combSearch) present(c *Comb) bool {
	other := c.shareOfOthers()
	return float64(len(c.Gaps)) >= float64(c.Expected)*(other+presence*(1-other))
}

// expect counts the teeth that fell into active time, where they begin a gap, and those that fell
// into a gap that had begun before.
func (s *combSearch) expect(c *Comb) {
	t := s.trace
	before := func(atNs float64) float64 { return math.Ceil((atNs - c.PhaseNs) / c.Period.Value) } // number of the first tooth at or after atNs
	hidden, member := 0.0, 0
	at := s.number(c, member) // tooth number of the present member
	pass := func() {
		member++
		at = s.number(c, member)
	}
	for _, g := range t.Gaps {
		first, end := math.Max(0, before(t.Ns(g.Start))), before(t.Ns(g.End()))
		for at < first {
			pass()
		}
		hidden += math.Max(0, end-first)
		for ; at < end; pass() {
			hidden--
		}
	}
	c.Hidden = int(hidden)
	c.Expected = max(len(c.Gaps), int(before(s.seenNs)-hidden))
}

// number returns the number of the tooth of one of the comb's gaps, and +Inf after the last gap.
func (s *combSearch) number(c *Comb, member int) float64 {
	if member >= len(c.Gaps) {
		return math.Inf(1)
	}
	k, _ := c.tooth(s.trace.Ns(s.trace.Gaps[c.Gaps[member]].Start))
	return k
}

// nearlyAll is the least share of a comb's teeth, or of its gaps, that counts as nearly all of
// them.
const nearlyAll = 0.8

// slower doubles the comb's period if only every other tooth has a gap: a spectrum also shows a
// comb at twice its frequency.
func (s *combSearch) slower(c *Comb) bool {
	if len(c.Gaps) < 2*fewestTeeth || float64(len(c.Gaps)) > nearlyAll*float64(c.Expected) {
		return false
	}
	odd := 0
	for n := range c.Gaps {
		odd += int(s.number(c, n)) & 1
	}
	even := len(c.Gaps) - odd
	if float64(max(odd, even)) < nearlyAll*float64(len(c.Gaps)) {
		return false
	}
	if odd > even {
		c.PhaseNs += c.Period.Value
	}
	c.Period.Value *= 2
	return true
}

// share assigns the gaps again, now that all combs are known: a gap at a tooth of two combs goes to
// the kernel's own comb, the one whose period was given as a hint.
func (s *combSearch) share() {
	hinted := func(c Comb) bool {
		return slices.ContainsFunc(s.hints, func(hint float64) bool { return math.Abs(c.Period.Value/hint-1) < hintReach })
	}
	slices.SortStableFunc(s.found, func(a, b Comb) int {
		switch {
		case hinted(a) && !hinted(b):
			return -1
		case hinted(b) && !hinted(a):
			return 1
		}
		return 0
	})
	clear(s.taken)
	for n := range s.found {
		c := &s.found[n]
		s.measure(c, mostPoints)
		c.othersPerNs = s.pick(c)
		for _, i := range c.Gaps {
			s.taken[i] = true
		}
	}
	for n := range s.found {
		s.expect(&s.found[n])
	}
}

// price sets the comb's costs, from the gaps of teeth that no switch lengthened.
//
// If a tooth has no gap of its own, a gap of another cause may stand in its place. Chance, or
// another comb, may have put some of the lowest costs there. price drops up to that number of
// them if a break separates them from the others. A break is a step that is wider than what the
// next fiftieth of the costs covers.
func (s *combSearch) price(c *Comb) {
	costs := make([]float64, 0, len(c.Gaps))
	others := c.others()
	for _, i := range c.Gaps {
		g := s.trace.Gaps[i]
		if cost := s.trace.Ns(g.Ticks); g.Cause == Unexplained && cost < c.Period.Value/2 {
			costs = append(costs, cost)
		}
		if s.others(c, s.trace.Ns(g.Start)) {
			others++
		}
	}
	slices.Sort(costs)
	costs = costs[foreign(costs, others):]
	quantile := func(p float64) stats.Float { return stats.FloatOf(stats.Quantile(costs, p)) }
	c.Costs = Costs{quantile(0), quantile(0.5), quantile(1)}
}

// others reports whether a comb other than c has a tooth at that time.
func (s *combSearch) others(c *Comb, atNs float64) bool {
	for i := range s.found {
		other := &s.found[i]
		if _, late := other.tooth(atNs); other != c && other.fromNs <= late && late <= other.toNs {
			return true
		}
	}
	return false
}

// others returns how many gaps that begin at random may be among the comb's gaps. In 999 of 1,000
// traces there are no more.
func (c *Comb) others() int {
	other := c.shareOfOthers()
	expected := float64(c.Expected-len(c.Gaps)) * other / (1 - other)
	if expected > manyOthers {
		return min(len(c.Gaps), 2+int(expected+threeSigma*math.Sqrt(expected)))
	}
	n, below := 0, 0.0
	for p := math.Exp(-expected); below+p < 0.999 && n < len(c.Gaps); p *= expected / float64(n) {
		below += p
		n++
	}
	return n
}

// From manyOthers on, the Poisson distribution is close to the normal one, of which 999 of 1,000 values are below threeSigma
// standard deviations, and its first probability is too small for a float64.
const manyOthers, threeSigma = 500, 3.09

// foreign returns how many of the lowest costs are separated from the others by a break in the
// sorted costs; most limits the result.
func foreign(costs []float64, most int) int {
	next := max(12, len(costs)/50)
	for n := min(most, len(costs)-next-1); n > 0; n-- {
		if costs[n]-costs[n-1] > costs[n+next]-costs[n] {
			return n
		}
	}
	return 0
}
