package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/internal/group"
	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/offcpu"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// newWhy returns the command that says what a program waits for.
func newWhy() *command {
	w := &whyFlags{}
	return &command{Command: &cobra.Command{
		Use:   "why [-- COMMAND [ARGUMENT ...]]",
		Short: "Say where a program's time goes, and who makes it wait",
		Long: `Follows all threads of a process, a control group or a command, and says of
their time what they ran, and for whom or what they waited:

` + offCPUList() + `
It needs the kernel's tracepoints: run it as root, or give the program
CAP_PERFMON and CAP_DAC_READ_SEARCH. Without rights it says what the kernel
accounts for each thread, and not who made it wait; the verdict is suspect, and
--until is refused.

A command's output goes to standard error. If it fails, the status is 1. With
--until it is 4 once a thread that could run was kept from it, or was stopped, for that long.`,
		Example: `  chronoscope why --pid 1234 --duration 10s
  chronoscope why -- make -j4
  chronoscope why --cgroup /sys/fs/cgroup/system.slice/web.service --html why.html
  chronoscope why --pid 1234 --duration 1h --until 5ms
  chronoscope why --pid 1234 --format json | jq '.parts[] | select(.share > 0.1)'`,
		Args: cobra.ArbitraryArgs,
	}, flags: w.register, check: w.check, measure: w.measure,
		refused: map[string]string{"cpu": "follows threads on whichever CPU they run"},
	}
}

// offCPUList describes the causes.
func offCPUList() string {
	var b strings.Builder
	for _, c := range offcpu.Causes() {
		fmt.Fprintf(&b, "  %-14s %s\n", c, c.Meaning())
	}
	return b.String()
}

// whyFlags are the flags of why.
type whyFlags struct {
	pid      int
	cgroup   string
	duration time.Duration
	until    time.Duration
	keepBusy bool
}

func (w *whyFlags) register(set *pflag.FlagSet, _ *flags) {
	set.IntVar(&w.pid, "pid", 0, "follow this process with what it starts, or one thread, by its `number`")
	set.StringVar(&w.cgroup, "cgroup", "", "follow the processes of this control group, a `folder`")
	set.DurationVar(&w.duration, "duration", 0, "how long to record, such as 10s (default: a command to its end, others 10s; --quick: 2s, --thorough: 60s)")
	set.DurationVar(&w.until, "until", 0, "end with status 4 once a thread that could run had no CPU, or was stopped, for this long, such as 5ms")
	set.BoolVar(&w.keepBusy, "keep-busy", false, "keep the CPUs that chronoscope may use from being idle, by programs of the lowest priority, where the kernel does not report what happens on idle CPUs")
}

// longestWhy is the longest recording.
const longestWhy = 24 * time.Hour

// check returns an error that says which flag is wrong, and what is allowed.
func (w *whyFlags) check(c *call) error {
	switch {
	case countTrue(w.pid != 0, w.cgroup != "", len(c.args) > 0) != 1:
		return usagef("%q needs one subject: give --pid NUMBER, --cgroup FOLDER, or -- COMMAND", c.cmd.CommandPath())
	case w.pid < 0:
		return usagef("--pid: %d is no process: give the number of one", w.pid)
	case w.duration < 0 || w.duration > longestWhy:
		return usagef("--duration: %v can't be recorded: give more than 0 and at most %v", w.duration, longestWhy)
	case w.until < 0:
		return usagef("--until: %v is no length of a wait: give more than 0", w.until)
	}
	if w.duration == 0 {
		w.duration = of(c.effort, 2*time.Second, 10*time.Second, time.Minute)
		if len(c.args) > 0 {
			w.duration = longestWhy
		}
	}
	return nil
}

