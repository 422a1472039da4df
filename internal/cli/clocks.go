package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/view"
)

// newClocks returns the command that ranks clocks.
func newClocks() *command {
	t := &clockFlags{}
	return &command{Command: &cobra.Command{
		Use:   "clocks [NAME ...]",
		Short: "Rank the clocks of this machine: accuracy, cost, spread, quality",
		Long: `Measures every clock that a program can read on this machine, or those named,
and ranks them; with --runtime also what programs in other languages can read.

  accuracy  the distance between two values that the clock can show, found from
            its readings and not from its unit, and how far that may be off
  cost      what one call takes, as the median; p99 is the 99th percentile
  spread    the share of calls whose cost is within one accuracy of the median
  quality   accuracy^-0.1 x cost^-0.1 x spread^0.5, both in cycles of the core
            (Kuperberg, Krogmann, Reussner: Metric-based Selection of Timer
            Methods, ICPE 2011); 0 for a clock that steps back, changes its
            rate, or disagrees between threads

The timers of C, Java, .NET, Python and Node are read by small programs in these
languages, which come with this one; any other program that follows
docs/probe-protocol.md can be given with --probe.`,
		Example: `  chronoscope clocks                           every clock, best first
  chronoscope clocks monotonic tsc --thorough  two of them, more precisely
  chronoscope clocks --sort cost               the cheapest first
  chronoscope clocks --format csv -o clocks.csv
  chronoscope clocks --runtime all             other languages' timers beside them
  chronoscope clocks java/System.nanoTime monotonic
  chronoscope clocks --probe 'perl probe.pl'   the timers that a program offers
  chronoscope clocks --set kuperberg2011       Tables 1 and 2 of the paper, on this machine`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.FixedCompletions(clock.Names(), cobra.ShellCompDirectiveNoFileComp),
	}, flags: t.register, check: t.check, measure: t.measure, values: map[string][]string{
		"sort":    {"quality", "accuracy", "cost"},
		"runtime": append([]string{allRuntimes}, knownRuntimes()...),
		"set":     {view.Kuperberg2011},
	}}
}

// clockFlags are the flags of clocks.
type clockFlags struct {
	clockChoice
	sortBy  string
	request timermeter.Request // what the choice requests, after it was checked
}

func (t *clockFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringSliceVar(&t.runtimes, "runtime", nil, "whose clocks, a `list`: all, "+strings.Join(knownRuntimes(), ", ")+" (default "+ownRuntime+")")
	set.StringArrayVar(&t.probes, "probe", nil, "rank the timers of this `program` too; see docs/probe-protocol.md (may be repeated)")
	set.StringVar(&t.set, "set", "", "rank a published `set` of timers: "+view.Kuperberg2011)
	set.StringVar(&t.sortBy, "sort", "quality", "order: quality, accuracy or cost")
}

func (t *clockFlags) check(c *call) (err error) {
	t.names = c.args
	if t.clockChoice, err = t.clockChoice.check(); err != nil {
		return err
	}
	if t.request, err = t.clockChoice.request(timermeter.Request{}); err != nil {
		return err
	}
	if err := view.SortClocks(nil, t.sortBy); err != nil {
		return usagef("--sort: %v", err)
	}
	return nil
}

func (t *clockFlags) measure(ctx context.Context, c *call) (found, error) {
	local, err := c.rank(ctx, c.effort, t.request)
	if local == nil {
		return found{}, err
	}
	d := record.Clocks{Header: c.finish(ctx), Ranking: local.Ranking()}
	view.SortClocks(d.Clocks, t.sortBy)
	r := found{document: d, verdicts: t.verdicts(d.Ranking)}
	if t.set == view.Kuperberg2011 {
		r.text = func(w io.Writer, style render.Style) error { return render.Text(w, view.KuperbergClocks(d), style) }
	} else if len(d.Clocks) == 0 {
		r.failed = errors.New("no clock could be measured: the reasons stand in the result")
	}
	return r, err
}

// verdicts returns the verdicts of the clocks; a clock that was named and could not be measured is
// unusable.
func (c clockChoice) verdicts(r timermeter.Ranking) map[string]stats.Verdict {
	all := verdicts(r.Clocks)
	for _, u := range r.Unavailable {
		if slices.Contains(c.names, u.Name) || slices.Contains(c.probes, u.Name) {
			all[u.Name] = stats.Unusable
		}
	}
	return all
}

// rank ranks the requested clocks, and sets in the header what it finds out about the machine. If
// ctx ends, it returns what was measured so far with the error.
func (c *call) rank(ctx context.Context, e effort, request timermeter.Request) (*timermeter.Local, error) {
	request.Plan = of(e, timermeter.QuickPlan, timermeter.DefaultPlan, timermeter.ThoroughPlan)
	request.CPUs, request.Seed, request.Progress = c.cpus, c.seed, c.bar.show
	local, err := timermeter.RankLocal(ctx, request)
	if local == nil || err != nil && ctx.Err() == nil {
		return nil, err
	}
	c.header.Caveats = append(c.header.Caveats, local.Caveats...)
	if local.CoreHz != nil {
		c.header.Machine.CoreHz = orNil(local.CoreHz.Value)
	}
	for _, counter := range local.Counters {
		c.header.Machine.TSCHz = orNil(counter.Rate.Hz.Value)
	}
	return local, ctx.Err()
}

// orNil returns nil for a number that is not known, as the description of the machine requires.
func orNil(x float64) *float64 {
	if !stats.IsFinite(x) {
		return nil
	}
	return &x
}

func verdicts(clocks []timermeter.Rating) map[string]stats.Verdict {
	v := map[string]stats.Verdict{}
	for _, c := range clocks {
		v[c.Name] = c.Verdict
	}
	return v
}
