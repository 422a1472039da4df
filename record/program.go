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
}
