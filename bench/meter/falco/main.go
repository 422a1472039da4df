// Command falco repeats the experiment of Falco 2009: an operation of some microseconds is timed with a clock
// of milliseconds. It is timed once in a loop between two readings ("classic") and once call by call, with
// other work between the calls ("discrete").
//
//	cd bench && go run ./meter/falco -runs 4
//	cd bench && go run ./meter/falco -runs 2 -busy 4
//	cd bench && go run ./meter/falco -runs 1 -iterations 3000 -locked
//
// It also prints the interval, the mean of time.Now over the same calls, and the verdict. With -locked each
// call waits for the clock's edge first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/meter"
)

func main() { command.Main("falco", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("falco", flag.ContinueOnError)
	runs := flags.Int("runs", 4, "runs")
	iterations := flags.Int("iterations", 100_000, "calls in a run")
	busy := flags.Int("busy", 0, "goroutines that compute all the time beside it")
	locked := flags.Bool("locked", false, "start each call at the clock's edge")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *runs < 1 || *iterations < 1 || *busy < 0 {
		return errors.New("-runs and -iterations have to be positive, and -busy at least 0")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range *busy {
		go func() {
			for ctx.Err() == nil {
				burn(100)
			}
		}()
	}
	for range *runs {
		pause := func(factor int) { burn(factor) }
		if *locked {
			pause = func(int) { awaitEdge() }
		} else if err := classic(ctx, stdout, *iterations); err != nil {
			return err
		}
		if err := discrete(ctx, stdout, *iterations, pause); err != nil {
			return err
		}
	}
	return nil
}

// operate is the timed operation: logarithms of logarithms as in Falco's experiment, but not of negative
// numbers, as nearly all of his are by mistake.
func operate(x float64) float64 {
	for range 100 {
		x = math.Log(2 + math.Abs(x))
	}
	return x
}

// burn is the other work of the program.
func burn(factor int) {
	var last uint32
	for range factor * 1000 {
		last = rand.Uint32()
	}
	runtime.KeepAlive(last)
}

// millis returns the time in milliseconds.
func millis() int64 { return time.Now().UnixMilli() }

func awaitEdge() {
	for began := millis(); millis() == began; {
	}
}

func classic(ctx context.Context, stdout io.Writer, iterations int) error {
	x := 123.456
	began := millis()
	for i := range iterations {
		x = operate(x)
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	total := millis() - began
	runtime.KeepAlive(x)
	_, err := fmt.Fprintf(stdout, "classic   %7.3f µs, %d calls in %d ms\n", float64(total)*1000/float64(iterations), iterations, total)
	return err
}

func discrete(ctx context.Context, stdout io.Writer, iterations int, pause func(factor int)) error {
	source, err := meter.Own{
		Name: "milliseconds", Read: millis, Tick: time.Millisecond,
		Unbiased: "each reading is rounded down from a fine clock",
	}.Source()
	if err != nil {
		return err
	}
	m := meter.New("operate", source)
	factor := rand.IntN(10)
	var fine time.Duration
	x := 123.456
	began := millis()
	for i := range iterations {
		start := m.Start()
		before := time.Now()
		x = operate(x)
		fine += time.Since(before)
		m.Stop(start)
		pause(factor)
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	runtime.KeepAlive(x)
	r := m.Snapshot().Report()
	if _, err = fmt.Fprintf(stdout, "discrete  %7.3f µs, %.3f to %.3f, %d edges in %d calls over %d ms; time.Now says %.3f; %s\n",
		r.Mean.Value/1000, r.Mean.Lo/1000, r.Mean.Hi/1000, r.Edges, r.Calls, millis()-began,
		float64(fine.Nanoseconds())/float64(iterations)/1000, r.Verdict); err != nil {
		return err
	}
	for _, reason := range r.Reasons {
		if _, err := fmt.Fprintln(stdout, "         ", reason); err != nil {
			return err
		}
	}
	return nil
}
