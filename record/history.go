package record

import (
	"time"

	"chronoscope/stats"
)

// History is the document of series of figures, and of the changes in them.
type History struct {
	Header
	Store   string          `json:"store"`
	Records []HistoryRecord `json:"records"` // the records that the points belong to
	// Unreadable are records that could not be read.
	Unreadable []UnreadableRecord `json:"unreadable"`
	Series     []HistorySeries    `json:"series"`
	// Unusable are the figures of one machine tier whose values are all unusable, so that there is no series of them.
	Unusable []UnusableFigure `json:"unusable,omitempty"`
	// NewestCommit is the newest commit that was measured, or HEAD for a gate if it was; empty if no record has a commit.
	NewestCommit string `json:"newest_commit"`
	// CommitURL is the address of a commit's page, with {commit} in place of its name; empty if
	// there is none.
	CommitURL string `json:"commit_url"`
}

// UnreadableRecord is a record that could not be read, and the reason.
type UnreadableRecord struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// UnusableFigure is a figure without a usable value on a machine tier.
type UnusableFigure struct {
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	Tier     string `json:"tier"`
	Values   int    `json:"values"` // how many there are
	// Newest says that the newest commit has one, and that it is not the first commit with this figure.
	Newest bool `json:"newest"`
}

// HistoryRecord is a record with points of series. Unknown properties of its commit are empty or
// null.
type HistoryRecord struct {
	Name       string     `json:"name"`
	Started    time.Time  `json:"started"`
	Commit     string     `json:"commit"`
	CommitTime *time.Time `json:"commit_time"`
	Subject    string     `json:"subject"` // first line of the commit's message
	Modified   bool       `json:"modified"`
	Go         string     `json:"go"`
}

// HistorySeries is one figure on one machine tier.
type HistorySeries struct {
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	Unit     string `json:"unit"`
	// Better says which values are better: "lower", "higher", or "" for neither.
	Better      string `json:"better"`
	Tier        string `json:"tier"`
	CPU         string `json:"cpu"`
	System      string `json:"system"`
	Kernel      string `json:"kernel"` // the first two numbers of its release
	Hypervisor  string `json:"hypervisor"`
	Clocksource string `json:"clocksource"`
	Arch        string `json:"arch"`
	// Go is the version of Go of all points, if each version has a series of its own.
	Go string `json:"go"`
	// Began says which property of the machine was new when the series began; empty for the first
	// series of a figure.
	Began   string          `json:"began"`
	Points  []HistoryPoint  `json:"points"` // the oldest first
	Regimes []HistoryRegime `json:"regimes"`
	Changes []HistoryChange `json:"changes"`
	// Tip compares the newest commit with the regime before it; null if that is too short.
	Tip *HistoryTip `json:"tip"`
	// Noise is the standard deviation of the points of a regime, as a share of its level; null
	// unless all values are positive and there are two or more.
	Noise stats.Float `json:"noise"`
	// Unusable is the number of values that were left out because their verdict is unusable.
	Unusable int `json:"unusable"`
	// Newest says whether the newest commit, or the newest record if that has none, has a value of the figure: one of
	// [NewestUsable], [NewestNew], [NewestUnusable] and [NewestMissing]; empty if no value was to be expected there.
	Newest string `json:"newest"`
}

// Values of [HistorySeries].Newest.
const (
	NewestUsable   = "usable"   // points of the newest commit are judged
	NewestNew      = "new"      // it is usable, and no older record has the figure, while the same command measured others at the commit before
	NewestUnusable = "unusable" // the value is unusable, and no point of the series, or the measurement failed
	NewestMissing  = "missing"  // the same command measured it at the commit before, but not at the newest one
)

// HistoryPoint is the figure of one record.
type HistoryPoint struct {
	Record  int           `json:"record"` // index in the list of records
	Value   float64       `json:"value"`
	Lo      stats.Float   `json:"lo"`
	Hi      stats.Float   `json:"hi"`
	Verdict stats.Verdict `json:"verdict"`
	// Outlier says that the point is ignored, since its neighbours on both sides differ from it.
	Outlier bool `json:"outlier"`
}

// HistoryRegime is a stretch of points with one level. First and Last are indices of points.
type HistoryRegime struct {
	First int            `json:"first"`
	Last  int            `json:"last"`
	Level stats.Estimate `json:"level"`
}

// HistoryChange is a change of the level. Points are counted from 0.
type HistoryChange struct {
	// At is the first point after the change. With a probability of 95 % the true one is among
	// First to Last.
	At    int `json:"at"`
	First int `json:"first"`
	Last  int `json:"last"`
	// Change is the ratio of the levels after and before it, or their difference unless all values
	// are positive.
	Change stats.Estimate `json:"change"`
	// PValue is the probability that noise alone causes such a change anywhere in the series.
	PValue float64 `json:"p_value"`
	// Outcome is "faster", "slower", "better", "worse" or "changed".
	Outcome string `json:"outcome"`
	// MendedBy is the index, among the changes of the series, of the change that undid this one;
	// null if none did.
	MendedBy *int `json:"mended_by"`
}

// HistoryTip compares the newest points with the regime before them.
type HistoryTip struct {
	Points  int            `json:"points"`
	Change  stats.Estimate `json:"change"` // as in [HistoryChange]
	PValue  float64        `json:"p_value"`
	Outcome string         `json:"outcome"` // as in [HistoryChange], or "undecided"
}

// CheckPlaces checks that all indices in the series are valid.
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
