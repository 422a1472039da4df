package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

// Whole is what a scheme said of a whole program: this one once more, which does so many
// rounds of the chain and ends.
type Whole struct {
	Cell
	Taken    time.Time      `json:"taken"`
	Scheme   string         `json:"scheme"`
	Expected stats.Estimate `json:"expected"`
	Answer   Answer         `json:"answer"`
	Marks    []string       `json:"marks"`
}

// programs measures whole programs.
type programs struct {
	self    string
	cpu     int
	setting program.Setting
	seed    uint64
	// start is how long the program takes with nothing to do, from the least run to the
	// typical one, alone on the CPU.
	start stats.Estimate
}

// startRuns find how long the program's start takes.
const startRuns = 20

// newPrograms looks at the machine, and at the start. No competitor runs yet.
func newPrograms(ctx context.Context, cpu int, seed uint64) (p *programs, release func(), err error) {
	p = &programs{cpu: cpu, seed: seed}
	if p.self, err = os.Executable(); err != nil {
		return nil, nil, err
	}
	if p.setting, release, err = program.Here(ctx, program.Setting{CPUs: 1}); err != nil {
		release()
		return nil, nil, err
	}
	var times []float64
	for range startRuns {
		run, err := program.Once(ctx, p.command(0, 1), p.setting)
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("validate: a program that does nothing: %w", err)
		}
		times = append(times, run.TimeNs())
	}
	slices.Sort(times)
	p.start = stats.Estimate{Value: stats.Quantile(times, 0.25), Lo: times[0], Hi: stats.Quantile(times, 0.75), Unit: "ns", Statistic: "quartile", N: len(times)}
	return p, release, nil
}

// command is the program of so many rounds.
func (p *programs) command(rounds int, load int) program.Command {
	return program.Command{
		Name: fmt.Sprintf("%d rounds", rounds), Timeout: time.Minute * time.Duration(load),
		Command: process.Command{Path: p.self, Env: environment(rounds), CPUs: []int{p.cpu}},
	}
}

func environment(rounds int) []string {
	return append(os.Environ(), marker+"="+strconv.Itoa(rounds))
}

// measure lets a scheme measure a program of the cell's length, whose truth the session
// tells before and after.
func (p *programs) measure(ctx context.Context, t task, s *session) (*Whole, error) {
	rounds := max(1, int((float64(t.Duration)-p.start.Value)/s.roundNs))
	before, err := s.levels(ctx, rounds)
	if err != nil {
		return nil, err
	}
	w := &Whole{Cell: t.Cell, Taken: time.Now(), Scheme: t.program, Marks: []string{}}
	if t.program == Hyperfine {
		w.Answer, err = p.byHyperfine(ctx, rounds, t)
	} else {
		w.Answer, err = p.byProgram(ctx, rounds, t)
	}
	if err != nil {
		return nil, err
	}
	after, err := s.levels(ctx, rounds)
	if err != nil {
		return nil, err
	}
	w.Expected = stats.Estimate{
		Value: (before.Value+after.Value)/2 + p.start.Value,
		Lo:    math.Min(before.Lo, after.Lo) + p.start.Lo, Hi: math.Max(before.Hi, after.Hi) + p.start.Hi,
		Unit: "ns", Statistic: "reference", N: before.N + after.N,
	}
	return w, nil
}

func (p *programs) byProgram(ctx context.Context, rounds int, t task) (Answer, error) {
	plan := program.DefaultPlan
	plan.MinRuns, plan.MaxRuns, plan.Seed = t.Trials, t.Trials, p.seed
	plan.MaxTime = time.Duration(2*t.costNs) + time.Minute
	results, err := program.Measure(ctx, []program.Command{p.command(rounds, t.Load)}, plan, p.setting, nil)
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
		Mean, Stddev float64
		Times        []float64
	}
}

// byHyperfine runs it, on the same CPU as the program. It says mean and standard
// deviation, which is taken for its claim.
func (p *programs) byHyperfine(ctx context.Context, rounds int, t task) (Answer, error) {
	c := exec.CommandContext(ctx, "hyperfine", "--shell=none", "--style=none", "--warmup=1", "--runs="+strconv.Itoa(t.Trials), "--export-json=/dev/stdout", p.self)
	c.Env = environment(rounds)
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

func readHyperfine(text []byte) Answer {
	var found hyperfineResult
	if err := json.Unmarshal(text[max(0, bytes.IndexByte(text, '{')):], &found); err != nil || len(found.Results) != 1 {
		return missing("what hyperfine wrote can't be read: %v", err)
	}
	r := found.Results[0]
	return Answer{Judgement: stats.NewJudgement(), Estimate: stats.Estimate{
		Value: 1e9 * r.Mean, Lo: 1e9 * (r.Mean - r.Stddev), Hi: 1e9 * (r.Mean + r.Stddev), Unit: "ns", Statistic: "mean", N: len(r.Times),
	}}
}
