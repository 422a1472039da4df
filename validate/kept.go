package validate

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/machine"
)

// reachName is the store's file of what validations found.
const reachName = "reach.json"

// keptReach is a reach with what was tried: that a method holds up to the longest duration
// that was tried says nothing against longer ones.
type keptReach struct {
	Reach
	ShortestTriedNs float64 `json:"shortest_tried_ns"`
	LongestTriedNs  float64 `json:"longest_tried_ns"`
}

// keptOf is what is kept of a validation.
func keptOf(all []Outcome) []keptReach {
	var rows []keptReach
	for _, group := range groups(all) {
		byDuration := func(a, b Outcome) int { return cmp.Compare(a.Duration, b.Duration) }
		shortest, longest := slices.MinFunc(group, byDuration), slices.MaxFunc(group, byDuration)
		for _, r := range reachOf(group) {
			rows = append(rows, keptReach{r, float64(shortest.Duration), float64(longest.Duration)})
		}
	}
	return rows
}

// LoadReach is what validations on this machine found. A reach that ends at the longest
// duration that was tried is infinite. None was made where there is an error that is
// [io/fs.ErrNotExist].
func LoadReach(m *machine.Machine) ([]Reach, error) {
	s, err := OpenStore(m)
	if err != nil {
		return nil, err
	}
	var kept []keptReach
	if err := s.read(reachName, &kept); err != nil {
		return nil, err
	}
	var all []Reach
	for _, k := range kept {
		if k.MaxDurationNs != nil && *k.MaxDurationNs == k.LongestTriedNs {
			forever := math.Inf(1)
			k.MaxDurationNs = &forever
		}
		all = append(all, k.Reach)
	}
	return all, nil
}

// saveReach keeps what a validation found. Rows of schemes and loads that it did not try
// stay, and so do those of a validation that tried more.
func (s *Store) saveReach(found []keptReach) error {
	if s == nil {
		return nil
	}
	var all []keptReach
	_ = s.read(reachName, &all) // what can't be read is written anew
	replaced := func(old keptReach) bool {
		return slices.ContainsFunc(found, func(r keptReach) bool { return r.replaces(old) })
	}
	kept := slices.DeleteFunc(all, replaced)
	for _, r := range found {
		if !slices.ContainsFunc(kept, r.sameAs) {
			kept = append(kept, r)
		}
	}
	return s.write(reachName, kept)
}

func (r keptReach) sameAs(other keptReach) bool {
	return r.Scheme == other.Scheme && r.Regime.Named() == other.Regime.Named() && r.Kind == other.Kind && r.Tolerance == other.Tolerance
}

// replaces says whether all that the old row rests on was tried again.
func (r keptReach) replaces(old keptReach) bool {
	return r.sameAs(old) && r.LongestTriedNs >= old.LongestTriedNs && (old.LongestTriedNs == 0 || r.ShortestTriedNs <= old.ShortestTriedNs)
}
