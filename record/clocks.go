package record

import "chronoscope/timermeter"

// Clocks is the document of the ranking of clocks.
type Clocks struct {
	Header
	timermeter.Ranking
}
