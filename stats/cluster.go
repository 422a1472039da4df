package stats

import (
	"cmp"
	"slices"
)

// Dendrogram is the tree of an agglomerative clustering: at first each point is a cluster of its
// own, and each merge joins two clusters until one is left.
type Dendrogram struct {
	// Points is the number of points.
	Points int
	// Merges are in ascending order of their heights; there is one less than there are points.
	Merges []Merge
}

// Merge joins two clusters. Clusters 0 to Points-1 are the points, and cluster Points+k is the result
// of merge k.
type Merge struct {
	A, B int // clusters, A < B
	// Height is the distance of the two clusters, in the unit of the points.
	Height float64
	// Size is the number of points in the new cluster.
	Size int
}

// CompleteLinkage clusters values, which may be in any order. The distance of two clusters is the
// distance of their two farthest values, so that no two values in a cluster of height h differ by
// more than h.
//
// The algorithm follows chains of nearest neighbours, in time n² (Müllner, "Modern hierarchical, agglomerative
// clustering algorithms", arXiv:1109.2378, 2011, section 3). If distances are equal, the tree is not unique: a
// cluster with several nearest clusters then prefers its predecessor in the chain, or otherwise the first of
// them in the order of the points. In this order a merged cluster has the place of its later part. SciPy's
// linkage makes the same choices.
//
// Values that are not finite are an error.
func CompleteLinkage(values []float64) (Dendrogram, error) {
	if err := checkFinite("values", values); err != nil {
		return Dendrogram{}, err
	}
	merges := newNeighbours(values).merges()
	slices.SortStableFunc(merges, func(a, b Merge) int { return cmp.Compare(a.Height, b.Height) })
	return numbered(len(values), merges), nil
}

// neighbours holds the remaining clusters, each as the span of its values. On a line, the two farthest
// values of two clusters are the ends of their common span.
type neighbours struct {
	spans  []span
	merged []bool // true for clusters that were merged into a later one
}

// span is the range from the least to the greatest value of a cluster.
type span struct{ lo, hi float64 }

// over returns the smallest span that contains s and t.
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

// nearest returns the cluster nearest to x. It returns preferred, unless that is -1, if no other
// cluster is nearer.
func (c *neighbours) nearest(x, preferred int) int {
	best := preferred
	for i := range c.spans {
		if i != x && !c.merged[i] && (best < 0 || c.distance(x, i) < c.distance(x, best)) {
			best = i
		}
	}
	return best
}

// merges repeatedly joins two clusters that are each other's nearest, until one is left. In its
// result a cluster has the number of its last point.
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

// numbered renames the clusters: each gets the number of the merge that made it.
func numbered(points int, merges []Merge) Dendrogram {
	cluster := make([]int, points) // by the number of a cluster's last point
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
