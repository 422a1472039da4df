package stats

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

const (
	maxAtoms     = 4
	minExplained = 0.95 // least share of the samples that steps have to explain
)

// An atom is one step of a distribution: a cost that is always the same. A clock whose readings are multiples of a
// grain (its accuracy) shows this cost sometimes as the multiple below it and sometimes as the multiple above it. The
// fits model an atom as a value that is spread evenly over one grain and then rounded: that gives the same readings,
// equally often.
type atom struct{ value, weight float64 }

type steps struct {
	atoms []atom // the weights add up to 1
	grain float64
}

// fitSteps fits mixtures of one to four atoms and returns the one with the least BIC; ok is false if none
// explains enough of the samples.
func fitSteps(h histogram) (best Fit, ok bool) {
	for k := 1; k <= maxAtoms; k++ {
		s := placeAtoms(h, k)
		if len(s.atoms) < k {
			break // fewer than k atoms hold all samples but strays
		}
		if s.explained(h) < minExplained {
			continue
		}
		s.settle(h.cells)
		fit := newFit(FamilySteps, s.parameters(), h.logLikelihood(s.cdf), 2*k-1, h.n)
		if !ok || fit.BIC < best.BIC {
			best, ok = fit, true
		}
	}
	return best, ok
}

// placeAtoms places at most k atoms, one after the other, each at the grain that holds the most of the
// remaining samples. A group with less than the share of strays is not a step.
func placeAtoms(h histogram, k int) steps {
	s := steps{grain: h.grain}
	rest := slices.Clone(h.cells)
	for range k {
		a := heaviestAtom(rest, h.grain)
		if a.weight < stray*float64(h.n) {
			break
		}
		s.atoms = append(s.atoms, a)
	}
	slices.SortFunc(s.atoms, func(a, b atom) int { return cmp.Compare(a.value, b.value) })
	return s
}

// settle divides the samples among the atoms by expectation maximisation. Neighbours that overlap need
// several rounds.
func (s steps) settle(cells []cell) {
	for range 20 {
		s.improve(cells)
	}
}

// heaviestAtom finds the stretch, one grain long, with the most samples. It sets the counts of the cells in that
// stretch to 0, and returns an atom at the samples' mean. The atom's weight is the number of these samples.
func heaviestAtom(rest []cell, grain float64) atom {
	most, from, to := 0, 0, 0
	for first := range rest {
		count, last := 0, first
		for ; last < len(rest) && rest[last].value-rest[first].value <= grain*(1+1e-6); last++ {
			count += rest[last].count
		}
		if count > most {
			most, from, to = count, first, last
		}
	}
	if most == 0 {
		return atom{}
	}
	sum := 0.0
	for i := from; i < to; i++ {
		sum += float64(rest[i].count) * (rest[i].value - rest[from].value)
		rest[i].count = 0
	}
	return atom{rest[from].value + sum/float64(most), float64(most)}
}

// improve does one round of expectation maximisation: it moves each atom to the mean of the
// samples that it explains, and sets its weight to their share.
func (s steps) improve(cells []cell) {
	total := 0.0
	next := make([]atom, len(s.atoms))
	for _, c := range cells {
		density := s.density(c)
		if density == 0 {
			continue
		}
		for j, a := range s.atoms {
			share := float64(c.count) * a.weight * s.overlap(a, c) / density
			next[j].weight += share
			next[j].value += share * (c.value - a.value)
			total += share
		}
	}
	for j := range s.atoms {
		if next[j].weight > 0 {
			s.atoms[j].value += next[j].value / next[j].weight
		}
		s.atoms[j].weight = next[j].weight / total
	}
}

// density returns the share of all atoms that falls into a cell.
func (s steps) density(c cell) float64 {
	sum := 0.0
	for _, a := range s.atoms {
		sum += a.weight * s.overlap(a, c)
	}
	return sum
}

// overlap returns the share of an atom that falls into a cell. Both are one grain wide.
func (s steps) overlap(a atom, c cell) float64 {
	return math.Max(0, 1-math.Abs(a.value-c.value)/s.grain)
}

// explained returns the share of the samples that lie in cells that an atom reaches.
func (s steps) explained(h histogram) float64 {
	count := 0
	for _, c := range h.cells {
		if s.density(c) > 0 {
			count += c.count
		}
	}
	return float64(count) / float64(h.n)
}

func (s steps) cdf(x float64) float64 {
	sum := 0.0
	for _, a := range s.atoms {
		sum += a.weight * min(1, max(0, (x-a.value)/s.grain+0.5))
	}
	return sum
}

func (s steps) parameters() map[string]float64 {
	p := map[string]float64{}
	for i, a := range s.atoms {
		p["atom"+strconv.Itoa(i+1)] = a.value
		p["weight"+strconv.Itoa(i+1)] = a.weight
	}
	return p
}
