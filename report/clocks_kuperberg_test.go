package report

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"
)

// What is printed beside this machine is what the paper's tables say, as they stand in
// the tests' data.
func TestKuperbergTablesAreThePapers(t *testing.T) {
	for i, machines := range kuperbergTables {
		f, err := os.Open([]string{"../testdata/papers/kuperberg2011a-table1.csv", "../testdata/papers/kuperberg2011a-table2.csv"}[i])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		r.Comment = '#'
		lines, err := r.ReadAll()
		if err != nil || len(lines) != 17 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		for n, line := range lines[1:] {
			number := func(column int) float64 {
				x, err := strconv.ParseFloat(line[column], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			inNs := func(column int) float64 {
				switch line[column+1] {
				case "ms":
					return number(column) * 1e6
				case "ticks":
					return number(column) * number(7)
				}
				return number(column)
			}
			m, timer := machines[n/8], kuperbergTimers[n%8]
			want := published{inNs(3), inNs(5), number(8), number(9), line[10] != ""}
			if m.name != line[0] || timer.short != line[2] || m.rows[n%8] != want {
				t.Errorf("%s %s: %+v, want %s %s: %+v", m.name, timer.short, m.rows[n%8], line[0], line[2], want)
			}
		}
	}
}
