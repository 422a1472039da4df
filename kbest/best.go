package kbest

// Best keeps the K least of the values that are added to it, in ascending order (Bryant 2003, section 9.4.3).
type Best struct {
	values []float64 // with a capacity of K
}

// NewBest returns a Best that keeps the k least values, at least one.
func NewBest(k int) *Best { return &Best{values: make([]float64, 0, max(1, k))} }

// Add keeps the value if it is among the K least. It allocates nothing.
func (b *Best) Add(v float64) {
	if len(b.values) < cap(b.values) {
		b.values = append(b.values, v)
	} else if v < b.values[len(b.values)-1] {
		b.values[len(b.values)-1] = v
	}
	for i := len(b.values) - 1; i > 0 && b.values[i] < b.values[i-1]; i-- {
		b.values[i], b.values[i-1] = b.values[i-1], b.values[i]
	}
}

// Values returns the least values so far, in ascending order.
func (b *Best) Values() []float64 { return b.values }

// Claim returns (v_K - v_1)/v_1, which Bryant takes for the error of v_1 and found to be wildly optimistic. It
// is infinite until there are K values.
func (b *Best) Claim() float64 {
	if len(b.values) < cap(b.values) || b.values[0] <= 0 {
		return inf
	}
	return b.values[len(b.values)-1]/b.values[0] - 1
}

// Converged reports whether the K-th least value, v_K, exceeds the least, v_1, by at most the share epsilon:
// (1 + epsilon) v_1 >= v_K.
func (b *Best) Converged(epsilon float64) bool { return b.Claim() <= epsilon }
