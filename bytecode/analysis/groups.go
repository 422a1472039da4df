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
	// Timings are from the fastest to the slowest; the dendrogram's points are these.
	Timings    []Timing
	Dendrogram stats.Dendrogram
}

// Group is a group of instructions that take about the same.
type Group struct {
	// Label is "a" for the fastest, as in Table 6 of Lambert 2008; "aa" follows "z".
	Label string
	// Timings are from the fastest to the slowest.
	Timings []Timing
}

// Cluster clusters instructions by complete linkage: section 4.3 of Lambert 2008 keeps a
// cluster whole once its instructions differ by less than the granularity. Single linkage
// it was not: of 137 instructions the 69th takes 4.527 ns and the 103rd 8.072 ns, nearer
// than the granularity of 4.527 ns, and still Table 6 has them in groups (a) and (b).
// Times that are not finite are refused.
func Cluster(timings []Timing) (Tree, error) {
	sorted := slices.Clone(timings)
	slices.SortStableFunc(sorted, byTime)
	d, err := stats.CompleteLinkage(nsOf(sorted))
	if err != nil {
		return Tree{}, err
	}
	return Tree{sorted, d}, nil
}

// Groups are the groups at a granularity, from the fastest to the slowest: no two
// instructions of a group differ by more.
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

// label is a, b ... z, aa, ab ...
func label(i int) string {
	letter := string(rune('a' + i%26))
	if i < 26 {
		return letter
	}
	return label(i/26-1) + letter
}

// Largest are the groups with the most instructions, n at most, from the fastest to the
// slowest; of equally large ones the faster.
func Largest(groups []Group, n int) []Group {
	bySize := slices.Clone(groups)
	slices.SortStableFunc(bySize, func(a, b Group) int { return cmp.Compare(len(b.Timings), len(a.Timings)) })
	bySize = bySize[:min(n, len(bySize))]
	slices.SortFunc(bySize, func(a, b Group) int { return byTime(a.Timings[0], b.Timings[0]) })
	return bySize
}

// Granularity is a difference of times that is ignored, and how many groups that makes.
type Granularity struct {
	Statistic string  `json:"statistic"` // which of the times' six statistics it is
	Ns        float64 `json:"granularity_ns"`
	Groups    int     `json:"groups"`
}

// Granularities are the six of Table 4 of Lambert 2008, in its order: the statistics of
// the instructions' own times.
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
