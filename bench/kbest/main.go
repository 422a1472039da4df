// Command kbest compares K-best measurements with work of known length, together with Bryant's own scheme, Go's
// package testing and the library github.com/loov/hrtime: the error of each, and the time that it took, in one
// run, on the same CPU, in turn. With -load 11 ten other processes want the CPU too.
//
//	cd bench && go run ./kbest
//	cd bench && go run ./kbest -ns 50,1e3,1e5,1e6,1e7,1e8,1e9 -load 11 -repetitions 1
//
// The truth is measured anew before and after each measurement, from batches so short that most escape every
// disturbance. It lies between the two, since the core's rate changes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"chronoscope/bench/internal/chain"
	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/onecpu"
	"chronoscope/internal/load"
	"chronoscope/kbest"
	"chronoscope/machine"
	"chronoscope/stats"
)

func main() { command.Main("kbest", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("kbest", flag.ContinueOnError)
	list := flags.String("ns", "100,1e7", "lengths of the work in nanoseconds")
	count := flags.Int("load", 1, "processes that want the CPU, this one among them")
	repetitions := flags.Int("repetitions", 10, "measurements by each of the peers")
	cpu := flags.Int("cpu", 0, "CPU to measure on")
	trials := flags.Int("trials", kbest.DefaultPlan.MinTrials, "trials that K-best makes of long work at least")
	only := flags.String("only", "", "peers to run, all if empty: "+strings.Join(peerNames(), ", "))
	if err := flags.Parse(args); err != nil {
		return err
	}
	lengths, err := parseLengths(*list)
	if err != nil {
		return err
	}
	if *count < 1 || *count > 64 || *repetitions < 1 || *trials < 3 || *trials > 256 {
		return fmt.Errorf("-load %d -repetitions %d -trials %d: choose a load of 1 to 64, 1 repetition or more and 3 to 256 trials", *count, *repetitions, *trials)
	}
	if done, err := onecpu.Confine(ctx, *cpu, args, stdout); done {
		return err
	}
	restore, err := machine.Pin([]int{*cpu})
	if err != nil {
		return err
	}
	defer func() { _ = restore() }()
	rivals, err := load.Start(ctx, *count-1, load.Registers, nil)
	if err != nil {
		return err
	}
	defer rivals.Stop()
	e := experiment{ctx: ctx, load: *count, cpu: *cpu, trials: *trials}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "load %d, %d repetitions\ttruth\tvalue\terror: median\tworst\thalf-width\tcovers\ttrusted\ttime: median\t\n", *count, *repetitions)
	for _, ns := range lengths {
		rows := e.measure(ns, *repetitions, *only)
		for _, p := range peers {
			if r, ok := rows[p.name]; ok {
				r.print(w, p.name)
				for _, also := range []*row{r.cycles, r.wall} {
					if len(also.values) > 0 {
						also.print(w, also.of)
					}
				}
			}
		}
		w.Flush()
	}
	return command.Lost(ctx, rivals)
}

func parseLengths(list string) ([]float64, error) {
	var lengths []float64
	for field := range strings.SplitSeq(list, ",") {
		ns, err := strconv.ParseFloat(field, 64)
		if err != nil || !(ns >= 5 && ns <= 1e10) {
			return nil, fmt.Errorf("-ns %q: choose lengths from 5 to 1e10 nanoseconds, separated by commas", field)
		}
		lengths = append(lengths, ns)
	}
	return lengths, nil
}

// experiment says on which CPUs to measure, and how long.
type experiment struct {
	ctx    context.Context
	load   int
	cpu    int
	trials int
}

// truthTime is about how long the work's true time is measured, before each measurement and again after it.
const truthTime = 40 * time.Millisecond

// measure lets each of the peers measure the same work, in turn.
func (e experiment) measure(ns float64, repetitions int, only string) map[string]*row {
	work := chain.Of(ns)
	rows := map[string]*row{}
	for turn := range repetitions {
		for i := range peers {
			p := peers[(i+turn)%len(peers)]
			if e.ctx.Err() != nil || only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
				continue
			}
			if rows[p.name] == nil {
				rows[p.name] = &row{unit: "ns", cycles: &row{of: "in cycles", unit: "cycles"}, wall: &row{of: "its samples, as the source has it", unit: "ns"}}
			}
			before, cyclesBefore := work.Truth(truthTime)
			start := time.Now()
			a := p.measure(e, work.Do)
			took := time.Since(start)
			after, cyclesAfter := work.Truth(truthTime)
			rows[p.name].add(a, between(before, after), took)
			if a.wall != nil {
				rows[p.name].wall.add(*a.wall, between(before, after), took)
			}
			if cycles := between(cyclesBefore, cyclesAfter); a.cycles != nil && cycles.lo > 0 {
				rows[p.name].cycles.add(*a.cycles, cycles, took)
			}
		}
	}
	return rows
}

// answer is what a peer says about the work, in nanoseconds a call; without an interval if the peer gives none.
type answer struct {
	ns       float64
	lo, hi   float64
	interval bool
	verdict  stats.Verdict
	// cycles is the answer in cycles of the core, which does not depend on the core's rate; nil if the peer
	// gives none.
	cycles *answer
	// wall is what Bryant's scheme says about the same samples, by the wall clock.
	wall *answer
}

// truth lies between the values before and after the measurement.
type truth struct{ lo, hi float64 }

func between(before, after float64) truth { return truth{min(before, after), max(before, after)} }

func (t truth) middle() float64 { return (t.lo + t.hi) / 2 }

// row has all answers of a peer for one work.
type row struct {
	truths, values, errors, widths, times []float64
	covered, trusted                      int
	interval                              bool
	unit                                  string
	of                                    string
	cycles, wall                          *row // its answers in cycles, and by the wall clock
}

// add counts an answer. An answer covers the truth if its interval overlaps that of the truth.
func (r *row) add(a answer, t truth, took time.Duration) {
	r.truths, r.values = append(r.truths, t.middle()), append(r.values, a.ns)
	r.errors = append(r.errors, math.Abs(a.ns/t.middle()-1))
	r.times = append(r.times, took.Seconds())
	if a.interval {
		r.interval = true
		r.widths = append(r.widths, (a.hi-a.lo)/2/t.middle())
		if a.lo <= t.hi && t.lo <= a.hi {
			r.covered++
		}
		if a.verdict == stats.Trusted {
			r.trusted++
		}
	}
}

func (r *row) print(w io.Writer, name string) {
	interval := "\t\t"
	if r.interval {
		interval = fmt.Sprintf("%.2f %%\t%d\t%d", 100*stats.Median(r.widths), r.covered, r.trusted)
	}
	fmt.Fprintf(w, "%s\t%.6g %s\t%.6g %s\t%.2f %%\t%.2f %%\t%s\t%.3g s\t\n", name, stats.Median(r.truths), r.unit, stats.Median(r.values), r.unit,
		100*stats.Median(r.errors), 100*slices.Max(r.errors), interval, stats.Median(r.times))
}
