// Command lateness holds Chronoscope's figures of how late a timer is against those of cyclictest
// (Debian's rt-tests): both sleep until moments that are a millisecond apart, on the same CPU, in turn.
//
//	cd bench && go run ./lateness -cpu 1
//	cd bench && go run ./lateness -cpu 1 -load 4
//
// p50, p99 and the worst of both agree where they differ by 2 µs or 5 % at most, whichever is more, or
// where their 95 % intervals meet; a worst has none.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/internal/load"
	"chronoscope/lateness"
	"chronoscope/stats"
)

func main() { command.Main("lateness", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("lateness", flag.ContinueOnError)
	cpu := flags.Int("cpu", 0, "CPU on which both wait")
	threads := flags.Int("load", 1, "threads that want the CPU, including the waiting one")
	interval := flags.Duration("interval", time.Millisecond, "from one moment to the next")
	rounds := flags.Int("rounds", 20, "rounds, in each of which both have their turn")
	wakes := flags.Int("wakes", 200, "wake-ups of each in a round")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *wakes < 4 || *threads < 1 || *interval < time.Microsecond {
		return errors.New("-rounds and -load have to be 1 or more, -wakes 4 or more, -interval 1µs or more")
	}
	competitors, err := load.Start(ctx, *threads-1, load.Registers, []int{*cpu})
	if err != nil {
		return err
	}
	defer competitors.Stop()
	var ours, theirs []float64
	for round := range *rounds {
		for turn := range 2 {
			if (round+turn)%2 == 0 {
				late, err := here(ctx, *cpu, *interval, *wakes)
				if err != nil {
					return err
				}
				ours = append(ours, late...)
				continue
			}
			late, err := cyclictest(ctx, *cpu, *interval, *wakes)
			if err != nil {
				return err
			}
			theirs = append(theirs, late...)
		}
	}
	print(stdout, stats.TailsOf(ours), stats.TailsOf(theirs))
	return nil
}

// here is how late Chronoscope sees each wake-up, in nanoseconds.
func here(ctx context.Context, cpu int, interval time.Duration, wakes int) (late []float64, err error) {
	for _, t := range lateness.KernelTimers(cpu) {
		if t.Name != "clock_nanosleep, absolute" {
			continue
		}
		wake, release, err := t.Waker(interval)
		if err != nil {
			return nil, err
		}
		defer release()
		for range wakes {
			ns, _, err := wake(ctx)
			if err != nil {
				return nil, err
			}
			late = append(late, ns)
		}
		return late, nil
	}
	return nil, errors.New("this system has no clock_nanosleep")
}

// cyclictest is how late cyclictest sees each wake-up.
func cyclictest(ctx context.Context, cpu int, interval time.Duration, wakes int) (late []float64, err error) {
	c := exec.CommandContext(ctx, "cyclictest", "--affinity="+strconv.Itoa(cpu), "--threads=1", "--default-system", "--nsecs", "--verbose",
		fmt.Sprintf("--interval=%d", interval.Microseconds()), "--loops="+strconv.Itoa(wakes))
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("cyclictest (Debian's package rt-tests): %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() { // thread: number: nanoseconds
		fields := strings.Split(lines.Text(), ":")
		if len(fields) != 3 {
			continue
		}
		if ns, err := strconv.ParseFloat(strings.TrimSpace(fields[2]), 64); err == nil {
			late = append(late, ns)
		}
	}
	if len(late) == 0 {
		return nil, fmt.Errorf("cyclictest printed no wake-up: %.80q", text)
	}
	return late, lines.Err()
}

func print(w io.Writer, ours, theirs stats.Tails) {
	fmt.Fprintf(w, "chronoscope, %d wake-ups: %s\n", ours.N, ours)
	fmt.Fprintf(w, "cyclictest, %d wake-ups:  %s\n", theirs.N, theirs)
	for i, e := range ours.Percentiles {
		if f := theirs.Percentiles[i]; !math.IsNaN(e.Value) && !math.IsNaN(f.Value) {
			say(w, stats.PercentileName(e.Statistic), e.Value, f.Value, e.Lo <= f.Hi && f.Lo <= e.Hi)
		}
	}
	say(w, "worst", ours.WorstNs.Value(), theirs.WorstNs.Value(), false)
}

// say compares two figures, whose intervals may meet.
func say(w io.Writer, name string, ours, theirs float64, meet bool) {
	verdict := "differ"
	if math.Abs(ours-theirs) <= math.Max(2000, 0.05*theirs) {
		verdict = "agree"
	} else if meet {
		verdict = "intervals meet"
	}
	fmt.Fprintf(w, "%-6s %s beside %s: %s\n", name, stats.Duration(ours, 3), stats.Duration(theirs, 3), verdict)
}
