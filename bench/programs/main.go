// Command programs compares what package program says about real programs with the truth: the time that they
// take on the same CPU between its runs, while the competitors are paused. Competitors of several kinds want
// that CPU. If hyperfine is installed, it measures the same.
//
//	cd bench && go run ./programs -subject chain-10ms,sleep -load 11 -kind registers,memory
//	cd bench && go run ./programs -load 4 -repetitions 3 -keep found.jsonl
//	cd bench && go run ./programs -judge found.jsonl
//
// It needs Linux and a C compiler, since programs in Go have several threads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/lines"
	"chronoscope/internal/load"
	"chronoscope/machine"
)

func main() { command.Main("programs", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("programs", flag.ContinueOnError)
	names := flags.String("subject", strings.Join(subjectNames(), ","), "programs to measure")
	threads := flags.Int("load", 1, "threads that want the CPU, the measured one among them")
	kinds := flags.String("kind", string(load.Registers), "kinds of competitors")
	cpu := flags.Int("cpu", -1, "CPU of programs and competitors; the last one where it is below 0")
	repetitions := flags.Int("repetitions", 1, "measurements of each")
	runs := flags.Int("runs", 0, "runs of each measurement; 0 are as many as it takes")
	most := flags.Duration("max-time", 8*time.Second, "how long the runs of a measurement may take in all")
	budget := flags.Duration("time", 75*time.Second, "begin no measurement after that")
	peer := flags.Bool("hyperfine", false, "let hyperfine measure it, too")
	keep := flags.String("keep", "", "append what was found to this file")
	judged := flags.String("judge", "", "measure nothing: judge what such a file holds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *judged != "" {
		found, err := lines.Read[outcome](*judged)
		if err == nil {
			judge(stdout, found)
		}
		return err
	}
	if *threads < 1 || *threads > 64 || *repetitions < 1 || *runs < 0 {
		return errors.New("choose a load of 1 to 64, 1 repetition or more and no negative number of runs")
	}
	allowed, err := machine.Affinity()
	if err != nil {
		return err
	}
	if *cpu < 0 {
		*cpu = allowed[len(allowed)-1]
	}
	e := experiment{cpu: *cpu, load: *threads, runs: *runs, maxTime: *most, hyperfine: *peer, until: time.Now().Add(*budget)}
	release, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer release()
	found, err := e.all(ctx, strings.Split(*names, ","), strings.Split(*kinds, ","), *repetitions, func(o outcome) {
		fmt.Fprintln(stdout, o)
	})
	if *keep != "" {
		err = errors.Join(err, lines.Append(*keep, found...))
	}
	judge(stdout, found)
	return err
}
