// Command caches shows what caches do to a measurement (Bryant 2003, section 9.4.2): whether this machine's
// caches can be cleared, what walks over memory take with cold and with warm data, the measurements of Figure
// 9.12, and the experiment of Figure 9.13, with practice problem 9.6 solved for this machine and for Bryant's.
//
//	cd bench && go run ./caches
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/onecpu"
	"chronoscope/internal/load"
	"chronoscope/kbest"
	"chronoscope/machine"
	"chronoscope/stats"
)

func main() { command.Main("caches", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("caches", flag.ContinueOnError)
	bytes := flags.Int("bytes", 1<<20, "bytes to walk over")
	repetitions := flags.Int("repetitions", 4000, "repetitions of the experiment of Figure 9.13")
	ints := flags.Int("ints", 1<<22, "integers to add up for Figure 9.12")
	cpu := flags.Int("cpu", 0, "CPU to measure on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *bytes < 4096 || *bytes > 1<<30 || *ints < 1 || *ints > 1<<28 {
		return fmt.Errorf("-bytes %d -ints %d: choose 4096 to 2^30 bytes and 1 to 2^28 integers", *bytes, *ints)
	}
	if done, err := onecpu.Confine(ctx, *cpu, args, stdout); done {
		return err
	}
	restore, err := machine.Pin([]int{*cpu})
	if err != nil {
		return err
	}
	defer func() { _ = restore() }()
	evictor, err := kbest.NewEvictor(os.DirFS("/"))
	if err != nil {
		return err
	}
	defer evictor.Close()
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, part := range []func() error{
		func() error { return printCheck(ctx, w, evictor) },
		func() error { return printWalks(ctx, w, evictor, *bytes) },
		func() error { return printSums(ctx, w, *ints) },
		func() error { return printExperiment(ctx, w, evictor, *repetitions) },
	} {
		if err := part(); err != nil {
			return err
		}
		w.Flush()
	}
	return nil
}

func printCheck(ctx context.Context, w io.Writer, e *kbest.Evictor) error {
	c, err := e.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Does a sweep of %d MB clear caches of %v? %s\n", e.Bytes()>>20, e.Caches, c.Verdict)
	fmt.Fprintln(w, "a load of a random walk over 96 lines\tmedian\t95 % interval")
	for _, row := range []struct {
		name string
		e    stats.Estimate
	}{{"warm", c.Warm}, {"after a sweep", c.Swept}, {"after the lines were flushed", c.Flushed}, {"anywhere in the memory that sweeps", c.Memory}} {
		fmt.Fprintf(w, "%s\t%.3g ns\t%.3g to %.3g\n", row.name, row.e.Value, row.e.Lo, row.e.Hi)
	}
	for _, reason := range c.Reasons {
		fmt.Fprintln(w, reason)
	}
	fmt.Fprintf(w, "a sweep takes %.3g ms\n\n", c.SweepNs.Value/1e6)
	return nil
}

// walk is memory that is walked along a ring, one cache line per step.
type walk []struct {
	next int32
	_    [60]byte
}

func newWalk(bytes int, random bool) walk {
	w := make(walk, bytes/64)
	order := make([]int, len(w))
	for i := range order {
		order[i] = i
	}
	if random {
		order = rand.New(rand.NewPCG(1, 1)).Perm(len(w))
	}
	for i, from := range order {
		w[from].next = int32(order[(i+1)%len(order)])
	}
	return w
}

func (w walk) do() {
	var at int32
	for range w {
		at = w[at].next
	}
	kbest.Keep(at)
}

func printWalks(ctx context.Context, w io.Writer, e *kbest.Evictor, bytes int) error {
	fmt.Fprintf(w, "A walk over %d KB, a load a line\twarm\tcold by a sweep\tcold by flushing\tcold over warm\n", bytes>>10)
	plan := kbest.DefaultPlan
	plan.MaxTrials = 64
	for _, random := range []bool{true, false} {
		data := newWalk(bytes, random)
		name := "one address after another"
		if random {
			name = "in random order"
		}
		var results []*kbest.Result
		for _, condition := range [][]kbest.Option{nil, {kbest.Cold(e)}, {kbest.Before(func() { _ = kbest.Flush(data) })}} {
			options := append([]kbest.Option{kbest.WithContext(ctx), kbest.WithPlan(plan)}, condition...)
			r, err := kbest.Measure(data.do, options...)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		fmt.Fprint(w, name)
		for _, r := range results {
			fmt.Fprintf(w, "\t%.4g µs [%.4g, %.4g]", r.Estimate.Value/1e3, r.Estimate.Lo/1e3, r.Estimate.Hi/1e3)
		}
		fmt.Fprintf(w, "\t%.2f, %.2f\n", results[1].Estimate.Value/results[0].Estimate.Value, results[2].Estimate.Value/results[0].Estimate.Value)
	}
	fmt.Fprintln(w)
	return nil
}

// numbersOf returns integers in memory of their own. All pages of memory that nothing has written are the same one.
func numbersOf(ints int) []int32 {
	numbers := make([]int32, ints)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	return numbers
}

// executions is the number of executions of the sum, others that of other processes, in Bryant's figures 9.11
// and 9.12.
const (
	executions = 18
	others     = 3
)

// printSums prints the times at a load also if ctx ends, or competitors end too early, and returns that as an error.
func printSums(ctx context.Context, w io.Writer, ints int) error {
	numbers := numbersOf(ints)
	fmt.Fprintf(w, "Figure 9.12: the sum of %d integers, %d times, by the wall clock\tleast\tmedian\tgreatest\tgreatest over least (source: 1.1 at both loads)\n", ints, executions)
	for _, count := range []int{1, 1 + others} {
		rivals, err := load.Start(ctx, count-1, load.Registers, nil)
		if err != nil {
			return err
		}
		var times []float64
		for range executions {
			start := time.Now()
			var sum int32
			for _, n := range numbers {
				sum += n
			}
			kbest.Keep(sum)
			times = append(times, float64(time.Since(start))/1e6)
		}
		err = command.Lost(ctx, rivals)
		rivals.Stop()
		slices.Sort(times)
		remark := ""
		if err != nil {
			remark = "\t" + err.Error()
		}
		fmt.Fprintf(w, "load %d\t%.3f ms\t%.3f\t%.3f\t%.2f%s\n", count, times[0], stats.Quantile(times, 0.5), times[executions-1], times[executions-1]/times[0], remark)
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	return nil
}

// printExperiment prints what was measured, also if ctx ends.
func printExperiment(ctx context.Context, w io.Writer, e *kbest.Evictor, repetitions int) (err error) {
	source := [6]float64{399, 132, 134, 100, 317, 100}
	fmt.Fprintf(w, "Figure 9.13, %d times\tsource\there, writing\t\there, reading\t\n", repetitions)
	var runs []*CacheExperiment
	for _, access := range []Access{Writing, Reading} {
		var x *CacheExperiment
		x, err = measureCaches(ctx, e, access, repetitions)
		if x != nil {
			runs = append(runs, x)
		}
		if err != nil {
			break
		}
	}
	for i, call := range CacheCalls {
		fmt.Fprintf(w, "%s\t%.0f cycles", call, source[i])
		for _, x := range runs {
			fmt.Fprintf(w, "\t%.0f cycles\t%.1f ns [%.1f, %.1f]", x.Cycles[i].Value, x.Ns[i].Value, x.Ns[i].Lo, x.Ns[i].Hi)
		}
		fmt.Fprintln(w)
	}
	s := SolveCacheCosts(source)
	for _, unknown := range []struct {
		name   string
		source float64
		of     func(*CacheExperiment) stats.Estimate
	}{
		{"c: no misses", s.C, func(x *CacheExperiment) stats.Estimate { return x.C }},
		{"m: the code that measures", s.M, func(x *CacheExperiment) stats.Estimate { return x.M }},
		{"p: the procedure's code", s.P, func(x *CacheExperiment) stats.Estimate { return x.P }},
		{"d: its data", s.D, func(x *CacheExperiment) stats.Estimate { return x.D }},
	} {
		fmt.Fprintf(w, "%s\t%.0f cycles", unknown.name, unknown.source)
		for _, x := range runs {
			e := unknown.of(x)
			cycles := x.Cycles[0].Value / x.Ns[0].Value * e.Value
			fmt.Fprintf(w, "\t%.0f cycles\t%.1f ns [%.1f, %.1f]", cycles, e.Value, e.Lo, e.Hi)
		}
		fmt.Fprintln(w)
	}
	return err
}
