package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
)

// programExperiment is one measurement of programs.
type programExperiment struct {
	flags *programFlags
	*call
}

// run measures. If ctx ends, it returns what was measured so far with the error.
func (e *programExperiment) run(ctx context.Context) (record.Programs, error) {
	d := record.Programs{Results: []program.Report{}, Pairs: []stats.Pair{}}
	var commands []program.Command
	var err error
	if e.flags.pid == 0 {
		if commands, err = e.flags.programs(e.cpus); err != nil {
			return d, err
		}
	}
	if err := machine.ProcError(); err != nil {
		e.caveat("how long programs wait for a CPU is not known: %v", err)
	}
	e.bar.show(0, "looking at the machine")
	setting, release, err := program.Here(ctx, program.Setting{CPUs: len(e.cpus), Nice: e.flags.nice, Reach: reachHere(e.header.Machine)})
	defer release()
	if err != nil {
		return d, err
	}
	e.noteCore(setting)
	switch {
	case e.flags.pid != 0:
		return e.watch(ctx, d, setting)
	case e.flags.once:
		return e.once(ctx, d, commands[0], setting)
	}
	return e.measure(ctx, d, commands, setting)
}

// aside runs the commands of --setup or --cleanup.
func (e *programExperiment) aside(ctx context.Context, flag, line string) error {
	lines, err := e.flags.onlyOnce(flag, line)
	if err != nil {
		return err
	}
	for _, c := range lines {
		e.bar.show(0, shortened(c.name))
		err := e.untimed(ctx, c)
		e.bar.end()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %s was interrupted before it ended", flag, c.name)
		case err != nil:
			return fmt.Errorf("%s: %s failed: %w", flag, c.name, err)
		}
	}
	return nil
}

