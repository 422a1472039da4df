// Command costs measures what timing a call takes, as a share of a pair of time.Now. It compares meters with
// tails with the histograms that are usual for this, shared by 1, 2 and 64 goroutines.
//
//	cd bench && go run ./tails/costs
//
// All are timed in turn, in rounds, by the CPU time of the process. The figures are medians over the rounds of
// the ratio to time.Now's pair in the same round, with 95 % intervals.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"chronoscope/bench/internal/command"
	"chronoscope/env"
	"chronoscope/meter"
	"chronoscope/stats"
)

func main() { command.Main("costs", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("costs", flag.ContinueOnError)
	rounds := flags.Int("rounds", 41, "rounds, in each of which all are timed")
	calls := flags.Int("calls", 20_000, "calls of each in a round")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 6 || *calls < goroutineCounts[len(goroutineCounts)-1] {
		return fmt.Errorf("-rounds %d -calls %d: choose 6 rounds or more, of %d calls or more", *rounds, *calls, goroutineCounts[len(goroutineCounts)-1])
	}
	all, err := subjects(ctx)
	if err != nil {
		return err
	}
	for _, goroutines := range goroutineCounts {
		costs, err := measure(ctx, all, *rounds, *calls, goroutines, cpuTime)
		if len(costs[0]) == 0 {
			return err
		}
		pair := stats.MedianInterval(costs[0], "ns")
		fmt.Fprintf(stdout, "%d goroutines; a pair of time.Now takes %s\n", goroutines, pair)
		for i, s := range all {
			var ratios []float64
			for round, ns := range costs[i] {
				ratios = append(ratios, ns/costs[0][round])
			}
			ratio := stats.MedianInterval(ratios, "")
			fmt.Fprintf(stdout, "  %-34s %6.1f ns  %5.1f %% (%.1f to %.1f)\n", s.name, stats.Median(costs[i]), 100*ratio.Value, 100*ratio.Lo, 100*ratio.Hi)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goroutineCounts are the numbers of goroutines that share what times the calls.
var goroutineCounts = []int{1, 2, 64}

// subject times one call in its way. The call itself is empty, so that only the timing is measured.
type subject struct {
	name string
	pair func()
}

func subjects(ctx context.Context) ([]subject, error) {
	tick, err := meter.KernelTick()
	if err != nil {
		return nil, err
	}
	fine, err := env.Open(ctx, 20*time.Millisecond, env.Clocks()...)
	if err != nil {
		return nil, err
	}
	counter, err := meter.Counter(fine)
	if err != nil {
		return nil, err
	}
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "classic_seconds"})
	native := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "native_seconds", NativeHistogramBucketFactor: 1.02, NativeHistogramMaxBucketNumber: 1000})
	hdr := hdrhistogram.New(1, int64(time.Hour), 2)
	dd, err := ddsketch.LogCollapsingLowestDenseDDSketch(0.01, 2048)
	if err != nil {
		return nil, err
	}
	var hdrLock, ddLock sync.Mutex
	return []subject{
		{"time.Now twice", func() { since(time.Now()) }},
		{"meter, mean", framed(meter.New("a", tick))},
		{"meter, mean, 1 in 16", framed(meter.New("b", tick, meter.Sampled(16)))},
		{"meter, tails, 1 in 1", framed(meter.New("c", tick, meter.WithTails(fine)))},
		{"meter, tails, 1 in 16", framed(meter.New("d", tick, meter.Sampled(16), meter.WithTails(fine)))},
		{"meter, tails, 1 in 128", framed(meter.New("e", tick, meter.Sampled(128), meter.WithTails(fine)))},
		{"meter of a counter, tails, 1 in 16", framed(meter.New("f", counter, meter.Sampled(16), meter.WithTails(fine)))},
		{"Prometheus, classic", func() { classic.Observe(since(time.Now()).Seconds()) }},
		{"Prometheus, native, 2 %", func() { native.Observe(since(time.Now()).Seconds()) }},
		{"HdrHistogram with a lock", func() {
			took := since(time.Now())
			hdrLock.Lock()
			_ = hdr.RecordValue(int64(took))
			hdrLock.Unlock()
		}},
		{"DDSketch with a lock", func() {
			took := since(time.Now())
			ddLock.Lock()
			_ = dd.Add(took.Seconds())
			ddLock.Unlock()
		}},
	}, nil
}

// since reads the whole clock; time.Since reads less of it.
//
//go:noinline
func since(start time.Time) time.Duration {
	//lint:ignore S1012 time.Since reads less of the clock than time.Now does
	return time.Now().Sub(start)
}

func framed(m *meter.Meter) func() { return func() { m.Stop(m.Start()) } }

// measure returns the CPU time of a call for each subject and round, in nanoseconds. Each round has another
// order. What starting the goroutines takes is that of calls that do nothing in the same round, and is taken off.
// If ctx ends, measure returns its error with the rounds so far.
func measure(ctx context.Context, all []subject, rounds, calls, goroutines int, cpuTime func(func()) float64) ([][]float64, error) {
	run := func(call func()) float64 {
		return cpuTime(func() {
			var each sync.WaitGroup
			for range goroutines {
				each.Go(func() {
					for range calls / goroutines {
						call()
					}
				})
			}
			each.Wait()
		}) / float64(calls/goroutines*goroutines)
	}
	costs := make([][]float64, len(all))
	for round := range rounds + 1 {
		if ctx.Err() != nil {
			break
		}
		ns := make([]float64, len(all))
		empty := run(nothing)
		for _, i := range rand.Perm(len(all)) {
			ns[i] = run(all[i].pair)
		}
		empty = min(empty, run(nothing))
		for i := range all {
			if round > 0 { // the first warms up
				costs[i] = append(costs[i], ns[i]-empty)
			}
		}
	}
	return costs, ctx.Err()
}

//go:noinline
func nothing() {}

func cpuTime(f func()) float64 {
	before := clockNs()
	f()
	return float64(clockNs() - before)
}

// clockNs returns the CPU time of the process.
func clockNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano()
}
