package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"chronoscope/stats"
)

// outcome is what one gate said.
type outcome struct {
	Kind     string   `json:"kind"`
	Load     string   `json:"load"`
	Seed     int      `json:"seed"`
	Settings string   `json:"settings"`            // everything else that a gate depends on
	Change   string   `json:"change,omitempty"`    // the edit
	SameCode bool     `json:"same_code,omitempty"` // the edit left the machine code as it was
	Planted  []string `json:"planted,omitempty"`   // the benchmarks that take longer
	// Pairs is the number of pairs that were judged, Found the number of planted benchmarks beyond the limit, Blamed that
	// of others beyond it, and Undecided that of pairs on neither side.
	Pairs     int     `json:"pairs"`
	Found     int     `json:"found"`
	Blamed    int     `json:"blamed"`
	Undecided int     `json:"undecided"`
	Status    int     `json:"status"`
	Seconds   float64 `json:"seconds"`
	// Said is the loudest verdict of the gate on a pair. Loudest names this pair, and Ratio is its ratio.
	Said    verdict        `json:"said"`
	Loudest string         `json:"loudest"`
	Ratio   stats.Estimate `json:"ratio"`
}

// verdict is what the gate says about a pair, or about all pairs.
type verdict string

// The verdicts, in ascending order of loudness. A pair is slower if it is beyond the limit at the false-alarm
// rate of the whole suite, and listedSlower if only the list of benchmarks calls it slower.
const (
	unchanged    verdict = "unchanged"
	undecided    verdict = "undecided"
	faster       verdict = "faster"
	listedSlower verdict = "listed slower"
	slower       verdict = "slower"
)

var verdicts = []verdict{unchanged, undecided, faster, listedSlower, slower}

// verdictOn returns the verdict on a pair.
func verdictOn(p stats.Pair) verdict {
	switch {
	case p.Joint.Side == stats.Beyond:
		return slower
	case p.Outcome == stats.Slower:
		return listedSlower
	case p.Outcome == stats.Faster:
		return faster
	case p.Outcome == stats.Undecided:
		return undecided
	}
	return unchanged
}

// hear returns the outcome after a pair. The pair replaces the one so far if its verdict is louder, or if the
// verdict is the same and the ratio farther from 1.
func (o outcome) hear(p stats.Pair, name string) outcome {
	v := verdictOn(p)
	louder := slices.Index(verdicts, v) - slices.Index(verdicts, o.Said)
	if louder > 0 || louder == 0 && math.Abs(math.Log(p.Ratio.Value)) > math.Abs(math.Log(o.Ratio.Value)) {
		o.Said, o.Loudest, o.Ratio = v, name, p.Ratio
	}
	return o
}

func (o outcome) String() string {
	text := fmt.Sprintf("%s (%s %.4f, %.4f to %.4f), status %d, %d found, %d blamed, %d undecided of %d, %.0f s",
		o.Said, o.Loudest, o.Ratio.Value, o.Ratio.Lo, o.Ratio.Hi, o.Status, o.Found, o.Blamed, o.Undecided, o.Pairs, o.Seconds)
	if o.SameCode {
		text = "the same machine code: " + text
	}
	if o.Change != "" {
		text = o.Change + ": " + text
	}
	return text
}

// outcomes are the values of a file.
type outcomes []outcome

// has reports whether the gate of an outcome was run.
func (all outcomes) has(o outcome) bool {
	return slices.ContainsFunc(all, func(p outcome) bool { return p.Kind == o.Kind && p.Load == o.Load && p.Seed == o.Seed })
}

// check returns an error if a gate was run with other settings.
func (all outcomes) check(settings string) error {
	for _, o := range all {
		if o.Settings != settings {
			return fmt.Errorf("its gates were run with other settings; give another -out:\n%s\nand not\n%s", o.Settings, settings)
		}
	}
	return nil
}

// row is a line of the tables.
type row struct{ kind, load string }

// rows returns the outcomes of each kind of gate and load, and their order.
func (all outcomes) rows() (order []row, of map[row]outcomes) {
	of = map[row]outcomes{}
	for _, o := range all {
		r := row{o.Kind, o.Load}
		if of[r] == nil {
			order = append(order, r)
		}
		of[r] = append(of[r], o)
	}
	return order, of
}

// print writes two tables with a line for each kind of gate and load: the outcomes, and how many gates gave each verdict.
// "same code" are edits that left the machine code as it was, "wrongly" gates that blamed a benchmark that did not change,
// "planted" benchmarks that take longer, and "caught" those of them that were found.
func print(w io.Writer, all outcomes) {
	order, of := all.rows()
	fmt.Fprintf(w, "%-18s %-8s %6s %10s %8s %8s %8s %8s %10s %8s %8s\n", "gates of", "load", "gates", "same code", "failed", "wrongly", "planted", "caught", "undecided", "pairs", "seconds")
	for _, r := range order {
		var same, failed, wrongly, planted, caught, undecided, pairs int
		var seconds float64
		for _, o := range of[r] {
			undecided, pairs, seconds = undecided+o.Undecided, pairs+o.Pairs, seconds+o.Seconds
			same, failed, wrongly = same+count(o.SameCode), failed+count(o.Status == statusSlower), wrongly+count(o.Blamed > 0)
			planted, caught = planted+len(o.Planted), caught+o.Found
		}
		n := len(of[r])
		fmt.Fprintf(w, "%-18s %-8s %6d %10d %8d %8d %8d %8d %10d %8d %8.1f\n", r.kind, r.load, n, same, failed, wrongly, planted, caught, undecided, pairs, seconds/float64(n))
	}
	fmt.Fprintf(w, "\n%-18s %-8s", "gates of", "load")
	for _, v := range verdicts {
		fmt.Fprintf(w, " %14s", v)
	}
	fmt.Fprintln(w)
	for _, r := range order {
		fmt.Fprintf(w, "%-18s %-8s", r.kind, r.load)
		for _, v := range verdicts {
			n := 0
			for _, o := range of[r] {
				n += count(o.Said == v)
			}
			fmt.Fprintf(w, " %14d", n)
		}
		fmt.Fprintln(w)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
