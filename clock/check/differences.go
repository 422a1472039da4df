package check

import "math"

// differences bounds the differences between n unknowns: x[j] - x[i] is at most
// most(i, j). Bounds on some pairs imply bounds on all others: the tightest ones are the
// shortest paths in a graph whose edges are the given bounds.
type differences struct {
	n    int
	most []float64
}

func newDifferences(n int) *differences {
	d := &differences{n: n, most: make([]float64, n*n)}
	for i := range d.most {
		if i/n != i%n {
			d.most[i] = math.Inf(1)
		}
	}
	return d
}

// bound adds the constraint that x[j] - x[i] lies between lo and hi.
func (d *differences) bound(i, j int, lo, hi float64) {
	up, down := &d.most[i*d.n+j], &d.most[j*d.n+i]
	*up, *down = math.Min(*up, hi), math.Min(*down, -lo)
}

// between returns the known bounds of x[j] - x[i]; a missing bound is infinite.
func (d *differences) between(i, j int) (lo, hi float64) {
	return -d.most[j*d.n+i], d.most[i*d.n+j]
}

// close derives the tightest bounds of all pairs (the algorithm of Floyd and Warshall). It
// reports false if the bounds contradict one another.
func (d *differences) close() bool {
	n := d.n
	for k := range n {
		through := d.most[k*n : (k+1)*n]
		for i := range n {
			toK := d.most[i*n+k]
			if math.IsInf(toK, 1) || i == k {
				continue
			}
			row := d.most[i*n : (i+1)*n]
			for j, most := range through {
				if sum := toK + most; sum < row[j] {
					row[j] = sum
				}
			}
		}
	}
	for i := range n {
		if d.most[i*n+i] < 0 {
			return false
		}
	}
	return true
}
