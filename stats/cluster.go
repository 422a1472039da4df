package stats

import (
	"cmp"
	"slices"
)

// Dendrogram is the tree of an agglomerative clustering: all points are clusters of
// their own at first, and each merge joins two clusters until one is left.
type Dendrogram struct {
	// Points is how many points were clustered.
	Points int
	// Merges are in ascending order of their heights, one less than points.
	Merges []Merge
}

// Merge joins two clusters. Clusters 0 to Points-1 are the points, and cluster
// Points+k is what merge k made.
type Merge struct {
	A, B int // clusters, A < B
	// Height is the distance of the two, in the unit of the points.
	Height float64
	// Size is how many points the new cluster holds.
	Size int
}

// CompleteLinkage clusters values, in any order. The distance of two clusters is that
// of their two farthest values, so that a cluster of height h holds no two values that
// differ by more than h.
//
// It follows chains of nearest neighbours, in time n² (Müllner, "Modern hierarchical,
// agglomerative clustering algorithms", arXiv:1109.2378, 2011, section 3). Where
// distances are equal the tree is not unique. Then a cluster keeps to the one before it
// in the chain, or else takes that of the lowest place, where a merged cluster has the
// place of the later of its two; SciPy's linkage chooses likewise.
//
// Values that are not finite are refused.
func CompleteLinkage(values []float64) (Dendrogram, error) {
	if err := checkFinite("values", values); err != nil {
		return Dendrogram{}, err
	}
	merges := newNeighbours(values).merges()
	slices.SortStableFunc(merges, func(a, b Merge) int { return cmp.Compare(a.Height, b.Height) })
	return numbered(len(values), merges), nil
}

// neighbours are the clusters that are left, each by the span of its values: on a line
// the two farthest values of two clusters are the ends of their common span.
type neighbours struct {
	spans  []span
	merged []bool // into a later cluster
}

// span reaches from the least to the greatest value of a cluster.
type span struct{ lo, hi float64 }

// over is the least span that holds both.
func (s span) over(t span) span { return span{min(s.lo, t.lo), max(s.hi, t.hi)} }

func newNeighbours(values []float64) *neighbours {
	c := &neighbours{merged: make([]bool, len(values))}
	for _, x := range values {
		c.spans = append(c.spans, span{x, x})
	}
	return c
}

func (c *neighbours) distance(a, b int) float64 {
	common := c.spans[a].over(c.spans[b])
	return common.hi - common.lo
}

// nearest is the cluster nearest to x: preferred, if none is nearer than it. Without a
// preferred one it is -1.
func (c *neighbours) nearest(x, preferred int) int {
	best := preferred
	for i := range c.spans {
		if i != x && !c.merged[i] && (best < 0 || c.distance(x, i) < c.distance(x, best)) {
			best = i
		}
	}
	return best
}

// merges joins whichever two clusters are nearest to one another, until one is left. A
// cluster is named by the last of its points here.
func (c *neighbours) merges() []Merge {
	var all []Merge
	var chain []int
	for len(all) < len(c.spans)-1 {
		if len(chain) == 0 {
			chain = append(chain, slices.Index(c.merged, false))
		}
		last, before := chain[len(chain)-1], -1
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		next := c.nearest(last, before)
		if next != before {
			chain = append(chain, next)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b := min(last, next), max(last, next)
		all = append(all, Merge{A: a, B: b, Height: c.distance(a, b)})
		c.spans[b], c.merged[a] = c.spans[a].over(c.spans[b]), true
	}
	return all
}

// numbered names clusters by the merges that made them.
func numbered(points int, merges []Merge) Dendrogram {
	cluster := make([]int, points) // by its last point
	size := make([]int, points, 2*points)
	for i := range cluster {
		cluster[i], size[i] = i, 1
	}
	for k, m := range merges {
		a, b := cluster[m.A], cluster[m.B]
		merges[k] = Merge{A: min(a, b), B: max(a, b), Height: m.Height, Size: size[a] + size[b]}
		cluster[m.B] = points + k
		size = append(size, merges[k].Size)
	}
	return Dendrogram{points, merges}
}

// Cut returns the clusters after all merges up to a height: the points of each in ascending order,
// and the clusters in the order of their first points.
func (d Dendrogram) Cut(height float64) [][]int {
	members := make([][]int, d.Points, d.Points+len(d.Merges))
	for i := range members {
		members[i] = []int{i}
	}
	for _, m := range d.Merges {
		if m.Height > height {
			break
		}
		members = append(members, append(members[m.A], members[m.B]...))
		members[m.A], members[m.B] = nil, nil
	}
	clusters := slices.DeleteFunc(members, func(points []int) bool { return points == nil })
	for _, points := range clusters {
		slices.Sort(points)
	}
	slices.SortFunc(clusters, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return clusters
}
