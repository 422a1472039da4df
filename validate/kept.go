package validate

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/machine"
	"chronoscope/stats"
)

// reachName is the store's file with the reach that validations found.
const reachName = "reach.json"

// keptReach is a reach with the number and the range of the durations that were tried. A method that stays
// within the tolerance up to the longest of them may do so for longer durations too.
type keptReach struct {
	Reach
	Tried           int     `json:"tried"`
	ShortestTriedNs float64 `json:"shortest_tried_ns"`
	LongestTriedNs  float64 `json:"longest_tried_ns"`
}

// keptOf returns what the store keeps of a validation.
func keptOf(all []Outcome) []keptReach {
	var rows []keptReach
	for _, group := range judgedGroups(all) {
		byDuration := func(a, b Outcome) int { return cmp.Compare(a.DurationNs, b.DurationNs) }
		tried := slices.CompactFunc(slices.SortedFunc(slices.Values(group), byDuration), func(a, b Outcome) bool { return a.DurationNs == b.DurationNs })
		for _, r := range reachOf(group) {
			rows = append(rows, keptReach{r, len(tried), float64(tried[0].DurationNs), float64(tried[len(tried)-1].DurationNs)})
		}
	}
	return rows
}

// LoadReach reads the reach that validations on this machine found. If a reach ends at the longest
// duration that was tried, it may extend further, and its MaxDurationNs is [math.MaxFloat64]. The error
// is [io/fs.ErrNotExist] if there was no validation.
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
		if k.MaxDurationNs.Value() == k.LongestTriedNs {
			k.MaxDurationNs = stats.FloatOf(math.MaxFloat64)
		}
		all = append(all, k.Reach)
	}
	return all, nil
}

// saveReach stores what a validation found. It keeps the rows of schemes, regimes and kinds that
// the validation did not try, and the rows for which more durations, or others, were tried.
func (s *Store) saveReach(found []keptReach) error {
	if s == nil {
		return nil
	}
	var all []keptReach
	_ = s.read(reachName, &all) // a file that can't be read is replaced
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

// replaces reports whether both rows are of the same scheme, regime, kind and tolerance, and the durations that were
// tried for r are as many as those of the old row, in a range that includes theirs. A row of an older version has no
// range, and is always replaced.
func (r keptReach) replaces(old keptReach) bool {
	return r.sameAs(old) && r.Tried >= old.Tried && r.LongestTriedNs >= old.LongestTriedNs && (old.LongestTriedNs == 0 || r.ShortestTriedNs <= old.ShortestTriedNs)
}
