// Command tracing measures what tracing costs a program: by the kernel's tracepoints, at 3,000 switches and
// 10,000 wake-ups a second, and by seccomp filters that stop at timed waits. Each is compared with the same
// program untraced, in pairs in random order.
//
//	cd bench && go build -o /tmp/tracing ./tracing && sudo /tmp/tracing
//	sudo /tmp/tracing -what seccomp
//
// It needs Linux, root, two CPUs and a C compiler.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/cprogram"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

//go:embed testdata/switches.c
var source []byte

func main() { command.Main("tracing", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("tracing", flag.ContinueOnError)
	what := flags.String("what", "tracepoints", "tracepoints, timed (tracepoints and those of system calls that wait until some time), or seccomp")
	pairs := flags.Int("pairs", 100, "of runs, one of them traced")
	limit := flags.Duration("time", 50*time.Second, "begin no pair after that")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "tracing")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	e := experiment{launcher: process.NewLauncher(), pairs: *pairs, until: time.Now().Add(*limit), stdout: stdout}
	defer e.launcher.Close()
	if e.program, err = cprogram.Compile(ctx, folder, source, "-pthread"); err != nil {
		return err
	}
	switch *what {
	case "tracepoints":
		return e.tracepoints(ctx, *what, tracepoint.Open)
	case "timed":
		return e.tracepoints(ctx, *what, tracepoint.OpenWithTimedCalls)
	case "seccomp":
		return e.seccomp(ctx)
	}
	return fmt.Errorf("-what %s: choose tracepoints, timed or seccomp", *what)
}

type experiment struct {
	launcher *process.Launcher
	program  string
	pairs    int
	until    time.Time
	stdout   io.Writer
}

// Two threads share a CPU and run in turn, 200 times each, 0.13 s in all. A turn computes for turnNs, wakes two threads
// of another process and then the other of the two, and ends with a switch.
const (
	turns, wakes = 200, 2
	turnNs       = 1e9 / 3000
	calibrated   = 20_000_000 // rounds
)

// tracepoints compares runs while a recorder of all CPUs is open with runs without a recorder.
func (e *experiment) tracepoints(ctx context.Context, name string, open func() (*tracepoint.Recorder, error)) error {
	cpus, err := machine.Affinity()
	if err != nil {
		return err
	}
	if len(cpus) < 2 {
		return errors.New("it takes two CPUs")
	}
	words := func(rounds, turns int) []string {
		return []string{strconv.Itoa(cpus[1]), strconv.Itoa(cpus[0]), strconv.Itoa(rounds), strconv.Itoa(turns), strconv.Itoa(wakes)}
	}
	one, err := e.launcher.Run(ctx, process.Command{Path: e.program, Args: words(calibrated, 1), Untraced: true, Events: true})
	if err != nil {
		return err
	}
	rounds := int(turnNs * 2 * calibrated / float64(one.CPUNs()))
	c := process.Command{Path: e.program, Args: words(rounds, turns), Untraced: true, Events: true}
	var events, switches, wakeups int
	var seconds float64
	alone := func() (r process.Run, err error) {
		e.launcher.On(func() {
			if err = policy(unix.SCHED_FIFO, 1); err == nil {
				r, err = e.launcher.Run(ctx, c)
			}
			err = errors.Join(err, policy(0, 0))
		})
		return r, err
	}
	return e.compare(ctx, name, func(traced bool) (process.Run, error) {
		if !traced {
			return alone()
		}
		recorder, err := open()
		if err != nil {
			return process.Run{}, err
		}
		defer recorder.Close()
		r, err := alone()
		seconds += float64(r.WallNs) / 1e9
		for _, x := range recorder.TakeAll() {
			if events++; int(x.CPU) != cpus[1] {
				continue
			}
			switch x.Kind {
			case tracepoint.Switched:
				switches++
			case tracepoint.Waking:
				wakeups++
			}
		}
		return r, err
	}, func() {
		fmt.Fprintf(e.stdout, "%.0f events a second, on its CPU %.0f switches and %.0f wake-ups\n", float64(events)/seconds, float64(switches)/seconds, float64(wakeups)/seconds)
	})
}

// policy sets the scheduling policy and priority of the processes that the caller starts, so that they run
// before all others, or as others do (sched(7)).
func policy(number, priority uint32) error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: number, Priority: priority}, 0)
}

// seccomp compares runs that stop at timed waits with untraced runs.
func (e *experiment) seccomp(ctx context.Context) error {
	for _, line := range [][]string{{"true"}, {"sh", "-c", "true; true"}, {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done"}, {"ls", "-lR", "/usr/share/doc"}, {"sleep", "0.05"}, {"python3", "-S", "-E", "-c", "sum(range(1000000))"}} {
		path, err := exec.LookPath(line[0])
		if err != nil {
			fmt.Fprintln(e.stdout, err)
			continue
		}
		err = e.compare(ctx, fmt.Sprint(line), func(traced bool) (process.Run, error) {
			return e.launcher.Run(ctx, process.Command{Path: path, Args: line[1:], Untraced: !traced, NoteWaits: traced, Events: true})
		}, func() {})
		if err != nil {
			return err
		}
	}
	return nil
}

// compare makes pairs of runs in random order, and prints how much longer the traced ones take. After an error it prints this of the
// pairs so far.
func (e *experiment) compare(ctx context.Context, name string, run func(traced bool) (process.Run, error), end func()) (err error) {
	var cpu, wall, cpuNs []float64
pairs:
	for i := 0; i < e.pairs && time.Now().Before(e.until); i++ {
		var both [2]process.Run
		first := rand.IntN(2)
		for _, which := range []int{first, 1 - first} {
			r, failed := run(which == 1)
			if failed = errors.Join(failed, r.Failure()); failed != nil {
				err = fmt.Errorf("%s: %w", name, failed)
				break pairs
			}
			both[which] = r
		}
		cpu = append(cpu, float64(both[1].CPUNs())/float64(both[0].CPUNs())-1)
		wall = append(wall, float64(both[1].WallNs)/float64(both[0].WallNs)-1)
		cpuNs = append(cpuNs, float64(both[0].CPUNs()))
	}
	if len(cpu) == 0 {
		if err == nil {
			fmt.Fprintf(e.stdout, "%-40s no pair within -time\n", name)
		}
		return err
	}
	show := func(shares []float64) string {
		m := stats.MedianInterval(shares, "1")
		return fmt.Sprintf("%+.2f %% (%+.2f to %+.2f)", 100*m.Value, 100*m.Lo, 100*m.Hi)
	}
	fmt.Fprintf(e.stdout, "%-40s %3d pairs of %.1f ms of CPU time: CPU time %s, by the clock %s\n", name, len(cpu), stats.Median(cpuNs)/1e6, show(cpu), show(wall))
	end()
	return err
}
