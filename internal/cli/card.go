package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/view"
)

// reportCard is the command without a subcommand: in text its answers, or all of it.
func reportCard(ctx context.Context, f *flags, all bool, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if err := checkForm("", set.format); err != nil {
		return err
	}
	header := record.NewHeader("", machine.Identify(), set.seed)
	header.Machine.WatchRunning(os.DirFS("/"), watchFor(f), func(d time.Duration) time.Duration { return wait(ctx, d) })
	local, err := measureClocks(ctx, set, s, &header, nil)
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	d := record.NewCard(header, record.NewRanking(local))
	if err == nil {
		err = noiseOf(ctx, set, s, &d)
	}
	if err == nil {
		err = trustOf(ctx, set, s, local, &d)
	}
	show := set.show
	if !all {
		show = set.showAnswers
	}
	if written := show(s.Out, d); written != nil {
		return written
	}
	if err != nil {
		return err
	}
	return set.met(cardVerdicts(d))
}

// showAnswers is show, with the answers alone in text.
func (s settings) showAnswers(stdout io.Writer, d record.Document) error {
	return s.showWith(stdout, d, func(w io.Writer, style render.Style) error {
		return render.Text(w, view.CardAnswers(d.(record.Card)), style)
	})
}

// cardVerdicts are those of the clocks and of what was asked of them.
func cardVerdicts(d record.Card) map[string]stats.Verdict {
	all := verdicts(d.Clocks)
	maps.Copy(all, trustVerdicts(d.Trust))
	return all
}

// cardTrace is how long the report card watches a CPU: long enough for the slowest
// timer tick in use, of 100 Hz, to show as one.
const cardTrace = 400 * time.Millisecond

// noiseOf adds to the card how noisy the machine is, on the CPU that activity
// traces too. A machine that can't be traced has a card with a caveat.
func noiseOf(ctx context.Context, set settings, s Streams, d *record.Card) error {
	t := &traceFlags{duration: cardTrace}
	cpus := t.cpus(set.cpus)
	bar := newProgress(s.Err)
	defer bar.end()
	bar.show(0.9, "watching for interruptions")
	var traces []*activity.Trace
	c, tickNs, err := traceClock(ctx, &d.Header)
	if err == nil {
		defer c.Close()
		traces, err = recordAll(ctx, t, c, tickNs, cpus, &d.Header)
	}
	if err != nil && !activity.Interrupted(err) {
		d.Caveats = append(d.Caveats, fmt.Sprintf("how noisy the machine is is not known: %v", err))
		return nil
	}
	for _, trace := range traces {
		periods := set.html != "" // a page draws them
		d.Traces = append(d.Traces, record.NewTrace(trace, activity.Analyse(trace), periods))
	}
	d.Header.Finish(err != nil)
	if err != nil {
		return errInterrupted
	}
	return nil
}

// trustOf adds to the card whether the counters can be trusted, as the quick form
// of fidelity finds out. Counters that can't be tested leave a caveat.
func trustOf(ctx context.Context, set settings, s Streams, local *timermeter.Local, d *record.Card) error {
	e := trustExperiment{
		plan: fidelity.QuickPlan, checks: check.QuickPlan,
		workloads: fidelity.Workloads(child), flags: &fidelityFlags{},
	}
	found, err := e.run(ctx, set, s, local, &d.Header)
	if err != nil && !errors.Is(err, errInterrupted) {
		d.Caveats = append(d.Caveats, fmt.Sprintf("whether the counters can be trusted is not known: %v", err))
		err = nil
	}
	d.Trust = found
	d.Header.Finish(err != nil)
	return err
}
