package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// mostImported is the largest size of another tool's file.
const mostImported = 64 << 20

// Import reads a document of this program, or the output of another tool: the JSON of hyperfine
// --export-json, or lines of the Go benchmark format. written is the time at which the file was
// written, since the files of other tools don't contain one.
//
// For documents, the errors are those of [Parse]; other errors say what was tried.
func Import(r io.Reader, written time.Time) (Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, MostBytes+1)) // anything larger is refused below
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return importGoBench(data, written)
	}
	var form struct {
		Schema  json.RawMessage `json:"schema"`
		Results json.RawMessage `json:"results"`
	}
	if json.Unmarshal(data, &form) == nil && form.Schema == nil && form.Results != nil {
		return importHyperfine(data, written)
	}
	return Parse(data)
}

// importedHeader returns the header of a document that another tool wrote on an unknown machine.
func importedHeader(command string, written time.Time, m *machine.Machine, caveat string) Header {
	return Header{Schema: Schema, Command: command, Started: written, Machine: m, Caveats: []string{caveat}}
}

// passedOver begins the caveat about a part of another tool's file that was left out, or that can't be compared.
const passedOver = "passed over: "

// tellTwice adds a caveat about each name that several results of another tool have.
func (h *Header) tellTwice(names []string) {
	times := map[string]int{}
	for _, name := range names {
		if times[name]++; times[name] == 2 {
			h.Caveats = append(h.Caveats, fmt.Sprintf(passedOver+"%.200q is named twice: comparisons and histories take its first result", name))
		}
	}
}

// PassedOver returns what an import left out of a document, or what comparisons and histories leave out of it; nothing for
// other documents.
func PassedOver(d Document) (all []string) {
	for _, caveat := range d.Head().Caveats {
		if what, is := strings.CutPrefix(caveat, passedOver); is {
			all = append(all, what)
		}
	}
	return all
}

// tooLarge refuses a file that is larger than any output of these tools.
func tooLarge(data []byte) error {
	if len(data) > mostImported {
		return fmt.Errorf("it is larger than %d MiB: give fewer results", mostImported>>20)
	}
	return nil
}

// wallMedian returns the median of wall times in nanoseconds, with a distribution-free interval,
// and its verdict.
func wallMedian(times []float64) (stats.Estimate, stats.Judgement) {
	j := stats.NewJudgement()
	j.Lower(stats.Suspect, "of wall times: what waited for a CPU is in them, and nothing says how much that was")
	sorted := slices.Sorted(slices.Values(times))
	e, _, err := stats.QuantileInterval(sorted, 0.5, "ns")
	if few, ok := errors.AsType[*stats.TooFewError](err); ok {
		j.Lower(stats.Suspect, "there is no interval: %v", few)
	}
	return e, j
}
