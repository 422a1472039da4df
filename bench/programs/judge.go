package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"chronoscope/bench/internal/cprogram"
	"chronoscope/stats"
)

// judge writes a table with a row for each subject and load: how many intervals of usable results overlap that of the truth, how
// wide the intervals of all results are, how many were trusted, and how many of the trusted ones are wrong.
func judge(w io.Writer, found []outcome) {
	rows := map[string][]outcome{}
	for _, o := range found {
		for _, name := range []string{"all", fmt.Sprintf("%s, load %2d", o.Subject, o.Load), fmt.Sprintf("load %2d, %s", o.Load, o.Kind)} {
			rows[name] = append(rows[name], o)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tn\tcovered\ttrusted\tsuspect\tunusable\twrongly trusted\thalf-width\tof the truth\terror median\tworst\thyperfine off\tits user + system\t")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row(table, name, rows[name])
	}
	table.Flush()
}

func row(w io.Writer, name string, all []outcome) {
	covered, wrongly := 0, 0
	verdicts := map[stats.Verdict]int{}
	var widths, truths, errs, peerWalls, peerCPUs []float64
	for _, o := range all {
		verdicts[o.Verdict]++
		if o.Verdict != stats.Unusable && o.covered() {
			covered++
		}
		if o.Verdict == stats.Trusted && cprogram.IsWrong(o.Estimate, o.Truth) {
			wrongly++
		}
		widths, truths = append(widths, o.Estimate.RelativeHalfWidth()), append(truths, o.Truth.RelativeHalfWidth())
		errs = append(errs, math.Abs(o.Estimate.Value/o.Truth.Value-1))
		if o.PeerWallNs > 0 {
			peerWalls, peerCPUs = append(peerWalls, o.PeerWallNs/o.Truth.Value-1), append(peerCPUs, o.PeerCPUNs/o.Truth.Value-1)
		}
	}
	fmt.Fprintf(w, "%s\t%d\t%d of %d\t%d\t%d\t%d\t%d\t%.2g %%\t%.2g %%\t%.2g %%\t%.2g %%\t%s\t%s\t\n", name, len(all), covered, len(all)-verdicts[stats.Unusable],
		verdicts[stats.Trusted], verdicts[stats.Suspect], verdicts[stats.Unusable], wrongly,
		100*stats.Median(widths), 100*stats.Median(truths), 100*stats.Median(errs), 100*slices.Max(errs), share(peerWalls), share(peerCPUs))
}

func share(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.3g %%", 100*stats.Median(all))
}
