package report

import (
	"fmt"
	"io"
	"strings"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
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
	trust(w, d.Trust, s)
	noise(w, d.Traces, s)
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

// noise writes in a few lines how noisy the machine is.
func noise(w io.Writer, traces []record.Trace, s Style) {
	if len(traces) == 0 {
		return
	}
	fmt.Fprintln(w, s.bold("How noisy is it?"))
	for _, t := range traces {
		fmt.Fprintf(w, "  %s ran %s of %s", place(t), percent(t.ActiveRatio), duration(t.DurationNs))
		var lost []string
		for _, c := range activity.Causes() {
			if total, seen := t.Causes[c.String()]; seen && total.TotalNs > negligible*t.DurationNs {
				lost = append(lost, fmt.Sprintf("%s %s (%d, worst %s)", c, relative(total.TotalNs/t.DurationNs), total.Count, duration(total.MaxNs)))
			}
		}
		if len(lost) > 0 {
			fmt.Fprintf(w, ", and lost to %s", strings.Join(lost, ", "))
		}
		fmt.Fprintln(w)
		for _, u := range t.Undisturbed {
			if u.LengthNs == 1e6 {
				fmt.Fprintf(w, "  work of %s runs undisturbed in %s of trials, and keeps its CPU in %s\n",
					duration(u.LengthNs), percent(&u.Probability), percent(&u.UnpreemptedProbability))
			}
		}
	}
	fmt.Fprint(w, "  all of it: chronoscope activity\n\n")
}

// negligible is a share of time that nobody misses.
const negligible = 1e-5

// trust writes in a few lines whether the counters can be trusted.
func trust(w io.Writer, d record.Trust, s Style) {
	if len(d.Sandwiches) == 0 && len(d.Checks) == 0 {
		return
	}
	fmt.Fprintln(w, s.bold("Can the counters be trusted?"))
	if len(d.Sandwiches) > 0 {
		worst := d.Sandwiches[0]
		j := stats.NewJudgement()
		var workloads []string
		for _, sandwich := range d.Sandwiches {
			workloads = append(workloads, sandwich.Workload)
			if orZero(sandwich.MaxErrorNs) > orZero(worst.MaxErrorNs) {
				worst = sandwich
			}
			j.Join(stats.Judgement{Verdict: sandwich.Verdict, Reasons: sandwich.Reasons})
		}
		fmt.Fprintf(w, "  %s: %s beside %s is off by %s at most, where steps and pairing permit %s (%s)\n",
			s.verdict(j.Verdict), worst.Counter, worst.Reference, ns(worst.MaxErrorNs), ns(worst.PermittedNs), strings.Join(workloads, ", "))
		reasonLines(w, j.Reasons)
		if j.Verdict == stats.Trusted {
			fmt.Fprintf(w, "  %s\n", worst.VerdictMeans)
		}
	}
	if len(d.Checks) > 0 {
		j := stats.NewJudgement()
		for _, f := range d.Checks {
			for _, reason := range f.Reasons {
				j.Lower(f.Verdict, "%s, %s: %s", f.Clock, f.Check, reason)
			}
			if e := f.Estimate; e != nil && f.Check == check.CPUOffset && f.Clock == d.Checks[0].Clock {
				fmt.Fprintf(w, "  its readings on different CPUs are apart by %s\n", measured(*e))
			}
		}
		fmt.Fprintf(w, "  %s: %d checks of each clock by itself\n", s.verdict(j.Verdict), len(d.Checks))
		reasonLines(w, j.Reasons)
	}
	fmt.Fprint(w, "  all of it: chronoscope fidelity\n\n")
}

func reasonLines(w io.Writer, reasons []string) {
	for _, reason := range reasons {
		fmt.Fprintf(w, "    %s\n", reason)
	}
}

func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}
