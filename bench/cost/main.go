// Command cost compares what a reading of the processor's counter costs through
// this project's library, in bare C, by Go's own clock, and by the library
// github.com/loov/hrtime. All are measured in one run, in rounds of random
// order, since a machine changes its speed from one second to the next.
//
//	cd bench && go run ./cost
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/stats"
)

func main() { command.Main("cost", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	rounds := flags.Int("rounds", 30, "rounds, each with every subject once; 6 or more")
	readings := flags.Int("readings", 100_000, "readings of a subject in a round")
	seed := flags.Uint64("seed", 1, "seed of the order within the rounds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 6 || *readings < 1 {
		return fmt.Errorf("-rounds %d -readings %d: an interval needs 6 rounds or more, of 1 reading or more", *rounds, *readings)
	}
	all := subjects()
	costs, err := measure(ctx, all, *rounds, *readings, rand.New(rand.NewPCG(*seed, 0)))
	if len(costs) == 0 {
		return err
	}
	fmt.Fprintf(stdout, "%s/%s, %s; %d rounds of %d readings, in random order\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.Version(), len(costs[all[0].name]), *readings)
	printCosts(stdout, all, costs)
	printRatios(stdout, costs)
	return err
}

// measure returns the cost of a reading in nanoseconds, by subject and round. If ctx ends, it returns its error with the whole rounds
// so far.
func measure(ctx context.Context, all []subject, rounds, readings int, random *rand.Rand) (map[string][]float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))

	costs := map[string][]float64{}
	for _, s := range all {
		s.read(readings) // warms caches and branch prediction
	}
	for range rounds {
		if ctx.Err() != nil {
			break
		}
		for _, i := range random.Perm(len(all)) {
			costs[all[i].name] = append(costs[all[i].name], costNs(all[i], readings))
		}
	}
	return costs, ctx.Err()
}

func costNs(s subject, readings int) float64 {
	start := time.Now()
	runtime.KeepAlive(s.read(readings))
	return float64(time.Since(start)) / float64(readings)
}

func printCosts(stdout io.Writer, all []subject, costs map[string][]float64) {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "reading\tmedian\t95 % interval\tp5\tp95\tallocations\t")
	for _, s := range all {
		sorted := slices.Sorted(slices.Values(costs[s.name]))
		median, _, err := stats.QuantileInterval(sorted, 0.5, "ns")
		if err != nil {
			fmt.Fprintf(w, "%s\t%v\t\n", s.name, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%.2f ns\t%.2f to %.2f\t%.2f\t%.2f\t%g\t\n", s.name, median.Value, median.Lo, median.Hi,
			stats.Quantile(sorted, 0.05), stats.Quantile(sorted, 0.95), allocations(s))
	}
	w.Flush()
}

// allocations returns the number of allocations of one reading.
func allocations(s subject) float64 {
	const readings = 10_000
	return testing.AllocsPerRun(5, func() { runtime.KeepAlive(s.read(readings)) }) / readings
}

func printRatios(stdout io.Writer, costs map[string][]float64) {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nratio of the same round\tmedian\t95 % interval\tp5\tp95\tasked\t\t")
	for _, c := range comparisons {
		name := c.over + " / " + c.under
		r, err := c.of(costs)
		if err != nil {
			fmt.Fprintf(w, "%s\t%v\t\n", name, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f to %.2f\t%.2f\t%.2f\t%s\t%s\t\n", name,
			r.median.Value, r.median.Lo, r.median.Hi, r.p5, r.p95, c.asked(), r.standing)
	}
	w.Flush()
}
