package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/activity"
	"chronoscope/record"
)

// Activity writes the summary of activity traces for people.
func Activity(w io.Writer, d record.Activity, s Style) {
	machineLines(w, d.Header, s)
	for _, t := range d.Traces {
		traceSummary(w, t, s)
	}
	switching(w, d.Switching, s)
	caveats(w, d.Header, s)
}

// traceSummary writes what one trace says.
func traceSummary(w io.Writer, t record.Trace, s Style) {
	fmt.Fprintf(w, "%s active %s of %s, read with %s; gaps above %s count\n\n",
		s.bold(place(t)), percent(t.ActiveRatio), duration(t.DurationNs), t.Clock, duration(t.ThresholdNs))
	causeTable(w, t)
	combLines(w, t)
	undisturbed(w, t)
	accounting(w, t)
	if t.SliceNs != nil && t.Causes[activity.Preempted.String()].Count > 1 {
		fmt.Fprintf(w, "Between two preemptions the thread typically ran for %s; a preemption typically cost %s beyond the wait.\n", duration(*t.SliceNs), ns(t.SwitchNs))
	}
	if t.Dropped > 0 {
		fmt.Fprintf(w, "%d periods were dropped: the trace was full. A higher --threshold or a shorter --duration keeps all.\n", t.Dropped)
	}
	for _, c := range t.Caveats {
		fmt.Fprintf(w, "caveat: %s\n", c)
	}
	fmt.Fprintln(w)
}

// place names the CPU of a trace.
func place(t record.Trace) string {
	if t.CPU == nil {
		return "a CPU of the system's choice"
	}
	return fmt.Sprintf("CPU %d", *t.CPU)
}

