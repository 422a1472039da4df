// Package record defines the documents that the commands write: a versioned JSON format that
// scripts may rely on.
package record

import (
	"time"

	"chronoscope/machine"
)

// Schema is the version of the documents that this package writes.
const Schema = "chronoscope/v1"

// Header is the start of every document.
type Header struct {
	Schema      string           `json:"schema"`
	Command     string           `json:"command"` // empty for the report card
	Started     time.Time        `json:"started"`
	DurationNs  int64            `json:"duration_ns"`
	Interrupted bool             `json:"interrupted"`
	Seed        uint64           `json:"seed"` // the same seed repeats every random choice
	Machine     *machine.Machine `json:"machine"`
	Caveats     []string         `json:"caveats"`
	// Source is the version of the code that was measured, if the record is kept and the version
	// known.
	Source *Source `json:"source,omitempty"`
}

// NewHeader starts the document of a command.
func NewHeader(command string, m *machine.Machine, seed uint64) Header {
	return Header{
		Schema: Schema, Command: command, Started: time.Now(), Seed: seed,
		Machine: m, Caveats: append([]string{}, m.Caveats...),
	}
}

// Finish sets how long the command took and whether it was cut short.
func (h *Header) Finish(interrupted bool) {
	h.DurationNs = time.Since(h.Started).Nanoseconds()
	h.Interrupted = interrupted
}