// measure records the threads.
func (w *whyFlags) measure(ctx context.Context, c *call) (found, error) {
	d := record.Why{Method: "tracepoints"}
	o := offcpu.Options{Duration: w.duration, Until: w.until, Root: os.DirFS("/")}
	following, stop := context.WithCancel(ctx)
	defer stop()
	begin := func() error { return nil }
	var program *exec.Cmd
	ended := make(chan struct{})
	var err error
	switch {
	case w.pid != 0:
		d.Subject, o.Target, err = processTarget(w.pid)
	case w.cgroup != "":
		d.Subject, o.Group = "control group "+w.cgroup, w.cgroup
		o.Processes, err = offcpu.ProcessesOf(w.cgroup)
		if top := (*fs.PathError)(nil); errors.As(err, &top) && top.Path == "." { // the message names the folder
			err = top.Err
		}
		if err == nil && len(o.Processes) == 0 {
			err = errors.New("no process is in it")
		}
		if err != nil {
			err = fmt.Errorf("--cgroup %s: %w: give the folder of a control group, such as one below /sys/fs/cgroup", w.cgroup, err)
		}
	default:
		d.Subject, o.Parent = joinWords(c.args), int32(os.Getpid())
		program = exec.Command(c.args[0], c.args[1:]...)
		program.Stdin, program.Stdout, program.Stderr = os.Stdin, c.streams.Err, c.streams.Err
		group.Own(program)
		begin = func() error { return start(program, stop, ended) }
		defer func() {
			if program.Process == nil {
				return
			}
			select {
			case <-ended:
			default:
				group.End(program)
				<-ended
			}
		}()
	}
	if err != nil {
		return found{}, err
	}
	if w.keepBusy {
		filling, err := fill(ctx)
		if err != nil {
			return found{}, err
		}
		defer filling.Stop()
		c.caveat("the CPUs were kept busy, by programs of the lowest priority (--keep-busy): they wake up faster than idle ones, and may run slower")
	}
	r, err := offcpu.Record(following, o, begin)
	var unavailable *tracepoint.Unavailable
	if errors.As(err, &unavailable) {
		if w.until > 0 {
			return found{}, fmt.Errorf("--until: single waits can't be seen without the kernel's events: %w", err)
		}
		d.Method = "accounts"
		r, err = offcpu.Accounts(following, o, begin, unavailable)
	}
	if err != nil {
		return found{}, err
	}
	failure := howEnded(program, ended, &d)
	if failure != nil {
		c.caveat("the command failed (%v): this is its time until then", failure)
		failure = fmt.Errorf("%s: %w: what it did until then is shown", d.Subject, failure)
	}
	d.Header, d.Result = c.finish(ctx), r.Result
	f := found{document: d, verdicts: map[string]stats.Verdict{d.Subject: d.Verdict}, failed: failure}
	if r.Late != nil {
		d.LateNs, d.Late = &r.Late.DurationNs, r.Late
		f.document, f.failed = d, &lateError{"a thread that could run was kept from it", time.Duration(r.Late.DurationNs), w.until}
	}
	return f, nil
}

// fill keeps all CPUs that this process may use from being idle.
func fill(ctx context.Context) (*load.Load, error) {
	cpus, err := machine.Affinity()
	if err != nil {
		return nil, fmt.Errorf("--keep-busy: which CPUs may be used is not known: %w", err)
	}
	filling, err := load.Fill(ctx, cpus)
	if err != nil {
		return nil, fmt.Errorf("--keep-busy: %w", err)
	}
	return filling, nil
}

// start starts a program, and calls stop when it has ended.
func start(program *exec.Cmd, stop func(), ended chan<- struct{}) error {
	if err := program.Start(); err != nil {
		return fmt.Errorf("%w: check that it is there and may be executed", err)
	}
	go func() {
		program.Wait()
		close(ended)
		stop()
	}()
	return nil
}

// howEnded notes how a command ended, and returns an error if it failed. It does neither if the recording ended first.
func howEnded(program *exec.Cmd, ended <-chan struct{}, d *record.Why) error {
	select {
	case <-ended:
	default:
		return nil
	}
	state := program.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		signal := status.Signal().String()
		d.Signal = &signal
		return fmt.Errorf("ended by signal: %s", signal)
	}
	code := state.ExitCode()
	if d.ExitCode = &code; code != 0 {
		return fmt.Errorf("exit status %d", code)
	}
	return nil
}

// processTarget returns the target for a process, or for a thread.
func processTarget(pid int) (subject string, t offcpu.Target, err error) {
	tasks, living := tracepoint.Tasks(os.DirFS("/")), map[int32]bool{}
	for _, task := range tasks {
		living[task.Process] = living[task.Process] || task.State != tracepoint.Ended
	}
	for _, task := range tasks {
		if int(task.Thread) != pid {
			continue
		}
		if task.State == tracepoint.Ended && !living[task.Process] {
			return "", t, fmt.Errorf("--pid %d: %s has ended, and waits for nothing: its parent, pid %d, has not asked yet how it ended (a zombie): give --pid %d to see why", pid, task.Name, task.Parent, task.Parent)
		}
		t.Processes = map[int32]bool{task.Process: true}
		if task.Process != task.Thread {
			t.Thread = task.Thread
		}
		return fmt.Sprintf("%s (%d)", task.Name, pid), t, nil
	}
	return "", t, fmt.Errorf("--pid %d: no process or thread has this number: check that it runs", pid)
}

// lateError says that a thread was kept from running for longer than allowed: exit status 4.
type lateError struct {
	what          string
	waited, limit time.Duration
}

func (e *lateError) Error() string {
	return fmt.Sprintf("%s for %v, --until is %v", e.what, e.waited, e.limit)
}
