package activity

import (
	"math"
	"slices"
)

// arrivals are the times at which gaps begin, in nanoseconds since the trace began and in ascending
// order. Combs are looked for among them.
type arrivals []float64

// subsetSizes are the sizes of the subsets that are searched, the smallest first. Each subset holds
// the longest gaps.
var subsetSizes = []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18}

// sampledLengths is the number of gaps that suffices to estimate how long gaps are.
const sampledLengths = 1 << 16

// eligible reports whether gap i may belong to a comb: it is at least as long as an interrupt, was
// not made by the recording itself, and belongs to no comb yet.
func (s *combSearch) eligible(i int) bool {
	g := s.trace.Gaps[i]
	return !g.Own && !s.taken[i] && s.trace.Ns(g.Ticks) >= shortestInterruptNs
}

// subset selects the gaps in which combs are looked for: those that last for `least` ticks or longer.
// Gaps that are explained by a switch of threads are included only if switched is set.
type subset struct {
	least    int64
	switched bool
}

func (r subset) holds(g Gap) bool {
	return g.Ticks >= r.least && (r.switched || g.Cause == Unexplained)
}

// arrivals returns the times of the eligible gaps in the subset.
func (s *combSearch) arrivals(r subset) arrivals {
	c := s.room[:0]
	for i, g := range s.trace.Gaps {
		if r.holds(g) && len(c) < cap(c) && s.eligible(i) {
			c = append(c, s.trace.Ns(g.Start))
		}
	}
	return c
}

// subsets returns subsets of growing size. Gaps that a switch explains come last: they are among
// the longest and may hide a comb, or begin at its teeth if the scheduler acts at the tick.
func (s *combSearch) subsets() []subset {
	var subsets []subset
	for _, least := range s.lengths() {
		subsets = append(subsets, subset{least: least})
	}
	return append(subsets, subset{least: int64(joinNs / s.trace.TickNs), switched: true})
}

// lengths returns the least length of a gap in each subset, in ticks and in falling order.
func (s *combSearch) lengths() []int64 {
	gaps := s.trace.Gaps
	stride := 1 + len(gaps)/sampledLengths
	var lengths []int64
	for i := 0; i < len(gaps); i += stride {
		if s.eligible(i) && gaps[i].Cause == Unexplained {
			lengths = append(lengths, gaps[i].Ticks)
		}
	}
	slices.Sort(lengths)
	var steps []int64
	for _, size := range subsetSizes {
		rank := len(lengths) - size/stride
		if rank <= 0 {
			return append(steps, 0)
		}
		steps = append(steps, lengths[rank])
	}
	return steps
}

// teeth describes time windows, one in each period, in which gaps of a comb may begin.
type teeth struct {
	periodNs, widthNs float64
	fromNs            float64 // where one of the windows starts
}

// settle finds the period, phase and width of the teeth at which most gaps of c begin, compared
// with the rest of the period. periodNs is known to within reach, a share of it. settle looks for
// the densest part of the period in wide windows first, which a slight error of the period blurs
// least, and then in ever narrower ones.
func (s *combSearch) settle(c arrivals, periodNs, reach float64) (teeth, bool) {
	span := c[len(c)-1] - c[0]
	w, alone := c.densest(periodNs, span)
	if !alone {
		return teeth{}, false
	}
	var best teeth
	most, widest := clearEvidence, toothWidth(periodNs)
	s.views.look(c, w)
	for w.widthNs > math.Max(s.trace.TickNs*8, widest/256) {
		w = s.views.zoom(w, span)
		s.views.keep(w)
		if w.widthNs > widest {
			continue
		}
		if e := s.evidence(s.views[0], w, len(c), reach); e > most {
			best, most = w, e
		}
	}
	return best, most > clearEvidence
}

// clearEvidence is the evidence that a comb needs. By chance, one in ten thousand subsets reaches
// it.
var clearEvidence = math.Log(1e4)

