// Command wakeups checks what package program says about programs that wait, with the kernel's tracepoints and
// without. It compares each result with the truth: the time that the same program takes in runs between those
// that package program measures, while the competitors are paused.
//
//	cd bench && go build -o /tmp/wakeups ./wakeups && sudo /tmp/wakeups
//	sudo /tmp/wakeups -subject pool,client -load 4 -repetitions 5
//	sudo /tmp/wakeups -nice -20
//
// It needs Linux, root and a C compiler.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/cprogram"
	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

//go:embed testdata/subject.c
var source []byte

// subjects are the programs: the length of each stretch of their work in milliseconds, and the number of
// stretches.
var subjects = []struct {
	name  string
	ms    float64
	times int
}{
	{"pool", 2, 20}, {"mutex", 1, 10}, {"pipeline", 1, 20}, {"forks", 2, 8}, {"client", 1, 10},
	{"relative", 2, 6}, {"absolute", 2, 6}, {"epoll", 2, 6}, {"timerfd", 2, 6},
}

func main() { command.Main("wakeups", run) }

// rightsNames are the names of the two ways of measuring: without tracepoints and with them.
var rightsNames = [2]string{"without", "with"}

// experiment says where and how to measure.
type experiment struct {
	folder, program, socket string
	roundsPerMs             float64
	setting                 program.Setting
	launcher                *process.Launcher
	limit                   time.Duration
	stdout                  io.Writer
	rights                  [2]bool // whether to measure without tracepoints, and with them
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("wakeups", flag.ContinueOnError)
	chosen := flags.String("subject", "", "programs, separated by commas (default: all)")
	loads := flags.String("load", "1,4,bursty", "threads that want each CPU, the program's among them, or bursty neighbours")
	repetitions := flags.Int("repetitions", 1, "measurements of each")
	rights := flags.String("rights", "without,with", "measure without tracepoints, with them, or both")
	nice := flags.Int("nice", 0, "the niceness of the programs and of the client's server, from -20 to 19; the competitors' stays")
	limit := flags.Duration("max-time", 4*time.Second, "how long the runs of a measurement may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	e := experiment{stdout: stdout, limit: *limit, launcher: process.NewLauncher()}
	defer e.launcher.Close()
	for i, name := range rightsNames {
		e.rights[i] = slices.Contains(strings.Split(*rights, ","), name)
	}
	setting, release, err := program.Here(ctx, program.Setting{Nice: *nice})
	if err != nil {
		return err
	}
	defer release()
	e.setting = setting
	if e.folder, err = os.MkdirTemp("", "wakeups"); err != nil {
		return err
	}
	defer os.RemoveAll(e.folder)
	if err := e.compile(ctx); err != nil {
		return err
	}
	serve := exec.CommandContext(ctx, e.program, "server", e.rounds(1), e.socket)
	serve.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a session of its own, as the programs have with a niceness
	if err := serve.Start(); err != nil {
		return err
	}
	defer serve.Process.Kill()
	if err := unix.Setpriority(unix.PRIO_PROCESS, serve.Process.Pid, *nice); err != nil {
		return fmt.Errorf("a niceness of %d for the server: setpriority: %w: run as root", *nice, err)
	}
	// Some kernels have no groups of sessions.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", serve.Process.Pid), []byte(strconv.Itoa(*nice)), 0)
	rows := map[string]*row{}
	defer show(stdout, rows)
	for range *repetitions {
		for _, competitors := range strings.Split(*loads, ",") {
			for _, s := range subjects {
				if *chosen != "" && !slices.Contains(strings.Split(*chosen, ","), s.name) {
					continue
				}
				words := []string{s.name, e.rounds(s.ms), strconv.Itoa(s.times), e.socket}
				if err := e.both(ctx, s.name, competitors, words, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// compile compiles the subjects' program, and finds how many rounds take a millisecond.
func (e *experiment) compile(ctx context.Context) (err error) {
	e.socket = filepath.Join(e.folder, "socket")
	if e.program, err = cprogram.Compile(ctx, e.folder, source, "-pthread"); err != nil {
		return err
	}
	e.roundsPerMs, err = cprogram.Calibrate(func(rounds int) (int64, error) {
		r, err := e.launcher.Run(ctx, process.Command{Path: e.program, Args: []string{"chain", strconv.Itoa(rounds), ""}, Untraced: true, Events: true})
		return r.CPUNs(), err
	})
	return err
}

func (e *experiment) rounds(ms float64) string { return strconv.Itoa(int(ms * e.roundsPerMs)) }

// both measures a subject without tracepoints and with them, as far as e.rights asks for it. Its true time comes from
// runs in between, while the competitors are paused.
func (e *experiment) both(ctx context.Context, name, competitors string, words []string, rows map[string]*row) error {
	kind, n := load.Registers, 0
	if competitors == "bursty" {
		kind, n = load.Kind("bursty"), e.setting.CPUs
	} else if threads, err := strconv.Atoi(competitors); err == nil {
		n = (threads - 1) * e.setting.CPUs
	} else {
		return fmt.Errorf("-load: %q is no number, nor bursty", competitors)
	}
	cpus, err := machine.Affinity()
	if err != nil {
		return err
	}
	c := program.Command{Name: name, Command: process.Command{Path: e.program, Args: words}}
	truth := &truth{cpus: cpus, losses: cprogram.Losses{Watch: e.setting.Watch}}
	var results [2]*program.Result
	for i := range results {
		if !e.rights[i] {
			continue
		}
		rivals, err := load.Start(ctx, n, kind, cpus)
		if err != nil {
			return err
		}
		setting, plan := e.setting, program.DefaultPlan
		setting.NoWakeups, plan.MaxTime = i == 0, e.limit
		var refused error
		all, err := program.Measure(ctx, []program.Command{c}, plan, setting, func(program.Progress) {
			refused = errors.Join(refused, e.alone(ctx, c.Command, rivals, truth))
		})
		lost := command.Lost(ctx, rivals)
		rivals.Stop()
		if err = errors.Join(err, refused, lost); err == nil {
			err = all[0].Failure
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results[i] = all[0]
	}
	known := truth.estimate()
	for i, r := range results {
		if r == nil {
			continue
		}
		rights := rightsNames[i]
		fmt.Fprintf(e.stdout, "%-9s %-6s %-7s truth %7.2f (%.2f to %.2f)  %7.2f (%.2f to %.2f, ± %4.1f %%) %-8s wall %.2f %s\n", name, competitors, rights, known.Value/1e6, known.Lo/1e6, known.Hi/1e6,
			r.Estimate.Value/1e6, r.Estimate.Lo/1e6, r.Estimate.Hi/1e6, 100*r.Estimate.RelativeHalfWidth(), r.Verdict, r.Wall.Value/1e6, short(r.Reasons))
		if i == 1 && results[0] != nil {
			fmt.Fprintf(e.stdout, "%-9s %-6s CPU time with tracepoints %+.1f %%\n", name, competitors, 100*(r.CPU.Value/results[0].CPU.Value-1))
		}
		for _, key := range []string{"load " + competitors + ", " + rights, name + ", " + rights, "all, " + rights} {
			if rows[key] == nil {
				rows[key] = &row{}
			}
			rows[key].add(r, known)
		}
	}
	return nil
}

// short returns the beginning of the reasons.
func short(reasons []string) string {
	text := strings.Join(reasons, "; ")
	return text[:min(len(text), 80)]
}

// alone makes one run while the competitors are paused, under the same policy as the others: under SCHED_FIFO, which
// keeps all other programs away, the kernel places what a program starts or wakes on other CPUs.
func (e *experiment) alone(ctx context.Context, c process.Command, rivals *load.Load, to *truth) error {
	return cprogram.Alone(rivals, func() error {
		c.Untraced, c.Events = true, true
		if e.setting.Nice != 0 {
			c.Nice, c.OwnSession = e.setting.Nice, true
		}
		r, err := e.launcher.Run(ctx, c)
		if err == nil {
			to.add(ctx, r)
		}
		return err
	})
}

// truth has the times of runs while the competitors were paused, and what interrupts and a hypervisor took meanwhile.
type truth struct {
	cpus    []int
	losses  cprogram.Losses
	wallsNs []float64
}

func (t *truth) add(ctx context.Context, r process.Run) {
	t.losses.Look(ctx, t.cpus...)
	t.wallsNs = append(t.wallsNs, float64(r.WallNs))
}

// estimate returns the median time of the runs. Its lower end allows for what the CPUs may have lost: a program that waits
// need not have lost any of it.
func (t *truth) estimate() stats.Estimate {
	_, _, most := t.losses.Share()
	e := stats.MedianInterval(t.wallsNs, "ns")
	e.Lo *= 1 - most
	return e
}

// row counts the results.
type row struct {
	n, known, covered, usable, trusted, wrong int
	widths                                    []float64
}

func (t *row) add(r *program.Result, truth stats.Estimate) {
	t.n++
	t.widths = append(t.widths, r.Estimate.RelativeHalfWidth())
	if r.Verdict != stats.Unusable {
		t.usable++
	}
	if r.Verdict == stats.Trusted {
		t.trusted++
	}
	if math.IsNaN(truth.Lo) || r.Verdict == stats.Unusable {
		return
	}
	t.known++
	if cprogram.Covers(r.Estimate, truth) {
		t.covered++
	}
	if r.Verdict == stats.Trusted && cprogram.IsWrong(r.Estimate, truth) {
		t.wrong++
	}
}

func show(stdout io.Writer, rows map[string]*row) {
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t := rows[name]
		fmt.Fprintf(stdout, "%-24s %3d measured, %3d usable, %3d trusted (%d wrongly), %d of %d usable with a truth cover it, median half-width %.2g %%\n",
			name, t.n, t.usable, t.trusted, t.wrong, t.covered, t.known, 100*stats.Median(t.widths))
	}
}
