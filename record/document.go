package record

import (
	"encoding/json"
	"maps"
	"slices"
)

// Document is what a command writes. Each kind of document is a struct of this package that embeds
// a [Header], such as [Card], [Clocks] or [Programs].
type Document interface {
	// Head returns the header, with which every document starts.
	Head() Header
}

// Head returns the header itself, so that every struct that embeds one is a [Document].
func (h Header) Head() Header { return h }

// forms are the functions that read the documents of each command. The name of the report card's command is empty.
var forms = map[string]func([]byte) (Document, error){
	"":          decode[Card],
	"activity":  decode[Activity],
	"bench":     decode[Bench],
	"bisect":    decode[Bisect],
	"bytecode":  decode[Bytecode],
	"clocks":    decode[Clocks],
	"compare":   decode[Comparison],
	"doctor":    decode[Doctor],
	"fidelity":  decode[Fidelity],
	"fleet":     decode[Fleet],
	"history":   decode[History],
	"lateness":  decode[Lateness],
	"run":       decode[Programs],
	"slowclock": decode[SlowClock],
	"validate":  decode[Validation],
	"why":       decode[Why],
}

// Commands returns the commands whose documents can be read, in alphabetical order; the report
// card's is empty.
func Commands() []string { return slices.Sorted(maps.Keys(forms)) }

func decode[T Document](data []byte) (Document, error) {
	var d T
	err := json.Unmarshal(data, &d)
	return d, err
}
