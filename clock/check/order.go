// Package check asks of a clock what its own readings can't be trusted to say:
// whether it ever steps back, within a thread and from one CPU to the next,
// whether all CPUs show the same time, and whether it keeps its rate, stands
// still, jumps, or starts over.
//
// [Local] asks all of it of the clocks of this process. Judging is apart from
// gathering, so that simulated clocks, and clocks of other runtimes, are judged
// in the same way as those of this process.
package check

// BackSteps are readings that were less than one taken before.
type BackSteps struct {
	// Readings were compared with an earlier one.
	Readings int
	// Count of them were less than it.
	Count int
	// Worst is the largest step back, in units of the readings.
	Worst int64
}

func (b *BackSteps) compare(before, after int64) {
	b.Readings++
	// The difference, as it is right also where a counter that started high goes
	// over the largest number with a sign.
	if back := before - after; back > 0 {
		b.Count++
		b.Worst = max(b.Worst, back)
	}
}

// Add joins what was found among other readings.
func (b *BackSteps) Add(other BackSteps) {
	b.Readings += other.Readings
	b.Count += other.Count
	b.Worst = max(b.Worst, other.Worst)
}

// Order looks for steps back among readings in the order in which one thread
// took them.
func Order(ticks []int64) BackSteps {
	var b BackSteps
	for i := 1; i < len(ticks); i++ {
		b.compare(ticks[i-1], ticks[i])
	}
	return b
}

// Handed is a reading that a thread took when it was its turn.
type Handed struct {
	Thread int
	Ticks  int64
}

// AcrossThreads looks for readings that are less than the previous one, whichever thread took that:
// each thread hands over to the next after its reading, so there should be none.
func AcrossThreads(handed []Handed) BackSteps {
	var b BackSteps
	for i := 1; i < len(handed); i++ {
		b.compare(handed[i-1].Ticks, handed[i].Ticks)
	}
	return b
}

// WithinThreads looks for readings that are less than the one before of the
// same thread, for clocks whose readings only compare within a thread.
func WithinThreads(handed []Handed) BackSteps {
	var b BackSteps
	last := map[int]int64{}
	for _, h := range handed {
		if before, seen := last[h.Thread]; seen {
			b.compare(before, h.Ticks)
		}
		last[h.Thread] = h.Ticks
	}
	return b
}
