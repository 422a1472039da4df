package record

import (
	"time"

	"chronoscope/fleet"
	"chronoscope/stats"
)

var _ = register[Fleet]("fleet")

// Fleet is the document of which machines of many are not like the others.
type Fleet struct {
	Header
	// Of is the command whose records are ranked; the report card's has no name.
	Of    string      `json:"of"`
	Nodes []FleetNode `json:"nodes"`
	// Outliers are the machines that lie apart, those with the most and largest differences first.
	Outliers []FleetOutlier `json:"outliers"`
	fleet.Ranking
}

// FleetNode is a machine, as its record names it.
type FleetNode struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Machine string    `json:"machine"` // its CPU model, system and clock source
}

// FleetOutlier is a figure of a machine that lies apart from its tier.
type FleetOutlier struct {
	Node     string `json:"node"`
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	// Tier is its number among those of the figure, from 1, the one with the least values.
	Tier  int            `json:"tier"`
	Ratio stats.Estimate `json:"ratio"`
	Rate  float64        `json:"false_discovery_rate"`
	// Outcome is "worse", "better", or "differs" where neither direction is better.
	Outcome string `json:"outcome"`
}
