package repeat

import (
	"math/rand/v2"
	"slices"
)

// InTurn measures series in rounds. Before each round unfinished returns the groups that need more
// measurements; InTurn ends when there are none. It measures the groups in random order, and the series
// of each group one after the other, in random order. It ends at the first error, and returns it.
// Rounds are counted from 0.
func InTurn[S any](rng *rand.Rand, unfinished func() [][]S, measure func(round int, series S) error) error {
	for round := 0; ; round++ {
		groups := shuffled(rng, unfinished())
		if len(groups) == 0 {
			return nil
		}
		for _, group := range groups {
			for _, series := range shuffled(rng, group) {
				if err := measure(round, series); err != nil {
					return err
				}
			}
		}
	}
}

// shuffled is a copy in random order.
func shuffled[T any](rng *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Alone makes each series a group of its own.
func Alone[S any](all []S) [][]S {
	var groups [][]S
	for _, series := range all {
		groups = append(groups, []S{series})
	}
	return groups
}
