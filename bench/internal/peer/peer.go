// Package peer runs the tools that the experiments compare, and reads what they say.
package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/stats"
)

// Document holds what the experiments read of a document of chronoscope.
type Document struct {
	Results []Result
	Pairs   []stats.Pair
}

// Result is a result of chronoscope run or of chronoscope bench, in nanoseconds. What is null in the document is NaN here.
type Result struct {
	Package, Name  string // of a benchmark
	Verdict        stats.Verdict
	Reasons        []string
	Estimate, Wall stats.Estimate
	Runs           []Run // of chronoscope run, in the order in which they were made
}

// Run is one run of a program.
type Run struct {
	Started  time.Time
	WallNs   float64 `json:"wall_ns"`
	Rejected bool
}

// Read reads a document.
func Read(text []byte) (d Document, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("chronoscope's document can't be read: %w", err)
	}
	return d, nil
}

// Output runs a program in a folder, or in the current one if that is empty, and returns what it printed, even if it failed.
func Output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	c := command.Child(ctx, name, args...)
	var said bytes.Buffer
	c.Dir, c.Stderr = dir, &said
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said.String()[max(0, said.Len()-300):])
	}
	return out, err
}

// Timing is a result of hyperfine, in seconds.
type Timing struct {
	Mean, Stddev, User, System float64
	Times                      []float64
}

// Hyperfine lets hyperfine measure one command.
func Hyperfine(ctx context.Context, args ...string) (Timing, error) {
	file, err := os.CreateTemp("", "hyperfine")
	if err != nil {
		return Timing{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := Output(ctx, "", "hyperfine", append([]string{"--style=none", "--export-json=" + file.Name()}, args...)...); err != nil {
		return Timing{}, err
	}
	var told struct{ Results []Timing }
	if err := json.NewDecoder(file).Decode(&told); err != nil {
		return Timing{}, fmt.Errorf("hyperfine's results can't be read: %w", err)
	}
	if len(told.Results) != 1 {
		return Timing{}, fmt.Errorf("hyperfine wrote %d results, not one", len(told.Results))
	}
	return told.Results[0], nil
}
