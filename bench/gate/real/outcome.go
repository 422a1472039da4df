package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"chronoscope/stats"
)

// outcome is what one gate said.
type outcome struct {
	kind, load string
	seed       int
	change     string   // the edit
	planted    []string // the benchmarks that take longer
	// pairs is the number of pairs that were judged, found the number of planted benchmarks beyond the limit, blamed that
	// of others beyond it, and undecided that of pairs on neither side.
	pairs, found, blamed, undecided int
	status                          int
	seconds                         float64
	// said is the loudest verdict of the gate on a pair. loudest names this pair, and ratio, lo and hi are its
	// ratio with the interval.
	said          verdict
	loudest       string
	ratio, lo, hi float64
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
	louder := slices.Index(verdicts, v) - slices.Index(verdicts, o.said)
	if louder > 0 || louder == 0 && math.Abs(math.Log(p.Ratio.Value)) > math.Abs(math.Log(o.ratio)) {
		o.said, o.loudest, o.ratio, o.lo, o.hi = v, name, p.Ratio.Value, p.Ratio.Lo, p.Ratio.Hi
	}
	return o
}

func (o outcome) String() string {
	text := fmt.Sprintf("%s (%s %.4f, %.4f to %.4f), status %d, %d found, %d blamed, %d undecided of %d, %.0f s",
		o.said, o.loudest, o.ratio, o.lo, o.hi, o.status, o.found, o.blamed, o.undecided, o.pairs, o.seconds)
	if o.change != "" {
		text = o.change + ": " + text
	}
	return text
}

// fields returns the columns of the file.
func (o outcome) fields() []string {
	fields := []string{o.kind, o.load, strconv.Itoa(o.seed), o.change, strings.Join(o.planted, " ")}
	for _, n := range []int{o.pairs, o.found, o.blamed, o.undecided, o.status} {
		fields = append(fields, strconv.Itoa(n))
	}
	fields = append(fields, strconv.FormatFloat(o.seconds, 'f', 1, 64), string(o.said), o.loudest)
	for _, x := range []float64{o.ratio, o.lo, o.hi} {
		fields = append(fields, strconv.FormatFloat(x, 'g', 6, 64))
	}
	return fields
}

// add appends the outcome to a file.
func (o outcome) add(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	err = w.Write(o.fields())
	w.Flush()
	return errors.Join(err, w.Error(), f.Close())
}

// outcomes are the lines of a file.
type outcomes []outcome

// has reports whether the gate of an outcome was run.
func (all outcomes) has(o outcome) bool {
	return slices.ContainsFunc(all, func(p outcome) bool { return p.kind == o.kind && p.load == o.load && p.seed == o.seed })
}

// read reads the outcomes in a file; none if the file does not exist.
func read(path string) (all outcomes, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = len(outcome{}.fields())
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
		o := outcome{kind: row[0], load: row[1], change: row[3], planted: strings.Fields(row[4])}
		for i, into := range map[int]*int{2: &o.seed, 5: &o.pairs, 6: &o.found, 7: &o.blamed, 8: &o.undecided, 9: &o.status} {
			if *into, err = strconv.Atoi(row[i]); err != nil {
				return all, fmt.Errorf("%s: %w", path, err)
			}
		}
		o.said, o.loudest = verdict(row[11]), row[12]
		for i, into := range map[int]*float64{10: &o.seconds, 13: &o.ratio, 14: &o.lo, 15: &o.hi} {
			if *into, err = strconv.ParseFloat(row[i], 64); err != nil {
				return all, fmt.Errorf("%s: %w", path, err)
			}
		}
		all = append(all, o)
	}
}

// print writes two tables: the outcomes, with a line for each kind of gate and load, and how many gates gave
// each verdict. "wrongly" are gates that blamed a benchmark that did not change, "planted" benchmarks that
// take longer, and "caught" those of them that were found.
func print(w io.Writer, all outcomes) {
	defer printVerdicts(w, all)
	fmt.Fprintf(w, "%-18s %-8s %6s %8s %8s %8s %8s %10s %8s %8s\n", "gates of", "load", "gates", "failed", "wrongly", "planted", "caught", "undecided", "pairs", "seconds")
	type row struct{ kind, load string }
	var rows []row
	for _, o := range all {
		if r := (row{o.kind, o.load}); !slices.Contains(rows, r) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		n, failed, wrongly, planted, caught, undecided, pairs, seconds := 0, 0, 0, 0, 0, 0, 0, 0.
		for _, o := range all {
			if (row{o.kind, o.load}) != r {
				continue
			}
			n, undecided, pairs, seconds = n+1, undecided+o.undecided, pairs+o.pairs, seconds+o.seconds
			failed, wrongly, planted, caught = failed+count(o.status == statusSlower), wrongly+count(o.blamed > 0), planted+len(o.planted), caught+o.found
		}
		fmt.Fprintf(w, "%-18s %-8s %6d %8d %8d %8d %8d %10d %8d %8.1f\n", r.kind, r.load, n, failed, wrongly, planted, caught, undecided, pairs, seconds/float64(n))
	}
}

// printVerdicts writes how many gates gave each verdict.
func printVerdicts(w io.Writer, all outcomes) {
	fmt.Fprintf(w, "\n%-18s %-8s", "gates of", "load")
	for _, v := range verdicts {
		fmt.Fprintf(w, " %14s", v)
	}
	fmt.Fprintln(w)
	type row struct{ kind, load string }
	said := map[row]map[verdict]int{}
	var rows []row
	for _, o := range all {
		r := row{o.kind, o.load}
		if said[r] == nil {
			rows, said[r] = append(rows, r), map[verdict]int{}
		}
		said[r][o.said]++
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-18s %-8s", r.kind, r.load)
		for _, v := range verdicts {
			fmt.Fprintf(w, " %14d", said[r][v])
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
