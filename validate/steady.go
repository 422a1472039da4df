package validate

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// unsteadyShare is how much the machine's speed may change within a cell, as a share.
const unsteadyShare = 0.05

// undisturbedRuns is the number of unusually fast reference runs that show that the others were slowed.
const undisturbedRuns = 3

// uncertain returns a mark if the half-width of the truth's interval exceeds unsteadyShare.
func uncertain(truth stats.Estimate) []string {
	if off := truth.RelativeHalfWidth(); off > unsteadyShare {
		return []string{fmt.Sprintf("the truth is known to ± %s only: something outside slows short runs now and then, such as a hyperthread sibling", stats.Share(off))}
	}
	return nil
}

// unsteady returns a mark if the truth of the cell is not known: its interval is too wide, or the
// reference runs of the earlier and the later half differ by too much, or a few reference runs were
// much faster than most.
func (s *Stream) unsteady() []string {
	if marks := uncertain(s.Expected); len(marks) > 0 {
		return marks
	}
	var all []float64
	for _, x := range s.Samples {
		all = append(all, x.BeforeNs, x.AfterNs)
	}
	half := len(s.Samples) / 2 * 2
	if change := stats.Median(all[half:])/stats.Median(all[:half]) - 1; math.Abs(change) > unsteadyShare {
		return []string{fmt.Sprintf("short runs took %+.1f %% more in the later half than in the earlier: the machine changed its speed", 100*change)}
	}
	slices.Sort(all)
	if len(all) >= undisturbedRuns {
		if faster := 1 - all[undisturbedRuns-1]/stats.Median(all); faster > unsteadyShare {
			return []string{fmt.Sprintf("short runs were faster by %.2g %% now and then: something outside slows them mostly, such as a hyperthread sibling, and how long they take without it is not known", 100*faster)}
		}
	}
	return nil
}
