package timermeter

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// row is one timer in Kuperberg 2011a, Tables 1 and 2.
type row struct {
	name                       string
	accuracyCycles, costCycles float64
	spread, printedPercent     float64
	slip                       bool
}

// readTables reads both tables of the paper. Their headers name the columns.
func readTables(t *testing.T) []row {
	t.Helper()
	var rows []row
	for _, name := range []string{"kuperberg2011a-table1.csv", "kuperberg2011a-table2.csv"} {
		f, err := os.Open("../testdata/papers/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		r.Comment = '#'
		lines, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, title := range lines[0] {
			column[title] = i
		}
		for _, line := range lines[1:] {
			number := func(title string) float64 {
				v, err := strconv.ParseFloat(line[column[title]], 64)
				if err != nil {
					t.Fatalf("%s: %v: %s: %v", name, line, title, err)
				}
				return v
			}
			inNs := func(quantity string) float64 {
				switch unit := line[column[quantity+"_unit"]]; unit {
				case "ns":
					return number(quantity)
				case "ms":
					return number(quantity) * 1e6
				case "ticks":
					return number(quantity) * number("tick_ns")
				default:
					t.Fatalf("%s: %v: unknown unit %q", name, line, unit)
					return 0
				}
			}
			cyclesPerNs := number("cycles_per_ns")
			rows = append(rows, row{
				name:           line[column["timer"]] + " on " + line[column["platform"]],
				accuracyCycles: inNs("accuracy") * cyclesPerNs, costCycles: inNs("cost") * cyclesPerNs,
				spread: number("spread"), printedPercent: number("quality_percent"),
				slip: line[column["known_slip"]] != "",
			})
		}
	}
	return rows
}

// Formula (1) gives the printed quality of 30 rows. The printed quality of two rows does not follow
// from their own inputs: the formula gives 43.41 % for HRC on MBP53, where 54.08 % is printed, and
// 46.26 % for HRC on MBP62, where 41.44 % is printed.
func TestQualityOfTheTables(t *testing.T) {
	slips := map[string]float64{"HRC on MBP53": 43.41, "HRC on MBP62": 46.26}
	good := 0
	for _, r := range readTables(t) {
		got := 100 * Quality(r.accuracyCycles, r.costCycles, r.spread)
		want := r.printedPercent
		if figure, slip := slips[r.name]; slip != r.slip {
			t.Errorf("%s: known slip: %v in the table, %v here", r.name, r.slip, slip)
		} else if slip {
			want = figure
		} else {
			good++
		}
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%s: quality %.4f %%, want %.2f %%", r.name, got, want)
		}
	}
	if good != 30 {
		t.Errorf("%d rows follow from their inputs, want 30", good)
	}
}

// Section 4.3 has the timers a and b, and two timers of 200 and 100 ns at 2 GHz, whose qualities
// are 12.87 and 13.80 % (the printed 13.79 and 14.79 % result if nanoseconds are taken for
// cycles). Section 4.4 has the worst case, 3.02 %.
func TestQualityOfWorkedExamples(t *testing.T) {
	for _, c := range []struct {
		name                   string
		accuracy, cost, spread float64
		percent                float64
	}{
		{"a", 2400, 4800, 0.993, 19.60},
		{"b", 168, 1680, 0.578, 21.67},
		{"1 ms and 200 ns at 2 GHz", 2e6, 400, 1, 12.87},
		{"1 ms and 100 ns at 2 GHz", 2e6, 200, 1, 13.80},
		{"worst case", 60e6, 64e3, 0.3, 3.02},
		{"less than a cycle counts as one", 0.1, 0.5, 1, 100},
	} {
		if got := 100 * Quality(c.accuracy, c.cost, c.spread); math.Abs(got-c.percent) > 0.01 {
			t.Errorf("%s: %.4f %%, want %.2f %%", c.name, got, c.percent)
		}
	}
}

// Quality lies in (0, 1], and is never better for a clock that is coarser, more expensive or more
// widely spread (section 4.4).
func TestQualityIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cycles := rapid.Float64Range(0, 1e12)
		share := rapid.Float64Range(1e-6, 1)
		a, c, s := cycles.Draw(t, "accuracy"), cycles.Draw(t, "cost"), share.Draw(t, "spread")
		q := Quality(a, c, s)
		if !(q > 0 && q <= 1) {
			t.Fatalf("quality %v", q)
		}
		if Quality(a*2, c, s) > q || Quality(a, c*2, s) > q || Quality(a, c, s/2) > q {
			t.Fatalf("a worse clock has a better quality than %v", q)
		}
	})
}
