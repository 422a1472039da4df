// Package check examines clocks for faults that their single readings do not show: a clock may
// step back within a thread or from one CPU to the next, show different times on different CPUs,
// change its rate, stand still, jump, or start over.
//
// [Local] checks the clocks of this process for all of these. Judging is separate from gathering,
// so that simulated clocks and clocks of other language runtimes are judged in the same way as
// those of this process.
//
// Terms: a sandwich is a reading of a clock between two readings of a reference; a look is a
// burst of readings and a sandwich with each reference; a game is a series of readings that two
// threads on different CPUs take in turn, and the crew the threads that play.
package check

// BackSteps counts the readings that were less than an earlier one.
type BackSteps struct {
	// Readings is how many readings were compared with an earlier one.
	Readings int
	// Count is how many of them were less than the earlier one.
	Count int
	// Worst is the largest step back, in units of the readings.
	Worst int64
}

func (b *BackSteps) compare(before, after int64) {
	b.Readings++
	// The difference is also right if a counter passes the largest signed number.
	if back := before - after; back > 0 {
		b.Count++
		b.Worst = max(b.Worst, back)
	}
}

// Add adds the counts of other to b.
func (b *BackSteps) Add(other BackSteps) {
	b.Readings += other.Readings
	b.Count += other.Count
	b.Worst = max(b.Worst, other.Worst)
}

// Order looks for steps back among the readings of one thread, in the order in which they were
// taken.
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

// AcrossThreads looks for readings that are less than the previous one, whichever thread took
// it. Each thread hands over to the next after its reading, so there should be none.
func AcrossThreads(handed []Handed) BackSteps {
	var b BackSteps
	for i := 1; i < len(handed); i++ {
		b.compare(handed[i-1].Ticks, handed[i].Ticks)
	}
	return b
}

// WithinThreads looks for readings that are less than the same thread's previous one. It is for
// clocks whose readings can only be compared within a thread.
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
