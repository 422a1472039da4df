package activity

import (
	"iter"
	"math"

	"chronoscope/stats"
)

// Undisturbed holds the probability that work of one length runs without disturbance on a machine
// like the trace's (Bryant 2003, practice problem 9.7).
type Undisturbed struct {
	LengthNs float64 `json:"length_ns"`
	// Probability is the probability that work which starts while the thread is active runs
	// without any gap, apart from gaps that the recording itself made. Trials is the expected
	// number of trials for three such runs; missing if the probability is 0.
	Probability float64     `json:"probability"`
	Trials      stats.Float `json:"trials_for_3"`
	// Unpreempted and UnpreemptedTrials are the probability and the expected trials if only those
	// gaps count in which the thread lost its CPU to another.
	Unpreempted       float64     `json:"unpreempted_probability"`
	UnpreemptedTrials stats.Float `json:"unpreempted_trials_for_3"`
}

// undisturbedNs are the lengths of work in an analysis.
var undisturbedNs = []float64{1e3, 10e3, 100e3, 1e6, 10e6, 100e6}

// mayHaveLostCPU reports whether a gap with the cause c means, or may mean, that the thread lost its CPU. It may if c is
// Unexplained and the kernel does not tell who had the CPU.
func (t *Trace) mayHaveLostCPU(c Cause) bool {
	return c.LostCPU() || t.Unwatched && c == Unexplained
}

// activeStretches yields the lengths, in nanoseconds, of the stretches between gaps whose cause
// disturbs, and whether such a gap ended the stretch. Other gaps count as part of a stretch.
func (t *Trace) activeStretches(disturbs func(Cause) bool) iter.Seq2[float64, bool] {
	return func(yield func(float64, bool) bool) {
		from := int64(0)
		for _, g := range t.Gaps {
			if disturbs(g.Cause) {
				if !yield(t.Ns(g.Start-from), true) {
					return
				}
				from = g.End()
			}
		}
		if end := t.seen(); end > from {
			yield(t.Ns(end-from), false)
		}
	}
}

// room holds, for each length of work, the total time at which such work can start and still end
// within the same active stretch.
type room struct {
	lengthsNs, roomNs []float64
	totalNs           float64
}

func (t *Trace) roomFor(lengthsNs []float64, disturbs func(Cause) bool) *room {
	r := &room{lengthsNs: lengthsNs, roomNs: make([]float64, len(lengthsNs))}
	for stretch := range t.activeStretches(disturbs) {
		r.add(stretch)
	}
	return r
}

func (r *room) add(stretchNs float64) {
	r.totalNs += stretchNs
	for i, length := range r.lengthsNs {
		r.roomNs[i] += math.Max(0, stretchNs-length)
	}
}

// trials returns the probability that work of length lengthsNs[i], begun at a random moment of an active stretch, ends
// before the stretch does. trials is the expected number of attempts for three such runs; it is infinite if the
// probability is 0.
func (r *room) trials(i int) (probability, trials float64) {
	if r.totalNs > 0 {
		probability = r.roomNs[i] / r.totalNs
	}
	return probability, 3 / probability
}
