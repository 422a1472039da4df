package program

import "chronoscope/stats"

// Percentiles describe the distribution of the times of single runs.
type Percentiles struct {
	// Wall is the distribution of the wall times.
	Wall stats.Tails `json:"wall"`
	// Time is the distribution of the times alone. The intervals include the bounds of the runs.
	Time stats.Tails `json:"time"`
}

// percentiles returns the percentiles of all runs that count. These include runs that the estimate leaves out because
// they had to wait: without the waits they show the program's times just as well.
func (c *conclusion) percentiles() *Percentiles {
	var low, middle, high []float64
	for i, r := range c.used {
		low = append(low, max(0, c.low[i]-r.slackNs))
		middle = append(middle, (c.low[i]+c.high[i])/2)
		high = append(high, c.high[i]+r.slackUpNs)
	}
	var walls []float64
	for _, r := range c.counted {
		walls = append(walls, float64(r.WallNs))
	}
	return &Percentiles{
		Wall: stats.TailsOf(walls),
		Time: stats.TailsBetween(low, middle, high),
	}
}
