package record

import (
	"time"

	"chronoscope/fleet"
	"chronoscope/stats"
)

var _ = register[Fleet]("fleet")

// Fleet is the document that says which machines of a fleet are outliers.
type Fleet struct {
	Header
	// Of is the command whose records are ranked; empty for the report card.
	Of    string      `json:"of"`
	Nodes []FleetNode `json:"nodes"`
	// Outliers are sorted: the machine with the most outliers comes first, and for each machine its
	// largest outlier.
	Outliers []FleetOutlier `json:"outliers"`
	fleet.Ranking
}

// FleetNode is a machine, named after its record.
type FleetNode struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Machine string    `json:"machine"` // its CPU model, system and clock source
}

// FleetOutlier is a figure in which a machine is an outlier of its tier.
type FleetOutlier struct {
	Node     string `json:"node"`
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	// Tier is the number of the tier among those of the figure; tier 1 has the smallest values.
	Tier  int            `json:"tier"`
	Ratio stats.Estimate `json:"ratio"`
	Rate  float64        `json:"false_discovery_rate"`
	// Outcome is "worse" or "better", or "differs" if neither direction is better.
	Outcome string `json:"outcome"`
}
