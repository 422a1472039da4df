package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chronoscope/clock"
	"chronoscope/internal/probe"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/view"
)

// newClocks is the command that ranks clocks.
func newClocks(f *flags, s Streams) *cobra.Command {
	sortBy, choice := "quality", clockChoice{}
	cmd := &cobra.Command{
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
		RunE: func(cmd *cobra.Command, names []string) error {
			choice.names = names
			return rankClocks(cmd.Context(), f, s, choice, sortBy)
		},
	}
	cmd.Flags().StringSliceVar(&choice.runtimes, "runtime", nil, "whose clocks, a `list`: all, "+strings.Join(append([]string{ownRuntime}, probe.Runtimes()...), ", ")+" (default "+ownRuntime+")")
	cmd.Flags().StringArrayVar(&choice.probes, "probe", nil, "rank the timers of this `program` too; see docs/probe-protocol.md (may be repeated)")
	cmd.Flags().StringVar(&choice.set, "set", "", "rank a published `set` of timers: "+view.Kuperberg2011)
	cmd.Flags().StringVar(&sortBy, "sort", sortBy, "order: quality, accuracy or cost")
	return cmd
}

// rankClocks measures, and writes the ranking.
func rankClocks(ctx context.Context, f *flags, s Streams, choice clockChoice, sortBy string) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if choice, err = choice.check(); err != nil {
		return err
	}
	request, err := choice.request(timermeter.Request{})
	if err != nil {
		return err
	}
	if err := view.SortClocks(nil, sortBy); err != nil {
		return usagef("--sort: %v", err)
	}
	header := record.NewHeader("clocks", machine.Identify(), set.seed)
	local, err := measureRequest(ctx, set, s, &header, request)
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	d := record.Clocks{Header: header, Ranking: record.NewRanking(local)}
	view.SortClocks(d.Clocks, sortBy)
	show := set.show
	if choice.set == view.Kuperberg2011 {
		show = func(stdout io.Writer, _ record.Document) error {
			return set.showWith(stdout, d, func(w io.Writer, style render.Style) error { return render.Text(w, view.KuperbergClocks(d), style) })
		}
	}
	if written := show(s.Out, d); written != nil {
		return written
	}
	if err != nil {
		return err
	}
	if len(d.Clocks) == 0 && choice.set == "" {
		return errors.New("no clock could be measured: the reasons stand in the result")
	}
	return set.met(choice.verdicts(d.Ranking))
}

// verdicts are those of the clocks, and of what was named and could not be measured.
func (c clockChoice) verdicts(r record.Ranking) map[string]stats.Verdict {
	all := verdicts(r.Clocks)
	for _, u := range r.Unavailable {
		if slices.Contains(c.names, u.Name) || slices.Contains(c.probes, u.Name) {
			all[u.Name] = stats.Unusable
		}
	}
	return all
}

// measureClocks ranks this program's clocks and completes the header. With
// errInterrupted comes what was measured so far.
func measureClocks(ctx context.Context, set settings, s Streams, header *record.Header, names []string) (*timermeter.Local, error) {
	return measureRequest(ctx, set, s, header, timermeter.Request{Names: names})
}

// measureRequest ranks the clocks that are asked for, as measureClocks does.
func measureRequest(ctx context.Context, set settings, s Streams, header *record.Header, request timermeter.Request) (*timermeter.Local, error) {
	bar := newProgress(s.Err)
	request.Plan, request.CPUs, request.Seed, request.Progress = set.plan, set.cpus, set.seed, bar.show
	local, err := timermeter.RankLocal(ctx, request)
	bar.end()
	var unknown *clock.UnknownName
	var unbound *machine.AffinityError
	switch {
	case errors.As(err, &unknown):
		return nil, usagef("%v", err)
	case errors.As(err, &unbound):
		return nil, cpuError(unbound, header.Machine)
	case ctx.Err() != nil && local != nil:
		err = errInterrupted
	case err != nil:
		return nil, err
	}
	header.Finish(err != nil)
	header.Caveats = append(header.Caveats, local.Caveats...)
	header.Machine.CoreHz = valueOf(local.CoreHz)
	for _, c := range local.Counters {
		header.Machine.TSCHz = stats.Finite(c.Rate.Hz.Value)
	}
	return local, err
}

// cpuError says which CPUs --cpu can name. CPUs that don't exist are a wrong
// use; a system that binds nobody is not the user's mistake.
func cpuError(err *machine.AffinityError, m *machine.Machine) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("--cpu: %w; or measure without --cpu", err)
	}
	return usagef("--cpu: %v; without --cpu this process runs on CPUs %s", err, m.CPUList)
}

func valueOf(e *stats.Estimate) *float64 {
	if e == nil {
		return nil
	}
	return stats.Finite(e.Value)
}

func verdicts(clocks []record.Clock) map[string]stats.Verdict {
	v := map[string]stats.Verdict{}
	for _, c := range clocks {
		v[c.Name] = c.Verdict
	}
	return v
}
