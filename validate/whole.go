package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

// Whole is a scheme's answer for a whole program, and the truth.
type Whole struct {
	Cell
	Taken    time.Time      `json:"taken"`
	Scheme   string         `json:"scheme"`
	Expected stats.Estimate `json:"expected"`
	Answer   Answer         `json:"answer"`
	Marks    []string       `json:"marks"`
	// Why says why this program was measured instead of one of machine code; empty if that ran.
	Why string `json:"why,omitempty"`
}

// programs measures whole programs. It holds what their cells have in common.
type programs struct {
	// folder holds programs of machine code. If these don't run, why says so, and this program does
	// the rounds; then a Go runtime and its threads start, too.
	folder string
	code   architecture
	why    error
	// server is the name of the socket of the server that programs of kind Server use, and serving that process; nil if it
	// was not started.
	server  string
	serving *child

	cpu     int
	setting program.Setting
	seed    uint64
	// startNs is how long a program of kind Compute takes that has nothing to compute and runs alone on the CPU, again
	// and again. hyperfineNs is by how much hyperfine's mean of it is longer, since hyperfine also times the fork and
	// the wait.
	startNs, hyperfineNs float64
}

// startRuns is the number of runs that time a program that does nothing. restRuns is the number of runs,
// before and after each cell, that time a program without its computing. Before each of these the CPU computes for as
// long as the program would, but for no more than coldNs: after that long the caches have lost the kernel's data that a
// start needs. On a KVM guest whose host has other guests, a static program that multiplies took 0.40 ms more than its
// multiplications if these took 1 ms, 0.50 ms if they took 5 ms, and 0.69 ms if they took 20 ms.
const startRuns, restRuns, coldNs = 20, 8, 20e6