// evidence is the negative logarithm of the probability that gaps which begin at random times hit
// at least as many teeth as the gaps of c do, by Chernoff's bound, which holds for any number of
// gaps (Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", JASA 58, 1963,
// theorem 1). The logarithm of the number of periods (within reach) and phases that were tried is
// subtracted.
func (s *combSearch) evidence(c arrivals, w teeth, gaps int, reach float64) float64 {
	hit := float64(c.hits(w))
	all := math.Max(hit, s.freeNs/w.periodNs)
	byChance := -math.Expm1(-float64(gaps) * w.widthNs / s.freeNs)
	tried := 1 + 2*reach*s.seenNs/w.widthNs*w.periodNs/w.widthNs
	return all*divergence(hit/all, byChance) - math.Log(tried)
}

// hits returns how many of the windows contain the start of a gap.
func (c arrivals) hits(w teeth) int {
	n, last := 0, math.Inf(-1)
	for _, at := range c {
		since := at - w.fromNs
		k := math.Floor(since / w.periodNs)
		if since-k*w.periodNs <= w.widthNs && k > last {
			n, last = n+1, k
		}
	}
	return n
}

// divergence is the Kullback-Leibler divergence, in nats per draw, of a share of hits from the
// share that chance brings. It is 0 unless chance is smaller than share.
func divergence(share, chance float64) float64 {
	if share <= chance {
		return 0
	}
	d := share * math.Log(share/chance)
	if share < 1 {
		d += (1 - share) * math.Log((1-share)/(1-chance))
	}
	return d
}

// toothWidth returns the greatest width that a tooth of that period may have.
func toothWidth(periodNs float64) float64 { return math.Min(toothShare*periodNs, toothNs) }

// A period is divided into foldBins bins. The first windows are firstWindow bins wide. Later
// windows are divided into laterWindow bins of their own.
const (
	foldBins    = 240 // so that a half, a third and a fifth are whole numbers of bins
	firstWindow = 24
	laterWindow = 8
	// clearlyDense is a number of standard deviations. If gaps begin at random, the number of
	// gaps in the densest window hardly ever exceeds the expected number by more than that.
	clearlyDense = 5
)

// densest returns the window of a tenth of the period in which most gaps of c begin. It tries
// periods that drift by up to a quarter of a period over the span. alone is false if about as many
// gaps begin half a period away, or at all thirds or fifths of a period: then the comb's period is
// a fraction of this one.
func (c arrivals) densest(periodNs, spanNs float64) (w teeth, alone bool) {
	const trials = 5
	var counts [foldBins]int
	origin := c[0] + spanNs/2
	best, most := 0, 0
	for j := -trials; j <= trials; j++ {
		period := periodNs * (1 + float64(j)/trials*periodNs/4/spanNs)
		clear(counts[:])
		for _, at := range c {
			turns := (at - origin) / period
			counts[min(int((turns-math.Floor(turns))*foldBins), foldBins-1)]++
		}
		windows := sums(counts[:], firstWindow)
		for from, n := range windows {
			if contrast := n - twins(windows, from); contrast > best {
				best, most = contrast, n
				w = teeth{period, period * firstWindow / foldBins, origin + period*float64(from)/foldBins}
			}
		}
	}
	chance := float64(len(c)) * firstWindow / foldBins
	return w, 3*float64(best) > float64(most)-chance && float64(best) > clearlyDense*math.Sqrt(chance)
}

// sums returns, for each bin of a ring, the sum of the counts in the window that starts there.
func sums(counts []int, window int) []int {
	sums := make([]int, len(counts))
	n := 0
	for _, count := range counts[:window] {
		n += count
	}
	for from := range counts {
		sums[from] = n
		n += counts[(from+window)%len(counts)] - counts[from]
	}
	return sums
}

