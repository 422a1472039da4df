package record

import (
	"chronoscope/program"
	"chronoscope/stats"
)

var _ = register[Programs]("run")

// Programs is the document of how long programs take.
type Programs struct {
	Header
	Results []program.Report `json:"results"` // in the order in which they were asked for
	Pairs   []stats.Pair     `json:"pairs"`
	// Shell is the shell with nothing to do, where the commands were run by one: what it
	// takes is in the results, too.
	Shell *program.Report `json:"shell"`
}
