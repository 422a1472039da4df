package program

import "chronoscope/stats"

// Percentiles say how the times of single runs are distributed.
type Percentiles struct {
	// Wall is of the times by the clock.
	Wall stats.Tails `json:"wall"`
	// Time is of the times on a machine of its own. The intervals hold the runs' own bounds.
	Time stats.Tails `json:"time"`
}

// percentiles are those of all runs that count, also of those that the estimate leaves out
// because they had to wait: without the waits they are as good a sample of the program's times.
func (c *conclusion) percentiles() *Percentiles {
	var low, middle, high []float64
	for i, r := range c.used {
		low = append(low, max(0, c.low[i]-r.slackNs))
		middle = append(middle, (c.low[i]+c.high[i])/2)
		high = append(high, c.high[i]+r.slackUpNs)
	}
	return &Percentiles{
		Wall: stats.TailsOf(c.each(func(r *Run) float64 { return float64(r.WallNs) })),
		Time: stats.TailsBetween(low, middle, high),
	}
}
