package clock

// Sandwich is one reading of a counter between two readings of a reference clock. Each is in its
// clock's own ticks. The counter was read at some time between Before and After.
type Sandwich struct{ Before, Counter, After int64 }

// TakeSandwich reads the counter between two readings of the reference. All three are fenced, so
// that the processor can't reorder them.
func TakeSandwich(counter, reference *Clock) Sandwich {
	return Sandwich{Before: reference.Start(), Counter: counter.Start(), After: reference.End()}
}

// Tightest takes n sandwiches and returns the narrowest. It allocates nothing.
func Tightest(counter, reference *Clock, n int) Sandwich {
	best := TakeSandwich(counter, reference)
	for range n - 1 {
		if s := TakeSandwich(counter, reference); s.TighterThan(best) {
			best = s
		}
	}
	return best
}

// TighterThan reports whether s is narrower than other. A sandwich whose reference stepped back
// has no reliable width, and counts as the widest.
func (s Sandwich) TighterThan(other Sandwich) bool { return uint64(s.Width()) < uint64(other.Width()) }

// Width returns how long the sandwich took, in ticks of the reference.
func (s Sandwich) Width() int64 { return s.After - s.Before }

// MiddleSince returns the middle of the sandwich in ticks of the reference, counted from the
// start of an earlier sandwich, so that a float64 can represent it exactly.
func (s Sandwich) MiddleSince(first Sandwich) float64 {
	return float64(s.Before-first.Before)/2 + float64(s.After-first.Before)/2
}
