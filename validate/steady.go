package validate

import (
	"fmt"
	"math"

	"chronoscope/stats"
)

// unsteadyShare is how far the machine's speed may change within a cell.
const unsteadyShare = 0.05

// unsteady says whether the reference runs of the earlier half and of the later one
// differ by too much, or runs throughout: then there is no one truth.
func (s *Stream) unsteady() []string {
	if off := s.Expected.RelativeHalfWidth(); off > unsteadyShare {
		return []string{fmt.Sprintf("short runs tell the truth within %.2g %% only: something outside slows them now and then, such as a hyperthread sibling", 100*off)}
	}
	var early, late []float64
	for i, x := range s.Samples {
		if i < len(s.Samples)/2 {
			early = append(early, x.BeforeNs, x.AfterNs)
		} else {
			late = append(late, x.BeforeNs, x.AfterNs)
		}
	}
	if change := stats.Median(late)/stats.Median(early) - 1; math.Abs(change) > unsteadyShare {
		return []string{fmt.Sprintf("short runs took %+.1f %% more in the later half than in the earlier: the machine changed its speed", 100*change)}
	}
	return nil
}
