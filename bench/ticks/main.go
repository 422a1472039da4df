// Command ticks shows what a program can find out from timer interrupts (Bryant 2003, section 9.2, Figure 9.10
// and homework 9.10 to 9.12): how this kernel counts CPU time, the rates of times(2), of the counter and of the
// core, how long a thread was inactive, and how far Bryant's ways to find these may be off.
//
//	cd bench && go run ./ticks
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"chronoscope/activity"
	"chronoscope/bench/internal/command"
	"chronoscope/env"
)

func main() { command.Main("ticks", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("ticks", flag.ContinueOnError)
	sleep := flags.Duration("sleep", 2*time.Second, "how long ticks and cycles are counted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sleep < 10*time.Millisecond {
		return fmt.Errorf("-sleep %v: choose 10ms or more", *sleep)
	}
	for _, part := range []func() error{
		func() error { return printCharges(stdout) },
		func() error { return printCounting(ctx, stdout) },
		func() error { return printTicks(ctx, stdout, *sleep) },
		func() error { return printRates(ctx, stdout, *sleep) },
		func() error { return printInactive(ctx, stdout) },
	} {
		if err := part(); err != nil && ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			fmt.Fprintln(stdout, err)
		}
	}
	return nil
}

const ms = 1e6

// printCharges accounts by ticks for two processes that share a CPU, as in Figure 9.7.
func printCharges(w io.Writer) error {
	accounts, err := Charge([]Span{
		{Process: "A", StartNs: 0, EndNs: 11 * ms},
		{Process: "B", StartNs: 11 * ms, EndNs: 19 * ms},
		{Process: "A", System: true, StartNs: 19 * ms, EndNs: 21 * ms},
		{Process: "A", StartNs: 21 * ms, EndNs: 30 * ms},
	}, []float64{10 * ms, 20 * ms, 30 * ms}, 10*ms)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "Section 9.2: two processes share a CPU for 30 ms, and each tick of 10 ms is charged to one of them")
	for _, process := range []string{"A", "B"} {
		a := accounts[process]
		above, below := a.Bounds()
		fmt.Fprintf(w, "  %s ran for %.0f ms and is charged %.0f; its ticks say more than %.0f and less than %.0f\n",
			process, a.Used.SumNs()/ms, a.Charged().SumNs()/ms, above/ms, below/ms)
	}
	return nil
}

func printCounting(ctx context.Context, w io.Writer) error {
	g, err := ObserveGranularity(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "This kernel counts CPU time by: %s; it tells user from system time by: %s (%d steps seen, %.3g ms each)\n", g.Sum, g.Split, g.Steps, g.StepNs/ms)
	return nil
}

func printTicks(ctx context.Context, w io.Writer, sleep time.Duration) error {
	e, err := TicksPerSecond(ctx, sleep)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Homework 9.10: times(2) ticks at %.4g Hz [%.4g, %.4g]\n", e.Value, e.Lo, e.Hi)
	return nil
}

// printRates prints the rates of Figure 9.10, and the range of rates that Bryant's program would leave possible
// (homework 9.12).
func printRates(ctx context.Context, w io.Writer, sleep time.Duration) error {
	r, err := MHz(ctx, sleep)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Figure 9.10: %s runs at %.6f MHz ± %.3g %%, the core at %.4g MHz\n", r.Counter, r.CounterHz.Value/1e6, 100*r.CounterHz.RelativeHalfWidth(), r.CoreHz.Value/1e6)
	const interval = 10 * time.Millisecond
	above, longest, err := SleepRange(sleep, interval)
	if err != nil {
		return err
	}
	slowest, fastest, err := TrueRates(r.CounterHz.Value/1e6, sleep, interval)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Homework 9.12: at a tick of %v a sleep of %v takes more than %v and at most %v, so that the source's program would leave %.6g to %.6g MHz possible\n",
		interval, sleep, above, longest, slowest, fastest)
	return nil
}

func printInactive(ctx context.Context, w io.Writer) error {
	release, err := env.Hold()
	if err != nil {
		return err
	}
	defer release()
	c, err := env.Open(ctx, 10*time.Millisecond, env.Clocks()...)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	threshold := max(int64(2e3/c.TickNs.Value), activity.LeastThreshold(c.Clock))
	ticks, err := InactiveDuration(ctx, c.Clock, threshold)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Homework 9.11: this thread was inactive for %.4g µs (threshold %.4g µs)\n", c.Ns(ticks)/1e3, c.Ns(threshold)/1e3)
	return nil
}
