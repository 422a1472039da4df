package kbest

// Best keeps the K least of the values that it is given, in ascending order
// (Bryant 2003, section 9.4.3).
type Best struct {
	values []float64 // cap K
}

// NewBest keeps the k least, at least one.
func NewBest(k int) *Best { return &Best{values: make([]float64, 0, max(1, k))} }

// Add takes a value in, if it is among the least. It allocates nothing.
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

// Values are the least so far, in ascending order.
func (b *Best) Values() []float64 { return b.values }

// Claim is (v_K - v_1)/v_1, which the source takes for its error, and found to be
// wildly optimistic. It is infinite where there are no K values yet.
func (b *Best) Claim() float64 {
	if len(b.values) < cap(b.values) || b.values[0] <= 0 {
		return inf
	}
	return b.values[len(b.values)-1]/b.values[0] - 1
}

// Converged reports that (1 + epsilon) v_1 >= v_K.
func (b *Best) Converged(epsilon float64) bool { return b.Claim() <= epsilon }
