package record

import (
	"time"

	"chronoscope/stats"
)

var _ = register[History]("history")

// History is the document of series of figures, and of where they changed.
type History struct {
	Header
	Store   string          `json:"store"`
	Records []HistoryRecord `json:"records"` // that the points are of
	// Unreadable are records that could not be read.
	Unreadable []UnreadableRecord `json:"unreadable"`
	Series     []HistorySeries    `json:"series"`
	// CommitURL is a commit's page, with {commit} in place of its name; empty where there is none.
	CommitURL string `json:"commit_url"`
}

// UnreadableRecord is one that could not be read, and why.
type UnreadableRecord struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// HistoryRecord is a record that points of series come from. What is not known of its commit is empty or null.
type HistoryRecord struct {
	Name       string     `json:"name"`
	Started    time.Time  `json:"started"`
	Commit     string     `json:"commit"`
	CommitTime *time.Time `json:"commit_time"`
	Subject    string     `json:"subject"` // of the commit's message
	Modified   bool       `json:"modified"`
	Go         string     `json:"go"`
}

// HistorySeries is one figure on one machine tier.
type HistorySeries struct {
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	Unit     string `json:"unit"`
	// Better says which values are better: "lower", "higher", or "" if neither.
	Better      string `json:"better"`
	Tier        string `json:"tier"`
	CPU         string `json:"cpu"`
	System      string `json:"system"`
	Kernel      string `json:"kernel"` // the first two numbers of its release
	Hypervisor  string `json:"hypervisor"`
	Clocksource string `json:"clocksource"`
	Arch        string `json:"arch"`
	// Go is the version of Go that all points share, where series were told apart by it.
	Go string `json:"go"`
	// Began says what of the machine was new when the series began; empty for the first series of a figure.
	Began   string          `json:"began"`
	Points  []HistoryPoint  `json:"points"` // the oldest first
	Regimes []HistoryRegime `json:"regimes"`
	Changes []HistoryChange `json:"changes"`
	// Tip holds the newest commit against the regime before it; null where that is too short.
	Tip *HistoryTip `json:"tip"`
	// Noise is the standard deviation of the points of a regime, as a share of its level; null where the
	// values are not all positive.
	Noise stats.Float `json:"noise"`
	// Unusable is how many values were left out, since their verdict is unusable.
	Unusable int `json:"unusable"`
}

// HistoryPoint is the figure of one record.
type HistoryPoint struct {
	Record  int           `json:"record"` // its place among the records
	Value   float64       `json:"value"`
	Lo      stats.Float   `json:"lo"`
	Hi      stats.Float   `json:"hi"`
	Verdict stats.Verdict `json:"verdict"`
	// Outlier says that the point counts for nothing, since its neighbours on both sides differ from it.
	Outlier bool `json:"outlier"`
}

// HistoryRegime is a stretch of points with one level: from the first to the last of them.
type HistoryRegime struct {
	First int            `json:"first"`
	Last  int            `json:"last"`
	Level stats.Estimate `json:"level"`
}

// HistoryChange is where the level changed. Points are counted from 0.
type HistoryChange struct {
	// At is the first point after the change; with a probability of 95 % that is one of First to Last.
	At    int `json:"at"`
	First int `json:"first"`
	Last  int `json:"last"`
	// Change is the level after it over the one before, or the difference where the values are not all positive.
	Change stats.Estimate `json:"change"`
	// PValue is the probability of such a change anywhere in the series by noise alone.
	PValue float64 `json:"p_value"`
	// Outcome is "faster", "slower", "better", "worse" or "changed".
	Outcome string `json:"outcome"`
	// MendedBy is the place, among the changes of the series, of the one that took this one back; null where
	// it is still there.
	MendedBy *int `json:"mended_by"`
}

// HistoryTip holds the newest points against the regime before them.
type HistoryTip struct {
	Points  int            `json:"points"`
	Change  stats.Estimate `json:"change"` // as of a [HistoryChange]
	PValue  float64        `json:"p_value"`
	Outcome string         `json:"outcome"` // also "undecided"
}

// CheckPlaces makes sure that nothing in the series leads beyond its lists.
func (d History) CheckPlaces() error {
	for _, s := range d.Series {
		if len(s.Points) == 0 {
			return malformed("series: %.40q has no points", s.Name)
		}
		bad := func(i int) bool { return i < 0 || i >= len(s.Points) }
		for _, p := range s.Points {
			if p.Record < 0 || p.Record >= len(d.Records) {
				return malformed("series: %.40q has a point of record %d, and there are %d", s.Name, p.Record, len(d.Records))
			}
		}
		for _, r := range s.Regimes {
			if bad(r.First) || bad(r.Last) || r.Last < r.First {
				return malformed("series: %.40q has a regime of the points %d to %d, and there are %d", s.Name, r.First, r.Last, len(s.Points))
			}
		}
		for _, c := range s.Changes {
			if c.At < 1 || bad(c.At) || c.First < 1 || bad(c.First) || bad(c.Last) || c.Last < c.First {
				return malformed("series: %.40q has a change at point %d, and there are %d", s.Name, c.At, len(s.Points))
			}
			if c.MendedBy != nil && (*c.MendedBy < 0 || *c.MendedBy >= len(s.Changes)) {
				return malformed("series: a change of %.40q is mended by number %d, and there are %d", s.Name, *c.MendedBy, len(s.Changes))
			}
		}
	}
	return nil
}
