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

// forms read the documents of each command; the file of a kind of document registers its own.
// The report card's command has no name.
var forms = map[string]func([]byte) (Document, error){}

func register[T Document](command string) struct{} {
	forms[command] = decode[T]
	return struct{}{}
}

// Commands are those whose documents can be read, in alphabetical order; the report card's
// is empty.
func Commands() []string { return slices.Sorted(maps.Keys(forms)) }

func decode[T Document](data []byte) (Document, error) {
	var d T
	err := json.Unmarshal(data, &d)
	return d, err
}
