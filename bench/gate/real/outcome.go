package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
)

// outcome is what one gate said.
type outcome struct {
	kind, load string
	seed       int
	change     string // the edit
	planted    string // the benchmark that takes longer
	// pairs were judged; found is how many of the planted ones are beyond the limit, blamed how many
	// others are, and undecided how many are on neither side.
	pairs, found, blamed, undecided int
	status                          int
	seconds                         float64
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d, %d found, %d blamed, %d undecided of %d, %.0f s", o.status, o.found, o.blamed, o.undecided, o.pairs, o.seconds)
}

// fields are the columns of the file.
func (o outcome) fields() []string {
	fields := []string{o.kind, o.load, strconv.Itoa(o.seed), o.change, o.planted}
	for _, n := range []int{o.pairs, o.found, o.blamed, o.undecided, o.status} {
		fields = append(fields, strconv.Itoa(n))
	}
	return append(fields, strconv.FormatFloat(o.seconds, 'f', 1, 64))
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

// outcomes are those of a file.
type outcomes []outcome

// has reports whether a gate was run.
func (all outcomes) has(o outcome) bool {
	return slices.ContainsFunc(all, func(p outcome) bool { return p.kind == o.kind && p.load == o.load && p.seed == o.seed })
}

// read reads what gates have said; nothing of a file that is not there.
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
		o := outcome{kind: row[0], load: row[1], change: row[3], planted: row[4]}
		for i, into := range map[int]*int{2: &o.seed, 5: &o.pairs, 6: &o.found, 7: &o.blamed, 8: &o.undecided, 9: &o.status} {
			if *into, err = strconv.Atoi(row[i]); err != nil {
				return all, fmt.Errorf("%s: %w", path, err)
			}
		}
		if o.seconds, err = strconv.ParseFloat(row[10], 64); err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, o)
	}
}

// print writes a table: a line for each kind of gate and load.
func print(w io.Writer, all outcomes) {
	fmt.Fprintf(w, "%-18s %-8s %6s %8s %8s %8s %10s %10s %8s\n", "gates of", "load", "gates", "failed", "wrongly", "caught", "undecided", "pairs", "seconds")
	type row struct{ kind, load string }
	var rows []row
	for _, o := range all {
		if r := (row{o.kind, o.load}); !slices.Contains(rows, r) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		n, failed, wrongly, caught, undecided, pairs, seconds := 0, 0, 0, 0, 0, 0, 0.
		for _, o := range all {
			if (row{o.kind, o.load}) != r {
				continue
			}
			n, undecided, pairs, seconds = n+1, undecided+o.undecided, pairs+o.pairs, seconds+o.seconds
			failed, wrongly, caught = failed+count(o.status == statusSlower), wrongly+count(o.blamed > 0), caught+count(o.found > 0)
		}
		fmt.Fprintf(w, "%-18s %-8s %6d %8d %8d %8d %10d %10d %8.1f\n", r.kind, r.load, n, failed, wrongly, caught, undecided, pairs, seconds/float64(n))
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
