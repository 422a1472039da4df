package record

import (
	"chronoscope/program"
	"chronoscope/stats"
)

var _ = register[Programs]("run")

// Programs is the document of how long programs take.
type Programs struct {
	Header
	Results []program.Report `json:"results"` // in the order of the request
	Pairs   []stats.Pair     `json:"pairs"`
	// Shell is the measurement of the shell with an empty command, if the commands were run by a
	// shell. The results include this time.
	Shell *program.Report `json:"shell"`
	// Sort and TimeUnit say how text, pages and tables of other tools show the results, where the
	// user asked for that; both are empty otherwise.
	Sort     Sort     `json:"sort,omitempty"`
	TimeUnit TimeUnit `json:"time_unit,omitempty"`
}

// Sort is an order in which results are shown.
type Sort string

// The orders, in hyperfine's words.
const (
	ByCommand  Sort = "command" // that of the request
	ByMeanTime Sort = "mean-time"
)

// TimeUnit is the unit in which times are shown.
type TimeUnit string

// The units, in hyperfine's words.
const (
	Microsecond TimeUnit = "microsecond"
	Millisecond TimeUnit = "millisecond"
	Second      TimeUnit = "second"
)