// newPrograms finds out which programs run on the machine and how long they take to start. No competitor may run yet.
func newPrograms(ctx context.Context, cpu int, seed uint64, tasks []task) (p *programs, release func(), err error) {
	p = &programs{cpu: cpu, seed: seed, server: fmt.Sprintf("@chronoscope-%d-%d", os.Getpid(), time.Now().UnixNano())}
	if p.folder, err = os.MkdirTemp("", "chronoscope-"); err != nil {
		return nil, nil, fmt.Errorf("validate: a folder for programs of known length: %w: set TMPDIR to one that can be written", err)
	}
	setting, releaseSetting, err := program.Here(ctx, program.Setting{CPUs: 1})
	p.setting = setting
	release = func() {
		p.endServer()
		releaseSetting()
		_ = os.RemoveAll(p.folder)
	}
	if err == nil {
		p.code, p.why = architectureOf(runtime.GOARCH)
		if p.why == nil {
			p.why = p.findStart(ctx)
		}
		if p.why != nil {
			err = p.findStart(ctx)
		}
	}
	if err == nil && slices.ContainsFunc(tasks, func(t task) bool { return t.program == Hyperfine }) {
		err = p.findHyperfineStart(ctx)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return p, release, nil
}

// findStart times a program that does nothing.
func (p *programs) findStart(ctx context.Context) error {
	command, err := p.command(Compute, shape{}, 1)
	if err != nil {
		return err
	}
	start, err := p.alone(ctx, command, startRuns, 0)
	if err != nil {
		return fmt.Errorf("validate: a program that does nothing, in %s (TMPDIR chooses another folder): %w", p.folder, err)
	}
	p.startNs = start.Value
	return nil
}

// alone measures how long a program takes by the clock, from exec to exit, while no competitor runs. The value is the
// median. The interval goes from the least run to the upper end of the median's interval, since other programs can only
// make runs longer. Before each run the CPU computes the given number of rounds.
func (p *programs) alone(ctx context.Context, c program.Command, runs, rounds int) (stats.Estimate, error) {
	c.Untraced, c.Events = true, true // a tracer would stop it, which does not happen in the runs that count
	var times []float64
	for range runs {
		release, err := env.Thread(p.cpu)
		if err != nil {
			return stats.Estimate{}, fmt.Errorf("validate: computing on CPU %d: %w", p.cpu, err)
		}
		multiply(rounds)
		release()
		run, err := c.Run(ctx)
		if err == nil {
			err = run.Failure()
		}
		if err != nil {
			return stats.Estimate{}, fmt.Errorf("validate: the program %s: %w", c.Name, err)
		}
		times = append(times, float64(run.WallNs))
	}
	e := stats.MedianInterval(times, "ns")
	e.Lo, e.Statistic = slices.Min(times), "reference"
	return e, nil
}

// findHyperfineStart lets hyperfine run a program that does nothing. If hyperfine can't, its cells
// say why.
func (p *programs) findHyperfineStart(ctx context.Context) error {
	command, err := p.command(Compute, shape{}, 1)
	if err != nil {
		return err
	}
	answer, err := p.byHyperfine(ctx, command, startRuns)
	if err != nil {
		return err
	}
	if own := answer.Estimate.Value; own > p.startNs {
		p.hyperfineNs = own - p.startNs
	}
	return nil
}

// command returns the program of a kind and shape.
func (p *programs) command(k Kind, s shape, load int) (program.Command, error) {
	c := program.Command{Name: fmt.Sprintf("%s, %d rounds", k, s.rounds), Timeout: time.Minute * time.Duration(load), Command: process.Command{CPUs: []int{p.cpu}}}
	var err error
	if p.why != nil {
		c.Path, err = os.Executable()
		c.Env = append(os.Environ(), marker+"="+strconv.FormatUint(s.rounds, 10))
		return c, err
	}
	c.Path = filepath.Join(p.folder, fmt.Sprintf("%s-%d-%d", k, s.rounds, s.sleepNs))
	if _, err := os.Stat(c.Path); err == nil {
		return c, nil
	}
	return c, os.WriteFile(c.Path, programFile(p.code.machine, patterns[k].code(p.code, s)), 0o700)
}

// measure lets a scheme measure a program of the cell's length. It takes the truth before and
// after.
func (p *programs) measure(ctx context.Context, t task, s *session, competitors *competition) (*Whole, error) {
	shape := p.shapeOf(t, s.roundNs)
	before, err := p.truth(ctx, t, shape, s, competitors)
	if err != nil {
		return nil, err
	}
	command, err := p.command(t.Kind, shape, t.Load)
	if err != nil {
		return nil, err
	}
	w := &Whole{Cell: t.Cell, Taken: time.Now(), Scheme: t.program, Marks: []string{}}
	if p.why != nil {
		w.Why = p.why.Error()
	}
	if t.program == Hyperfine {
		w.Answer, err = p.byHyperfine(ctx, command, t.Trials)
	} else {
		w.Answer, err = p.byProgram(ctx, command, t)
	}
	if err != nil {
		return nil, err
	}
	after, err := p.truth(ctx, t, shape, s, competitors)
	if err != nil {
		return nil, err
	}
	w.Expected = stats.Estimate{
		Value: (before.Value + after.Value) / 2, Lo: math.Min(before.Lo, after.Lo), Hi: math.Max(before.Hi, after.Hi),
		Unit: "ns", Statistic: "reference", N: before.N + after.N,
	}
	return w, nil
}

// shapeOf divides the cell's duration between the parts of its program.
func (p *programs) shapeOf(t task, roundNs float64) shape {
	of, ns := patterns[t.Kind], float64(t.Duration)
	rounds := (of.share*ns - p.startNs) / roundNs / float64(of.parts)
	s := shape{rounds: uint64(math.Max(1, rounds)), server: p.server}
	switch t.Kind {
	case Sleep:
		s.sleepNs = uint64((1 - of.share) * ns / turns)
	case Deadline:
		s.sleepNs = uint64(ns / turns)
	}
	return s
}

// truth returns how long the program takes if no other program runs: the time of its rounds now
// plus the time of the same program without rounds, which runs while the competitors pause. If
// computing does not delay the program's end, it is the time of the whole program while they pause.
func (p *programs) truth(ctx context.Context, t task, s shape, lab *session, competitors *competition) (stats.Estimate, error) {
	of := patterns[t.Kind]
	rest := s
	if !of.absorbed {
		rest.rounds = 0
	}
	computed := int((s.rounds - rest.rounds) * of.parts)
	start, err := p.rest(ctx, t, rest, min(computed, int(coldNs/lab.roundNs)), competitors)
	if err != nil || of.absorbed {
		return start, err
	}
	sum, err := lab.levels(ctx, computed)
	sum.Value, sum.Lo, sum.Hi = sum.Value+start.Value, sum.Lo+start.Lo, sum.Hi+start.Hi
	return sum, err
}

// rest measures how long the program of a shape takes while the competitors pause, after the CPU has computed the given
// number of rounds.
func (p *programs) rest(ctx context.Context, t task, s shape, rounds int, competitors *competition) (start stats.Estimate, err error) {
	command, err := p.command(t.Kind, s, t.Load)
	if err != nil {
		return start, err
	}
	err = competitors.paused(func() (err error) {
		if t.Kind == Server && p.why == nil {
			err = p.serve(ctx)
		}
		if err == nil {
			start, err = p.alone(ctx, command, restRuns, rounds)
		}
		return err
	})
	if t.program == Hyperfine {
		start.Value, start.Hi = start.Value+p.hyperfineNs, start.Hi+p.hyperfineNs
	}
	return start, err
}

func (p *programs) byProgram(ctx context.Context, c program.Command, t task) (Answer, error) {
	plan := program.DefaultPlan
	plan.MinRuns, plan.MaxRuns, plan.Seed = t.Trials, t.Trials, p.seed
	plan.ExactRuns = t.Trials < mostRunsOfPrograms // fewer could not carry an estimate at another niceness, either
	plan.MaxTime = time.Duration(2*t.costNs) + time.Minute
	results, err := program.Measure(ctx, []program.Command{c}, plan, p.setting, nil)
	if err != nil {
		return Answer{}, err
	}
	if r := results[0]; r.Failure == nil {
		return Answer{Estimate: r.Estimate, Judgement: r.Judgement}, nil
	}
	return missing("%v", results[0].Failure), nil
}

// hyperfineResult holds the fields that are read from hyperfine's JSON, in seconds.
type hyperfineResult struct {
	Results []struct {
		Mean  float64
		Times []float64
	}
}

// byHyperfine runs hyperfine on the same CPU as the program. Its answer is the mean. It also
// gives the standard deviation of the runs, which is not an interval of the mean.
func (p *programs) byHyperfine(ctx context.Context, of program.Command, runs int) (Answer, error) {
	c := exec.CommandContext(ctx, "hyperfine", "--shell=none", "--style=none", "--warmup=1", "--runs="+strconv.Itoa(runs), "--export-json=/dev/stdout", quoted(of.Path))
	c.Env = of.Env
	var problems, out bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	restore, err := machine.Pin([]int{p.cpu})
	if err != nil {
		return Answer{}, err
	}
	err = c.Start()
	if restored := restore(); restored != nil {
		return Answer{}, restored
	}
	if err == nil {
		err = c.Wait()
	}
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	if err != nil {
		return missing("hyperfine: %v %s", err, bytes.TrimSpace(problems.Bytes())), nil
	}
	return readHyperfine(out.Bytes()), nil
}

// quoted returns a path in quotes, since hyperfine splits commands into words even without a shell.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

func readHyperfine(text []byte) Answer {
	var found hyperfineResult
	if err := json.Unmarshal(text[max(0, bytes.IndexByte(text, '{')):], &found); err != nil || len(found.Results) != 1 {
		return missing("what hyperfine wrote can't be read: %v", err)
	}
	r := found.Results[0]
	return Answer{Judgement: stats.NewJudgement(), Estimate: stats.Estimate{
		Value: 1e9 * r.Mean, Lo: nan, Hi: nan, Unit: "ns", Statistic: "mean", N: len(r.Times),
	}}
}