// causeTable writes what each cause took, the usual order first.
func causeTable(w io.Writer, t record.Trace) {
	out := table.NewWriter()
	out.SetOutputMirror(w)
	out.SetStyle(plain)
	right := func(n int) table.ColumnConfig {
		return table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	out.SetColumnConfigs([]table.ColumnConfig{right(2), right(3), right(4), right(5)})
	out.AppendHeader(table.Row{"cause", "gaps", "share of time", "total", "worst", ""})
	for _, c := range activity.Causes() {
		total, seen := t.Causes[c.String()]
		if !seen {
			continue
		}
		out.AppendRow(table.Row{
			c, total.Count, fmt.Sprintf("%.4f %%", 100*total.TotalNs/t.DurationNs),
			duration(total.TotalNs), duration(total.MaxNs), causeMeans[c],
		})
	}
	out.Render()
	fmt.Fprintln(w)
}

// causeMeans says in words what a cause is.
var causeMeans = map[activity.Cause]string{
	activity.TimerTick:   "this kernel's timer interrupt",
	activity.Hypervisor:  "the host, as no counter of this kernel knows",
	activity.Interrupt:   "other interrupts of this kernel",
	activity.Preempted:   "another thread had the CPU",
	activity.Throttled:   "the control group's quota was used up",
	activity.PageFault:   "the kernel served a page fault",
	activity.Migrated:    "the thread was moved to another CPU",
	activity.Stopped:     "the process was stopped by a signal",
	activity.Runtime:     "this measurement itself",
	activity.Unexplained: "too short to be any of these, or not known",
}

// combLines writes the regular sources of gaps.
func combLines(w io.Writer, t record.Trace) {
	for _, c := range t.Combs {
		fmt.Fprintf(w, "every %s%s a %s gap: %d of them, least %s, median %s, worst %s\n",
			durationTo(c.PeriodNs, 5), off(t, c), c.Source, c.Count, ns(c.MinCostNs), ns(c.MedianCostNs), ns(c.MaxCostNs))
	}
	for _, note := range combShares(t) {
		fmt.Fprintln(w, note)
	}
	if i := t.Interrupts; i != nil {
		if i.Hidden > 0 {
			fmt.Fprintf(w, "%d more timer interrupts fell into gaps that had begun before\n", i.Hidden)
		}
		if i.Counted != nil {
			fmt.Fprintf(w, "the kernel counted %d timer interrupts: %d are its tick, and %d gaps are put down to timers of sleepers\n",
				*i.Counted, i.Count+i.Hidden, *i.Sleepers)
		}
	}
	if len(t.Combs) > 0 {
		fmt.Fprintln(w)
	}
}

// combShares say why the gaps of a cause and those of its combs are not as many.
func combShares(t record.Trace) (notes []string) {
	for _, cause := range activity.Causes() {
		teeth, own := 0, 0
		for _, c := range t.Combs {
			if c.Source == cause.String() && c.Attributed != nil {
				teeth += c.Count
				own += *c.Attributed
			}
		}
		irregular := t.Causes[cause.String()].Count - own
		if teeth == 0 || teeth == own && irregular <= 0 {
			continue
		}
		note := fmt.Sprintf("of %d regular %s gaps %d are counted under that cause", teeth, cause, own)
		if elsewhere := teeth - own; elsewhere > 0 {
			note += fmt.Sprintf(", and %d under what else befell the thread then", elsewhere)
		}
		if irregular > 0 {
			note += fmt.Sprintf("; %d more there come at no regular time", irregular)
		}
		notes = append(notes, note)
	}
	return notes
}

// off is the interval of the tick's period, in the time of the clock that it was
// read with; other combs have none.
func off(t record.Trace, c record.Comb) string {
	if t.Interrupts == nil || c.Source != activity.TimerTick.String() || math.IsNaN(t.Interrupts.Period.Lo) {
		return ""
	}
	return " ± " + interval(t.Interrupts.Period) + " by " + t.Clock
}

// undisturbed writes how likely work of some lengths runs undisturbed.
func undisturbed(w io.Writer, t record.Trace) {
	out := table.NewWriter()
	out.SetOutputMirror(w)
	out.SetStyle(plain)
	right := func(n int) table.ColumnConfig {
		return table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	out.SetColumnConfigs([]table.ColumnConfig{right(1), right(2), right(3), right(4), right(5)})
	out.AppendHeader(table.Row{"work of", "runs without any gap", "trials for 3", "keeps its CPU", "trials for 3"})
	for _, u := range t.Undisturbed {
		out.AppendRow(table.Row{
			duration(u.LengthNs), percent(&u.Probability), trials(u.Trials),
			percent(&u.UnpreemptedProbability), trials(u.UnpreemptedTrials),
		})
	}
	out.Render()
	fmt.Fprintln(w)
}

// trials writes an expected number of trials.
func trials(n *float64) string {
	if n == nil {
		return "never"
	}
	return significant(*n, 2)
}

// ActivityCSV writes one row a period of all traces; columns are named as the
// JSON fields.
func ActivityCSV(w io.Writer, d record.Activity) error {
	out := csv.NewWriter(w)
	out.Write([]string{"cpu", "label", "state", "start_ns", "duration_ns", "start_ticks", "duration_ticks", "cause"})
	for _, t := range d.Traces {
		cpu := ""
		if t.CPU != nil {
			cpu = strconv.Itoa(*t.CPU)
		}
		for _, p := range t.Periods {
			out.Write([]string{
				cpu, p.Label, p.State, number(&p.StartNs), number(&p.DurationNs),
				strconv.FormatInt(p.StartTicks, 10), strconv.FormatInt(p.DurationTicks, 10), word(p.Cause),
			})
		}
	}
	out.Flush()
	return out.Error()
}

// accounting writes what counting by ticks would have made of the thread.
func accounting(w io.Writer, t record.Trace) {
	a := t.Accounting
	if a == nil {
		return
	}
	fmt.Fprintf(w, "Counted by ticks the thread used %s (%d ticks, which stand for more than %s and less than %s); it used %s.\n",
		durationTo(a.ChargedNs, 4), a.Ticks, durationTo(a.AboveNs, 4), durationTo(a.BelowNs, 4), durationTo(a.UsedNs, 4))
	if a.ThreadNs != nil && a.TimesNs != nil && a.CPUBusyNs != nil {
		fmt.Fprintf(w, "The kernel says %s by getrusage, %s of all threads by times, and CPU %d busy for %s by /proc/stat.\n",
			durationTo(*a.ThreadNs, 4), durationTo(*a.TimesNs, 4), *t.CPU, durationTo(*a.CPUBusyNs, 4))
	}
	if l := a.LongRunInactive; !math.IsNaN(l.Lo) {
		fmt.Fprintf(w, "In the long run the thread can expect to be inactive for %s of the time (%s to %s).\n", percent(&l.Value), percent(&l.Lo), percent(&l.Hi))
	}
	fmt.Fprintln(w)
}
