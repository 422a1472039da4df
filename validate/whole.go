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

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

// Whole is what a scheme said of a whole program that does so many rounds of the chain and
// ends.
type Whole struct {
	Cell
	Taken    time.Time      `json:"taken"`
	Scheme   string         `json:"scheme"`
	Expected stats.Estimate `json:"expected"`
	Answer   Answer         `json:"answer"`
	Marks    []string       `json:"marks"`
	// Why it is no straight program.
	Why string `json:"why,omitempty"`
}

// programs measures whole programs.
type programs struct {
	// folder holds straight programs. Where these don't run, why says so, and this program
	// once more does the rounds, with the start and the threads of its runtime.
	folder string
	why    error

	cpu     int
	setting program.Setting
	seed    uint64
	// starts are how long the program takes with nothing to do, alone on the CPU, as a scheme
	// understands it: from exec to exit, from the least run to the typical one; and of
	// hyperfine, which times the fork and the wait too, up to what it says itself.
	starts map[string]stats.Estimate
}

// startRuns find how long the program's start takes.
const startRuns = 20

// newPrograms looks at the machine, and at the start, as the schemes see it. No competitor
// runs yet.
func newPrograms(ctx context.Context, cpu int, seed uint64, schemes []Scheme) (p *programs, release func(), err error) {
	p = &programs{cpu: cpu, seed: seed, starts: map[string]stats.Estimate{}}
	if p.folder, err = os.MkdirTemp("", "chronoscope-"); err != nil {
		return nil, nil, fmt.Errorf("validate: a folder for programs of known length: %w", err)
	}
	setting, releaseSetting, err := program.Here(ctx, program.Setting{CPUs: 1})
	p.setting = setting
	release = func() {
		releaseSetting()
		_ = os.RemoveAll(p.folder)
	}
	if err == nil {
		if p.why = p.findStart(ctx); p.why != nil {
			err = p.findStart(ctx)
		}
	}
	if err == nil && slices.ContainsFunc(schemes, func(s Scheme) bool { return s.Name == Hyperfine }) {
		err = p.findHyperfineStart(ctx)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return p, release, nil
}

// findStart runs programs that do nothing.
func (p *programs) findStart(ctx context.Context) error {
	var times []float64
	for range startRuns {
		command, err := p.command(0, 1)
		if err != nil {
			return err
		}
		// A tracer stops it after its exec and before its exit, which no run meets that counts.
		command.Untraced = p.why == nil
		run, err := program.Once(ctx, command, p.setting)
		if err != nil {
			return fmt.Errorf("validate: a program that does nothing, in %s (TMPDIR chooses another folder): %w", p.folder, err)
		}
		times = append(times, run.TimeNs())
	}
	slices.Sort(times)
	p.starts[OwnProgram] = stats.Estimate{Value: stats.Quantile(times, 0.25), Lo: times[0], Hi: stats.Quantile(times, 0.75), Unit: "ns", Statistic: "quartile", N: len(times)}
	return nil
}

// findHyperfineStart lets hyperfine run the same programs. One that does not do is told of
// where it is used.
func (p *programs) findHyperfineStart(ctx context.Context) error {
	command, err := p.command(0, 1)
	if err != nil {
		return err
	}
	answer, err := p.byHyperfine(ctx, command, startRuns)
	if err != nil {
		return err
	}
	start := p.starts[OwnProgram]
	if own := answer.Estimate; own.Value > start.Lo {
		start.Value, start.Hi = own.Value, math.Max(own.Value, start.Hi)
	}
	p.starts[Hyperfine] = start
	return nil
}

// command is the program of so many rounds.
func (p *programs) command(rounds, load int) (program.Command, error) {
	c := program.Command{Name: fmt.Sprintf("%d rounds", rounds), Timeout: time.Minute * time.Duration(load), Command: process.Command{CPUs: []int{p.cpu}}}
	var err error
	if p.why != nil {
		c.Path, err = os.Executable()
		c.Env = append(os.Environ(), marker+"="+strconv.Itoa(rounds))
		return c, err
	}
	c.Path, err = p.straight(rounds)
	return c, err
}

// straight writes the straight program of so many rounds.
func (p *programs) straight(rounds int) (path string, err error) {
	data, err := straight(runtime.GOARCH, rounds)
	if err != nil {
		return "", err
	}
	path = filepath.Join(p.folder, "rounds-"+strconv.Itoa(rounds))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, os.WriteFile(path, data, 0o700)
}

// measure lets a scheme measure a program of the cell's length, whose truth the session
// tells before and after.
func (p *programs) measure(ctx context.Context, t task, s *session) (*Whole, error) {
	start := p.starts[t.program]
	rounds := max(1, int((float64(t.Duration)-start.Value)/s.roundNs))
	before, err := s.levels(ctx, rounds)
	if err != nil {
		return nil, err
	}
	command, err := p.command(rounds, t.Load)
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
	after, err := s.levels(ctx, rounds)
	if err != nil {
		return nil, err
	}
	w.Expected = stats.Estimate{
		Value: (before.Value+after.Value)/2 + start.Value,
		Lo:    math.Min(before.Lo, after.Lo) + start.Lo, Hi: math.Max(before.Hi, after.Hi) + start.Hi,
		Unit: "ns", Statistic: "reference", N: before.N + after.N,
	}
	return w, nil
}

func (p *programs) byProgram(ctx context.Context, c program.Command, t task) (Answer, error) {
	plan := program.DefaultPlan
	plan.MinRuns, plan.MaxRuns, plan.Seed = t.Trials, t.Trials, p.seed
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

// hyperfineResult is what is read of its JSON; seconds.
type hyperfineResult struct {
	Results []struct {
		Mean  float64
		Times []float64
	}
}

// byHyperfine runs it, on the same CPU as the program. It says the mean, and the
// standard deviation of the runs, which is no claim of how far the mean may be off.
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

// quoted is a word as hyperfine reads it, which splits commands without a shell, too.
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
