package report

import (
	"fmt"
	"io"
	"strings"

	"chronoscope/machine"
	"chronoscope/record"
)

// Card writes the report card for people.
func Card(w io.Writer, d record.Card, s Style) {
	machineLines(w, d.Header, s)
	findings(w, d.Findings, s)
	if len(d.Clocks) > 0 {
		winners(w, d.Ranking, s)
		advice(w, d.Advice, s)
		rankingTable(w, d.Ranking, s)
		reasons(w, d.Ranking, s)
	}
	unavailableNames(w, d.Ranking, s)
	caveats(w, d.Header, s)
}

// findings writes what is not as it should be.
func findings(w io.Writer, all []machine.Finding, s Style) {
	var said bool
	for _, f := range all {
		if f.Severity == machine.OK {
			continue
		}
		fmt.Fprintf(w, "%s %s: %s\n", f.Severity, s.bold(f.Topic), f.Seen)
		fmt.Fprintf(w, "  effect: %s\n  fix: %s\n", f.Effect, f.Fix)
		said = true
	}
	if said {
		fmt.Fprintln(w)
	}
}

// advice writes from which durations on the chosen clocks are good.
func advice(w io.Writer, all []record.Advice, s Style) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, s.bold("Good for"))
	for _, a := range all {
		fmt.Fprintf(w, "  %-9s %s and longer within %s, with %s: %s\n",
			a.Purpose, duration(a.FromNs), relative(a.ExpectedError), a.Clock, a.Method)
	}
	fmt.Fprintln(w)
}

// unavailableNames names the clocks that can't be read, in one line.
func unavailableNames(w io.Writer, r record.Ranking, s Style) {
	if len(r.Unavailable) == 0 {
		return
	}
	var names []string
	for _, u := range r.Unavailable {
		names = append(names, u.Name)
	}
	fmt.Fprintf(w, "%s %s\n  why, and what helps: chronoscope clocks\n\n", s.bold("Unavailable"), strings.Join(names, ", "))
}