// untimed runs a command without timing it. Its error includes the end of the command's standard error, and of the standard output
// of a build: many tools write there what is wrong. A service that --setup starts may write there later, when nobody reads it.
func (e *programExperiment) untimed(ctx context.Context, c template) error {
	command, err := e.flags.process(c.words)
	if err != nil {
		return err
	}
	kept, err := newTail()
	if err != nil {
		return err
	}
	command.Untraced, command.Stderr = true, kept.write
	if e.flags.isRevision {
		command.Stdout = kept.write
	}
	run, err := command.Run(ctx)
	said := kept.close()
	if err == nil {
		err = run.Failure()
	}
	if err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// watch measures a process that already runs.
func (e *programExperiment) watch(ctx context.Context, d record.Programs, setting program.Setting) (record.Programs, error) {
	e.bar.show(0, fmt.Sprintf("watching process %d for %v", e.flags.pid, e.flags.duration))
	r, err := program.Attach(ctx, e.flags.pid, e.flags.duration, setting)
	if r != nil {
		d.Results = append(d.Results, program.NewReport(r))
	}
	if err != nil {
		return d, fmt.Errorf("--pid: %w", err)
	}
	return d, nil
}

// once runs a command once.
func (e *programExperiment) once(ctx context.Context, d record.Programs, c program.Command, setting program.Setting) (record.Programs, error) {
	connected, err := e.connect([]program.Command{c}, "inherit")
	if err != nil {
		return d, err
	}
	e.bar.end() // the program may write to the line
	run, err := program.Once(ctx, connected.commands[0], setting)
	endings := connected.close()
	var failed *program.FailedError
	var ignored error
	switch {
	case ctx.Err() != nil:
		err = errInterrupted
	case err != nil && !errors.As(err, &failed):
		return d, err
	case err != nil && failed.What == program.TheCommand && run.WallNs > 0 && e.flags.ignored.has(run.ExitCode):
		err, ignored = nil, failed.Err
	}
	r := single(c, run, err)
	if ignored != nil {
		r.Lower(stats.Suspect, "it failed, and counts because failures are ignored: %v", ignored)
	}
	d.Results = append(d.Results, resultOf(r, endings[0]))
	return d, ctx.Err()
}

// measure runs the commands in turn, and compares them.
func (e *programExperiment) measure(ctx context.Context, d record.Programs, commands []program.Command, setting program.Setting) (record.Programs, error) {
	plan, pairs := e.flags.plan, e.flags.pairs()
	if e.flags.gate != nil {
		plan.Gated = &program.Gated{Gate: *e.flags.gate, Pairs: pairs}
	}
	if e.flags.shell != "" {
		shell, err := e.emptyShell()
		if err != nil {
			return d, err
		}
		commands = append(commands, shell)
	}
	connected, err := e.connect(commands, "null")
	if err != nil {
		return d, err
	}
	e.bar.show(0, "running "+shortened(commands[0].Name))
	results, err := program.Measure(ctx, connected.commands, plan, setting, func(p program.Progress) {
		e.bar.show(p.Share, soFar(commands[p.Command].Name, p))
	})
	endings := connected.close()
	for i, r := range results {
		d.Results = append(d.Results, resultOf(r, endings[i]))
	}
	if e.flags.shell != "" && len(results) == len(commands) {
		last := len(results) - 1
		d.Shell = &d.Results[last]
		d.Results, results = d.Results[:last], results[:last]
	}
	if len(results) > 0 {
		d.Pairs = append(d.Pairs, e.flags.judged(e.flags.comparisons(results, pairs, e.seed))...)
	}
	return d, err
}

// single returns the result of one run, which may have failed. The result can't say how much runs differ.
func single(c program.Command, run program.Run, failure error) *program.Result {
	nan := math.NaN()
	r := &program.Result{
		Command: c, Failure: failure, Judgement: stats.NewJudgement(),
		Summary: program.Summary{Estimate: once(nan, nan, nan), Wall: once(nan, nan, nan), CPU: once(nan, nan, nan), MaxRSSBytes: program.Positive(run.MaxRSSBytes)},
	}
	if failure != nil {
		r.Lower(stats.Unusable, "%v", failure)
	}
	if run.WallNs == 0 {
		return r
	}
	if run.Rejected {
		r.Lower(stats.Unusable, "%s: run it again", strings.Join(run.Why, "; "))
		return r
	}
	wall, cpu := float64(run.WallNs), run.OwnCPUNs()
	r.Runs, r.RunqueueWaitNs, r.BlockedNs = []program.Run{run}, stats.FloatOf(run.RunqueueWaitNs), stats.FloatOf(run.BlockedNs)
	r.Estimate, r.Wall, r.CPU = once(run.TimeNs(), run.LowNs, run.HighNs), once(wall, nan, nan), once(cpu, nan, nan)
	r.Method, r.Explanation = program.CycleTime, "the one run's own time, between all of the wait for a CPU taken off and as much as is certain"
	r.Metrics = program.MetricsOf(r)
	if width := r.Estimate.RelativeHalfWidth(); !r.RefuseZero() && !(width <= stats.UselessShare) {
		r.Lower(stats.Unusable, "it takes %s, and no more is known: a calmer machine narrows that", r.Estimate.Range())
	}
	r.Lower(stats.Suspect, "it was run one time: how much runs differ is not known, and the bounds are of this run; several runs (without --once) tell")
	return r
}

// once returns an estimate that rests on one run.
func once(value, lo, hi float64) stats.Estimate {
	return stats.Estimate{Value: value, Lo: lo, Hi: hi, Unit: "ns", Statistic: "single", N: 1}
}

// noteCore enters the rates of the core and of its counter in the header.
func (e *programExperiment) noteCore(setting program.Setting) {
	if setting.CoreHz != nil {
		e.header.Machine.CoreHz = orNil(setting.CoreHz())
	}
	if setting.CounterHz > 0 {
		e.header.Machine.TSCHz = &setting.CounterHz
	}
}

// emptyShell returns a shell that does nothing. It is measured to say what the shell costs.
func (e *programExperiment) emptyShell() (program.Command, error) {
	nothing, err := newTemplate("exit", e.flags.shell)
	if err != nil {
		return program.Command{}, err
	}
	nothing.name = joinWords(nothing.words)
	shell, err := e.flags.program(nothing, nil, e.cpus)
	shell.Metrics = nil
	return shell, err
}

// resultOf returns a result in the form of the document, with the end of the standard error of a command that
// failed.
func resultOf(r *program.Result, ending string) program.Report {
	p := program.NewReport(r)
	if p.Failure != nil && ending != "" {
		p.StderrEnd = &ending
	}
	return p
}

// shortened returns a name that leaves room for more on the progress line.
func shortened(name string) string {
	const most = 30
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// soFar returns what is known so far, for the progress line.
func soFar(name string, p program.Progress) string {
	if !stats.IsFinite(p.Estimate.Value) {
		return fmt.Sprintf("%s: run %d", shortened(name), p.Runs)
	}
	return fmt.Sprintf("%s: %s, run %d", shortened(name), p.Estimate.TimeWithError(), p.Runs)
}

// connections holds the open files of commands.
type connections struct {
	commands []program.Command
	tails    []*tail // one for each command; nil if nothing is kept
	files    []*os.File
}

// beside sets where the commands before and after each run of c write to. Their standard error goes where that of c does.
func beside(c program.Command, stdout io.Writer) {
	for _, other := range []*process.Command{c.Prepare, c.Conclude} {
		if other != nil {
			other.Stdout, other.Stderr = stdout, c.Stderr
		}
	}
}

// connect opens the files that the commands read and write.
func (e *programExperiment) connect(commands []program.Command, usualOutput string) (c *connections, err error) {
	c = &connections{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	for _, command := range commands {
		var kept *tail
		if command.Stdin, err = c.input(e.flags.input, e.flags.once); err != nil {
			return c, err
		}
		switch where := cmp.Or(e.flags.output, usualOutput); where {
		case "inherit":
			command.Stdout, command.Stderr = e.streams.Out, e.streams.Err
			if e.format != render.TextFormat && e.output == "" { // a document has standard output for itself
				command.Stdout = e.streams.Err
			}
			beside(command, e.streams.Err)
		default:
			if command.Stdout, err = c.output(where); err != nil {
				return c, err
			}
			if kept, err = newTail(); err != nil {
				return c, err
			}
			command.Stderr = kept.write
			beside(command, nil)
		}
		c.commands, c.tails = append(c.commands, command), append(c.tails, kept)
	}
	return c, nil
}

// input opens the file that a program reads. Each program has an open file of its own, since an open file has
// only one reading position.
func (c *connections) input(name string, once bool) (*os.File, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		if isTerminal(os.Stdin) {
			return nil, errors.New("--input -: standard input is a terminal, which only the foreground may read: give a file or a pipe")
		}
		if _, err := os.Stdin.Seek(0, io.SeekCurrent); err != nil && !once {
			return nil, errors.New("--input -: standard input is a pipe, which can be read one time only: give a file, or --once")
		}
		return os.Stdin, nil
	}
	open := record.OpenRegular // from a pipe, each run would read other data, or wait
	if info, err := os.Stat(name); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		open = os.Open
	}
	f, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("--input: %w: choose a file that can be read", err)
	}
	c.files = append(c.files, f)
	return f, nil
}

// output opens the file that a program writes to.
func (c *connections) output(where string) (io.Writer, error) {
	switch where {
	case "null":
		return nil, nil
	case "pipe":
		return io.Discard, nil
	}
	if info, err := os.Stat(where); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		held, err := os.OpenFile(where, os.O_WRONLY|withoutWaiting, 0) // fails if the pipe has no reader
		if err != nil {
			return nil, fmt.Errorf("--program-output: %w: start a reader of the pipe first", err)
		}
		defer held.Close()
	}
	f, err := os.OpenFile(where, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--program-output: %w: choose a place that can be written", err)
	}
	c.files = append(c.files, f)
	return f, nil
}

// close closes the files, and returns the end of each command's standard error.
func (c *connections) close() (endings []string) {
	for _, t := range c.tails {
		ending := ""
		if t != nil {
			ending = t.close()
		}
		endings = append(endings, ending)
	}
	for _, f := range c.files {
		f.Close()
	}
	return endings
}
