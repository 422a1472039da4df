// Command lateness compares Chronoscope's figures of how late a timer is with those of cyclictest (Debian's
// rt-tests): both sleep until moments that are a millisecond apart, on the same CPU, in turn.
//
//	cd bench && go run ./lateness -cpu 1
//	cd bench && go run ./lateness -cpu 1 -load 4
//
// Two figures agree if they differ by at most 2 µs or 5 %, whichever is more. Otherwise they differ by chance
// if the 95 % interval of the difference, from resampled rounds, reaches such a small difference. Each round
// also has a second turn of cyclictest: no tool can come closer to cyclictest than cyclictest itself does.
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
	"math/rand/v2"
	"os/exec"
	"slices"
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
	rounds := flags.Int("rounds", 40, "rounds, in each of which both have their turn")
	wakes := flags.Int("wakes", 500, "wake-ups of each in a round")
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
	var all []round
	for i := range *rounds {
		var r round
		if r, err = roundOf(ctx, i, *cpu, *interval, *wakes); err == nil {
			err = command.Lost(ctx, competitors)
		}
		if err != nil {
			break
		}
		all = append(all, r)
	}
	if len(all) > 0 {
		print(stdout, all)
	}
	return err
}

// roundOf lets each have its turn. The order depends on the round's number.
func roundOf(ctx context.Context, number, cpu int, interval time.Duration, wakes int) (r round, err error) {
	for turn := range 3 {
		switch (number + turn) % 3 {
		case 0:
			r.ours, err = here(ctx, cpu, interval, wakes)
		case 1:
			r.theirs, err = cyclictest(ctx, cpu, interval, wakes)
		case 2:
			r.again, err = cyclictest(ctx, cpu, interval, wakes)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// round has the wake-ups of both tools, and of cyclictest a second time, made one after the other.
type round struct{ ours, theirs, again []float64 }

// here returns how late Chronoscope sees each wake-up, in nanoseconds.
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

// cyclictest returns how late cyclictest sees each wake-up, in nanoseconds.
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

func print(w io.Writer, all []round) {
	ours := func(r round) []float64 { return r.ours }
	theirs := func(r round) []float64 { return r.theirs }
	again := func(r round) []float64 { return r.again }
	for _, one := range []struct {
		name  string
		wakes func(round) []float64
	}{{"chronoscope", ours}, {"cyclictest", theirs}, {"cyclictest, again", again}} {
		late := joined(all, one.wakes)
		fmt.Fprintf(w, "%s, %d wake-ups: %s\n", one.name, len(late), stats.TailsOf(late))
	}
	for _, p := range []float64{0.5, 0.99} {
		quantile := func(all []round, wakes func(round) []float64) float64 {
			late := joined(all, wakes)
			slices.Sort(late)
			return stats.Quantile(late, p)
		}
		name := stats.PercentileName(stats.QuantileName(p))
		say(w, name, all, quantile, ours, theirs)
		say(w, name+" of cyclictest itself,", all, quantile, again, theirs)
	}
	worst := func(all []round, wakes func(round) []float64) float64 {
		var worst []float64
		for _, r := range all {
			worst = append(worst, slices.Max(wakes(r)))
		}
		return stats.Median(worst)
	}
	say(w, "worst of a round, median", all, worst, ours, theirs)
	say(w, "worst of a round, median, of cyclictest itself,", all, worst, again, theirs)
}

func joined(all []round, wakes func(round) []float64) (late []float64) {
	for _, r := range all {
		late = append(late, wakes(r)...)
	}
	return late
}

// resamples is the number of times that rounds are drawn again for the interval of a difference.
const resamples = 1000

// say compares a figure of two series of wake-ups. Wake-ups of a round depend on one another, as the machine is
// the same. So the interval of the difference comes from drawing whole rounds again.
func say(w io.Writer, name string, all []round, figure func([]round, func(round) []float64) float64, one, other func(round) []float64) {
	ours, theirs := figure(all, one), figure(all, other)
	random := rand.New(rand.NewPCG(23, 8))
	drawn, differences := make([]round, len(all)), make([]float64, resamples)
	for i := range differences {
		for j := range drawn {
			drawn[j] = all[random.IntN(len(all))]
		}
		differences[i] = figure(drawn, one) - figure(drawn, other)
	}
	slices.Sort(differences)
	lo, hi := stats.Quantile(differences, 0.025), stats.Quantile(differences, 0.975)
	limit := math.Max(2000, 0.05*theirs)
	verdict := "differ"
	if math.Abs(ours-theirs) <= limit {
		verdict = "agree"
	} else if lo <= limit && hi >= -limit {
		verdict = "differ by chance"
	}
	fmt.Fprintf(w, "%s %s beside %s, difference %.2f to %.2f µs: %s\n", name, stats.Duration(ours, 3), stats.Duration(theirs, 3), lo/1e3, hi/1e3, verdict)
}
