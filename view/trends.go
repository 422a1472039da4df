package view

import "math"

// Trends are charts of series that share one horizontal axis.
type Trends struct {
	Places []TrendPlace `json:"places"` // places of the axis, the oldest first
	Each   []Trend      `json:"each"`
}

// TrendPlace is a place of the axis: what was measured, and when.
type TrendPlace struct {
	When    string `json:"when"`
	Commit  string `json:"commit,omitempty"`
	Subject string `json:"subject,omitempty"`
	URL     string `json:"url,omitempty"` // the commit's page
}

// Trend is the chart of one series. Lists of integers keep pages with many series small.
type Trend struct {
	Name string  `json:"name"`
	What string  `json:"what"`
	Unit string  `json:"unit"`
	Lo   float64 `json:"lo"` // lower end of the vertical axis
	Hi   float64 `json:"hi"`
	// Points has five numbers for each point: how many places it is after the previous point, its
	// value, how far its interval reaches below and above the value, and 1 for an outlier. Values
	// are counted in steps from Lo (0) to Hi (TrendSteps).
	Points []int `json:"points"`
	// Regimes has three numbers for each regime: its first and last point, and its level.
	Regimes []int         `json:"regimes"`
	Changes []TrendChange `json:"changes"`
}

// TrendChange is a mark at the point At; the change came with one of the points First to Last.
type TrendChange struct {
	At    int    `json:"at"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	Worse bool   `json:"worse"`
	Text  string `json:"text"`
}

// TrendSteps is the number of steps that the vertical axis of a trend is divided into.
const TrendSteps = 9999

// packed converts a value to steps of the axis, limited to one axis length beyond either end.
func (t Trend) packed(v float64) int {
	return int(math.Round(math.Max(-1, math.Min(2, (v-t.Lo)/(t.Hi-t.Lo))) * TrendSteps))
}

// Value converts a number of steps back to a value.
func (t Trend) Value(steps int) float64 { return t.Lo + (t.Hi-t.Lo)*float64(steps)/TrendSteps }

// Charts returns the trends as charts that need no script.
func (t *Trends) Charts() (charts []Chart) {
	last := float64(max(1, len(t.Places)-1))
	for _, one := range t.Each {
		c := Chart{Title: one.Name + ", " + one.What, Label: "Trend of " + one.Name, X: Axis{Title: "records, the oldest first", Lo: 0, Hi: last}}
		c.Y = Axis{Title: one.Unit, Lo: one.Lo, Hi: one.Hi}
		if one.Unit == "ns" {
			c.Y = Axis{Title: "time", Unit: Time, Lo: one.Lo, Hi: one.Hi}
		}
		var at []float64
		values := Series{}
		place := 0
		for i := 0; i+4 < len(one.Points); i += 5 {
			place += one.Points[i]
			at = append(at, float64(place))
			values.Points = append(values.Points, XY{X: float64(place), Y: one.Value(one.Points[i+1])})
		}
		c.Series = append(c.Series, values)
		for i := 0; i+2 < len(one.Regimes); i += 3 {
			level := one.Value(one.Regimes[i+2])
			c.Series = append(c.Series, Series{Look: 1, Joined: true, Plain: true, Points: []XY{{X: at[one.Regimes[i]], Y: level}, {X: at[one.Regimes[i+1]], Y: level}}})
		}
		for _, change := range one.Changes {
			x := (at[change.At] + at[change.At-1]) / 2
			c.Series = append(c.Series, Series{Look: 2, Joined: true, Plain: true, Points: []XY{{X: x, Y: one.Lo}, {X: x, Y: one.Hi}}})
		}
		charts = append(charts, c)
	}
	return charts
}
