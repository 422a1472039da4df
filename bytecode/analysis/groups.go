package analysis

import (
	"cmp"
	"slices"

	"chronoscope/stats"
)

// byTime orders instructions from the fastest to the slowest.
func byTime(a, b Timing) int { return cmp.Compare(a.Ns, b.Ns) }

// Tree is a clustering of instructions by their times.
type Tree struct {
	// Timings are sorted from the fastest to the slowest; they are the dendrogram's points.
	Timings    []Timing
	Dendrogram stats.Dendrogram
}

// Group is a group of instructions that take about the same time.
type Group struct {
	// Label is "a" for the fastest group, as in Table 6 of Lambert 2008; "aa" follows "z".
	Label string
	// Timings are sorted from the fastest to the slowest.
	Timings []Timing
}

// Cluster clusters instructions by complete linkage, because in section 4.3 of Lambert 2008 all
// instructions of a cluster differ by less than the granularity. It was not single linkage: of 137
// instructions the 69th takes 4.527 ns and the 103rd 8.072 ns; their difference is less than the
// granularity of 4.527 ns, but Table 6 has them in the groups (a) and (b). Times that are not finite
// are an error.
func Cluster(timings []Timing) (Tree, error) {
	sorted := slices.Clone(timings)
	slices.SortStableFunc(sorted, byTime)
	d, err := stats.CompleteLinkage(nsOf(sorted))
	if err != nil {
		return Tree{}, err
	}
	return Tree{sorted, d}, nil
}

// Groups returns the groups at a granularity, from the fastest to the slowest: no two instructions of
// a group differ by more than the granularity.
func (t Tree) Groups(granularityNs float64) []Group {
	var groups []Group
	for i, points := range t.Dendrogram.Cut(granularityNs) {
		g := Group{Label: label(i)}
		for _, p := range points {
			g.Timings = append(g.Timings, t.Timings[p])
		}
		groups = append(groups, g)
	}
	return groups
}

// label returns the label of group i: a, b ... z, aa, ab ...
func label(i int) string {
	letter := string(rune('a' + i%26))
	if i < 26 {
		return letter
	}
	return label(i/26-1) + letter
}

// Largest returns the groups with the most instructions, at most n, from the fastest to the slowest.
// Of groups of equal size it prefers the faster ones.
func Largest(groups []Group, n int) []Group {
	bySize := slices.Clone(groups)
	slices.SortStableFunc(bySize, func(a, b Group) int { return cmp.Compare(len(b.Timings), len(a.Timings)) })
	bySize = bySize[:min(n, len(bySize))]
	slices.SortFunc(bySize, func(a, b Group) int { return byTime(a.Timings[0], b.Timings[0]) })
	return bySize
}

// Granularity is a difference of times that is ignored, and the number of groups that results.
type Granularity struct {
	Statistic string  `json:"statistic"` // the statistic of the times that the granularity equals
	Ns        float64 `json:"granularity_ns"`
	Groups    int     `json:"groups"`
}

// Granularities returns the six granularities of Table 4 of Lambert 2008, in its order. Each is a
// statistic of the instructions' own times.
func (t Tree) Granularities() []Granularity {
	s := Summarize(t.Timings)
	rows := []Granularity{
		{Statistic: "minimum", Ns: s.MinNs.Value()}, {Statistic: "first quartile", Ns: s.Q1Ns.Value()}, {Statistic: "median", Ns: s.MedianNs.Value()},
		{Statistic: "third quartile", Ns: s.Q3Ns.Value()}, {Statistic: "mean", Ns: s.MeanNs.Value()}, {Statistic: "maximum", Ns: s.MaxNs.Value()},
	}
	for i := range rows {
		rows[i].Groups = len(t.Groups(rows[i].Ns))
	}
	return rows
}
