package record

import "chronoscope/timermeter"

var _ = register[Clocks]("clocks")

// Clocks is the document of the ranking of clocks.
type Clocks struct {
	Header
	timermeter.Ranking
}
