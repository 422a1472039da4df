package record

import (
	"encoding/json"
	"maps"
	"slices"
)

// Document is what a command writes: [Card], [Clocks], [Fidelity], [Activity], [Doctor],
// [Bench], [Programs], [SlowClock], [Bytecode], [Validation] or [Comparison].
type Document interface {
	// Head is what every document starts with.
	Head() Header
}

// Head is the header itself, so that all that starts with one is a [Document].
func (h Header) Head() Header { return h }

// forms are the documents by their command. The report card's has no name.
var forms = map[string]func([]byte) (Document, error){
	"":          decode[Card],
	"clocks":    decode[Clocks],
	"fidelity":  decode[Fidelity],
	"activity":  decode[Activity],
	"doctor":    decode[Doctor],
	"bench":     decode[Bench],
	"run":       decode[Programs],
	"slowclock": decode[SlowClock],
	"validate":  decode[Validation],
	"bytecode":  decode[Bytecode],
	"compare":   decode[Comparison],
}

// Commands are those whose documents can be read, in alphabetical order; the report card's
// is empty.
func Commands() []string { return slices.Sorted(maps.Keys(forms)) }

func decode[T Document](data []byte) (Document, error) {
	var d T
	err := json.Unmarshal(data, &d)
	return d, err
}
