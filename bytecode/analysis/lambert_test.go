package analysis_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"chronoscope/bytecode/analysis"
	"chronoscope/stats"
)

// printed returns the lines of one of the paper's tables, each by column.
func printed(t *testing.T, table string) []map[string]string {
	t.Helper()
	f, err := os.Open("../../testdata/papers/lambert2008-" + table + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil || len(lines) < 2 {
		t.Fatalf("%s: %d lines, %v", table, len(lines), err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// inNs converts a text in seconds to nanoseconds.
func inNs(t *testing.T, seconds string) float64 {
	t.Helper()
	s, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		t.Fatal(err)
	}
	return s * 1e9
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// printedOutliers returns the outliers of Table 3.
func printedOutliers(t *testing.T) []analysis.Timing {
	t.Helper()
	var all []analysis.Timing
	for _, row := range printed(t, "table3") {
		all = append(all, analysis.Timing{Name: row["instruction"], Ns: inNs(t, row["seconds"])})
	}
	return all
}

// printedGroups returns the instructions of Table 6, by group.
func printedGroups(t *testing.T) [][]string {
	t.Helper()
	var groups [][]string
	label := ""
	for _, row := range printed(t, "table6") {
		if row["group"] != label {
			label, groups = row["group"], append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], row["instruction"])
	}
	return groups
}

// The figures in the code equal those in the paper's tables.
func TestLambertIsAsPrinted(t *testing.T) {
	l := analysis.Lambert
	outliers := printedOutliers(t)
	if len(outliers) != len(l.Outliers) {
		t.Fatalf("%d outliers, %d printed", len(l.Outliers), len(outliers))
	}
	for i, o := range outliers {
		near(t, o.Name, l.Outliers[i].Ns, o.Ns, 1e-12)
		if l.Outliers[i].Name != o.Name {
			t.Errorf("outlier %d is %s, printed %s", i, l.Outliers[i].Name, o.Name)
		}
	}
	for i, row := range printed(t, "table4") {
		g := l.Granularities[i]
		near(t, row["statistic"], g.Ns, inNs(t, row["granularity_s"]), 1e-12)
		if g.Statistic != row["statistic"] || strconv.Itoa(g.Groups) != row["groups"] {
			t.Errorf("%+v, printed %v", g, row)
		}
	}
	for i, row := range printed(t, "figure2")[:5] {
		got := []stats.Float{l.Summary.LowerNs, l.Summary.Q1Ns, l.Summary.MedianNs, l.Summary.Q3Ns, l.Summary.UpperNs}[i].Value()
		near(t, row["statistic"], got, inNs(t, row["seconds"]), 1e-12)
	}
	near(t, "the maximum", l.Summary.MaxNs.Value(), outliers[0].Ns, 1e-12)
	near(t, "the mean", l.Summary.MeanNs.Value(), l.Granularities[4].Ns, 0)
	for i, row := range printed(t, "table8")[:3] {
		want, _ := strconv.ParseFloat(row["value"], 64)
		near(t, row["quantity"], []float64{l.PearsonR, l.Slope, l.InterceptNs / 1e9}[i], want, 1e-15)
	}
	total := 0
	for i, group := range printedGroups(t) {
		total += len(group)
		if l.Groups[i] != len(group) {
			t.Errorf("group %d has %d instructions, printed %d", i, l.Groups[i], len(group))
		}
	}
	if total != l.Instructions || len(l.Groups) != l.Granularities[2].Groups {
		t.Errorf("%d instructions in %d groups", total, len(l.Groups))
	}
}

// Clustered at the printed median, the outliers of Table 3 form the groups (d) to (k) of Table 6, in
// this order.
func TestGroupsOfTable3AreThoseOfTable6(t *testing.T) {
	tree, err := analysis.Cluster(printedOutliers(t))
	if err != nil {
		t.Fatal(err)
	}
	groups, want := tree.Groups(analysis.Lambert.Summary.MedianNs.Value()), printedGroups(t)[3:]
	if len(groups) != len(want) {
		t.Fatalf("%d groups, printed %d", len(groups), len(want))
	}
	for i, g := range groups {
		if got := slices.Sorted(slices.Values(names(g.Timings))); !slices.Equal(got, slices.Sorted(slices.Values(want[i]))) {
			t.Errorf("group %s: %v, printed %v", g.Label, got, want[i])
		}
		if !slices.IsSortedFunc(g.Timings, func(a, b analysis.Timing) int { return int(math.Copysign(1, a.Ns-b.Ns)) }) {
			t.Errorf("group %s is not from the fastest to the slowest: %v", g.Label, g.Timings)
		}
	}
	// At every granularity of Table 4 the other instructions need groups too, and at the last
	// granularity all instructions form one group.
	for _, g := range analysis.Lambert.Granularities {
		if n := len(tree.Groups(g.Ns)); n > g.Groups || g.Statistic == "maximum" && n != 1 {
			t.Errorf("%d groups of outliers at the %s, printed %d of all", n, g.Statistic, g.Groups)
		}
	}
}

// The instructions of Table 3 are outliers according to the quartiles of Figure 2, and the ends of its
// whiskers are not. The outliers alone show that the printed mean is wrong.
func TestOutliersOfFigure2(t *testing.T) {
	s := analysis.Lambert.Summary
	for _, o := range printedOutliers(t) {
		if !s.IsOutlier(o.Ns) {
			t.Errorf("%+v is no outlier", o)
		}
	}
	if s.IsOutlier(s.LowerNs.Value()) || s.IsOutlier(s.UpperNs.Value()) {
		t.Errorf("a whisker ends at an outlier: %+v", s)
	}
	sum := 0.0
	for _, o := range printedOutliers(t) {
		sum += o.Ns
	}
	if least := sum / 137; least < 5.9 || !(s.MeanNs.Value() >= least) {
		t.Errorf("the mean is %v, and the outliers alone make it %v", s.MeanNs, least)
	}
}

func names(timings []analysis.Timing) []string {
	var all []string
	for _, t := range timings {
		all = append(all, t.Name)
	}
	return all
}