// twins returns an upper bound of the gaps in a window that belong to a comb with a half, a third
// or a fifth of the period. Such a comb puts equally many gaps into the windows at those
// fractions of the period.
func twins(windows []int, from int) int {
	return mostOfFraction(func(part, parts int) int {
		return windows[(from+part*len(windows)/parts)%len(windows)]
	})
}

// mostOfFraction returns the largest number of gaps that a comb of a half, a third or a fifth of
// the period can put into a part of the period. held returns how many gaps another part holds.
func mostOfFraction(held func(part, parts int) int) int {
	most := 0
	for _, parts := range []int{2, 3, 5} {
		least := math.MaxInt
		for part := 1; part < parts; part++ {
			least = min(least, held(part, parts))
		}
		most = max(most, least)
	}
	return most
}

// views holds the gaps of a subset near the windows: once unshifted, and once shifted by each
// fraction of the period that may be another comb's period.
type views [fractions]arrivals

// fractions is the least common multiple of the numbers of parts that are tried.
const fractions = 2 * 3 * 5

// shift returns the index of the view that is shifted by part/parts of the period; 0 is the
// unshifted one.
func shift(part, parts int) int { return part * fractions / parts }

// look fills the views with the gaps of c that begin in the windows or next to them.
func (v *views) look(c arrivals, w teeth) {
	v[0] = w.near(c, 0, v[0])
	mostOfFraction(func(part, parts int) int {
		i := shift(part, parts)
		v[i] = w.near(c, w.periodNs*float64(part)/float64(parts), v[i])
		return 0
	})
}

// keep drops the gaps that no longer lie in the windows or next to them.
func (v *views) keep(w teeth) {
	for i, c := range v {
		v[i] = w.near(c, 0, c)
	}
}

// near shifts the times of c to earlier ones by byNs, and returns those that then lie in the
// windows or next to them. It writes them into room, which may be the memory of c.
func (w teeth) near(c arrivals, byNs float64, room arrivals) arrivals {
	kept := room[:0]
	for _, at := range c {
		if off := w.off(at - byNs); off > -1.5*w.widthNs && off < 2.5*w.widthNs {
			kept = append(kept, at-byNs)
		}
	}
	return kept
}

// off returns how far a time lies behind the start of the nearest window; at most half a period
// either way from the window's middle.
func (w teeth) off(atNs float64) float64 {
	since := atNs - w.fromNs
	return since - w.periodNs*math.Round((since-w.widthNs/2)/w.periodNs)
}

// zoom returns the densest window of a quarter of the present width, in or next to the present
// windows, with a period refined to match.
func (v *views) zoom(w teeth, spanNs float64) teeth {
	const trials = 8
	best, most := w, math.MinInt
	for j := -trials; j <= trials; j++ {
		try := w
		try.periodNs *= 1 + float64(j)*w.widthNs/8/spanNs
		var counts [fractions]windowCounts
		for i, c := range v {
			if len(c) > 0 {
				counts[i] = c.counts(try)
			}
		}
		for from, n := range counts[0] {
			n -= mostOfFraction(func(part, parts int) int { return counts[shift(part, parts)][from] })
			if n > most {
				best, most = teeth{try.periodNs, w.widthNs / 4, w.fromNs - w.widthNs + w.widthNs/4/laterWindow*float64(from)}, n
			}
		}
	}
	return best
}

// windowCounts holds how many gaps begin in each window of a quarter of the present width. Its
// first window starts one width before the present one.
type windowCounts [(3*4 - 1) * laterWindow]int

// counts returns the number of gaps in each window.
func (c arrivals) counts(w teeth) (counts windowCounts) {
	bin := w.widthNs / 4 / laterWindow
	var bins [len(counts) + laterWindow]int
	for _, at := range c {
		if i := int((w.off(at) + w.widthNs) / bin); i >= 0 && i < len(bins) {
			bins[i]++
		}
	}
	copy(counts[:], sums(bins[:], laterWindow))
	return counts
}
