package cli

import (
	"context"
	"io"
	"maps"
	"time"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/view"
)

// cardFlags are the flags of the command without a subcommand.
type cardFlags struct{ all bool }

// measure makes the report card. Text shows only its answers, unless --all is given.
func (t *cardFlags) measure(ctx context.Context, c *call) (found, error) {
	findings, _ := c.examined(ctx, c.cpus)
	local, err := c.rank(ctx, c.effort, timermeter.Request{})
	if local == nil {
		return found{}, err
	}
	ranking := local.Ranking()
	d := record.Card{
		Ranking: ranking, Trust: record.NoTrust(), Traces: []activity.Analysis{},
		Findings: findings, Advice: ranking.Advice(),
	}
	if err == nil {
		d.Findings = c.withSharedCores(ctx, c.tracedCPUs(), d.Findings)
		d.Traces, err = c.noise(ctx)
	}
	if err == nil {
		d.Trust, err = c.trust(ctx, local)
	}
	d.Header = c.finish(ctx)
	r := found{document: d, verdicts: cardVerdicts(d)}
	if !t.all {
		r.text = func(w io.Writer, style render.Style) error {
			return render.Text(w, view.CardAnswers(d, "chronoscope --all"), style)
		}
	}
	return r, err
}

// cardVerdicts returns the verdicts of the clocks and of the checks on them.
func cardVerdicts(d record.Card) map[string]stats.Verdict {
	all := verdicts(d.Clocks)
	maps.Copy(all, trustVerdicts(d.Trust))
	return all
}

// cardTrace is how long the report card watches a CPU: long enough to recognise the slowest timer
// tick in use, 100 Hz.
const cardTrace = 400 * time.Millisecond

// noise measures how noisy the machine is, on the CPU that activity traces too. If the machine
// can't be traced, there is a caveat.
func (c *call) noise(ctx context.Context) (all []activity.Analysis, err error) {
	c.bar.show(0.9, "watching for interruptions")
	all = []activity.Analysis{}
	var traces []*activity.Trace
	clock, tickNs, err := c.traceClock(ctx)
	if err == nil {
		defer clock.Close()
		traces, err = (&traceFlags{duration: cardTrace}).recordAll(ctx, c, clock, tickNs)
	}
	if err != nil && ctx.Err() == nil {
		c.caveat("how noisy the machine is is not known: %v", err)
	}
	for _, trace := range traces {
		a := activity.Analyse(trace)
		a.Accounting = trace.Accounting(a.Tick)
		if c.html != "" { // a page draws the periods
			a.Periods = trace.TimedPeriods()
		}
		all = append(all, *a)
	}
	return all, ctx.Err()
}

// trust finds out whether the counters can be trusted, as fidelity --quick does. If the counters
// can't be tested, there is a caveat.
func (c *call) trust(ctx context.Context, local *timermeter.Local) (record.Trust, error) {
	e := trustExperiment{plan: fidelity.QuickPlan, checks: check.QuickPlan, flags: &fidelityFlags{workloads: fidelity.Workloads(child)}}
	found, err := e.run(ctx, c, local)
	if err != nil && ctx.Err() == nil {
		c.caveat("whether the counters can be trusted is not known: %v", err)
	}
	return found, ctx.Err()
}
