package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

// experiment is where and how is measured.
type experiment struct {
	cpu, load, runs int
	hyperfine       bool
	maxTime         time.Duration
	until           time.Time

	setting     program.Setting
	launcher    *process.Launcher
	folder      string
	program     string // the subjects'
	roundsPerMs float64
}

// open looks at the machine, and at how fast the chain is, without competitors.
func (e *experiment) open(ctx context.Context) (release func(), err error) {
	restore, err := machine.Pin([]int{e.cpu})
	if err != nil {
		return nil, err
	}
	setting, close, err := program.Here(ctx, program.Setting{CPUs: 1})
	if err = errors.Join(err, restore()); err != nil {
		close()
		return nil, err
	}
	if e.folder, err = os.MkdirTemp("", "programs"); err != nil {
		close()
		return nil, err
	}
	e.setting, e.launcher = setting, process.NewLauncher()
	release = func() {
		close()
		e.launcher.Close()
		os.RemoveAll(e.folder)
	}
	if e.program, err = compile(ctx, e.folder); err == nil {
		err = e.calibrate(ctx)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// calibrate finds how many rounds take a millisecond.
func (e *experiment) calibrate(ctx context.Context) error {
	const many = 1e7
	c := process.Command{Path: e.program, Args: []string{"chain", strconv.Itoa(many)}, CPUs: []int{e.cpu}}
	least := math.Inf(1)
	for range 5 {
		run, err := e.alone(ctx, c)
		if err != nil {
			return err
		}
		least = math.Min(least, float64(run.WallNs))
	}
	e.roundsPerMs = many / (least / 1e6)
	return nil
}

// alone makes one run that the kernel notes.
func (e *experiment) alone(ctx context.Context, c process.Command) (process.Run, error) {
	c.Untraced, c.Events = true, true
	run, err := e.launcher.Run(ctx, c)
	if err == nil {
		err = run.Failure()
	}
	if err == nil && run.Unwatched != nil {
		err = run.Unwatched
	}
	return run, err
}

// outcome is one measurement beside its truth. Times are in nanoseconds.
type outcome struct {
	Subject  string         `json:"subject"`
	Load     int            `json:"load"`
	Kind     load.Kind      `json:"kind"`
	Truth    stats.Estimate `json:"truth"`
	Estimate stats.Estimate `json:"estimate"`
	WallNs   float64        `json:"wall_ns"`
	Method   program.Method `json:"method"`
	Verdict  stats.Verdict  `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	// PeerWallNs and PeerCPUNs are hyperfine's means; 0 where it was not asked.
	PeerWallNs float64 `json:"hyperfine_wall_ns"`
	PeerCPUNs  float64 `json:"hyperfine_user_and_system_ns"`
}

func (o outcome) covered() bool { return o.Estimate.Lo <= o.Truth.Hi && o.Estimate.Hi >= o.Truth.Lo }

// off is how far the value lies from the truth's interval, as a share.
func (o outcome) off() float64 {
	return math.Max(0, math.Max(o.Estimate.Value/o.Truth.Hi-1, 1-o.Estimate.Value/o.Truth.Lo))
}

func (o outcome) String() string {
	const ms = 1e6
	text := fmt.Sprintf("%-11s load %2d %-9s truth %8.3f [%8.3f, %8.3f] estimate %8.3f [%8.3f, %8.3f] wall %9.3f ms, %-8s %s",
		o.Subject, o.Load, o.Kind, o.Truth.Value/ms, o.Truth.Lo/ms, o.Truth.Hi/ms, o.Estimate.Value/ms, o.Estimate.Lo/ms, o.Estimate.Hi/ms, o.WallNs/ms, o.Verdict, o.Method)
	if o.PeerWallNs > 0 {
		text += fmt.Sprintf(", hyperfine %.3f, user + system %.3f", o.PeerWallNs/ms, o.PeerCPUNs/ms)
	}
	if !o.covered() {
		text += "  MISSED"
	}
	return text
}

// all measures all subjects beside all kinds of competitors.
func (e *experiment) all(ctx context.Context, names, kinds []string, repetitions int, tell func(outcome)) (found []outcome, err error) {
	for range repetitions {
		for _, kind := range kinds {
			k, err := load.ParseKind(kind)
			if err != nil {
				return found, err
			}
			for _, name := range names {
				s, err := subjectOf(name)
				if err != nil {
					return found, err
				}
				if time.Now().After(e.until) {
					return found, nil
				}
				o, err := e.measure(ctx, s, k)
				if err != nil {
					return found, err
				}
				tell(o)
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// measure lets package program measure a subject beside competitors, and takes its truth
// before and after without them.
func (e *experiment) measure(ctx context.Context, s subject, kind load.Kind) (outcome, error) {
	o := outcome{Subject: s.name, Load: e.load, Kind: kind}
	c, err := e.command(s)
	if err != nil {
		return o, err
	}
	before, err := e.truth(ctx, s, c)
	if err != nil {
		return o, err
	}
	if err := e.beside(ctx, s, kind, c, &o); err != nil {
		return o, err
	}
	after, err := e.truth(ctx, s, c)
	o.Truth = stats.Estimate{
		Value: (before.Value + after.Value) / 2, Lo: math.Min(before.Lo, after.Lo), Hi: math.Max(before.Hi, after.Hi),
		Unit: "ns", Statistic: "median", N: before.N + after.N,
	}
	return o, err
}

// beside measures while the competitors run.
func (e *experiment) beside(ctx context.Context, s subject, kind load.Kind, c program.Command, o *outcome) error {
	rivals, err := load.Start(ctx, e.load-1, kind, []int{e.cpu})
	if err != nil {
		return err
	}
	defer rivals.Stop()
	plan := program.DefaultPlan
	plan.MaxTime = e.maxTime
	if e.runs > 0 {
		plan.MinRuns, plan.MaxRuns = e.runs, e.runs
	}
	results, err := program.Measure(ctx, []program.Command{c}, plan, e.setting, nil)
	if err != nil {
		return err
	}
	r := results[0]
	if r.Failure != nil {
		return r.Failure
	}
	o.Estimate, o.WallNs, o.Method, o.Verdict, o.Reasons = r.Estimate, r.Wall.Value, r.Method, r.Verdict, r.Reasons
	if e.hyperfine {
		err = e.byHyperfine(ctx, s, c, o)
	}
	if n := rivals.Lost(); err == nil && n > 0 {
		err = fmt.Errorf("%d competitors were lost", n)
	}
	return err
}

// Runs that tell the truth take so long together, and are so many.
const truthTime, fewestTruths, mostTruths = 600 * time.Millisecond, 6, 40

// noiseError is how far what interrupts take may differ from what the trace shows.
const noiseError = 0.3

// undisturbed is the share of its time that a program which is alone waits for a CPU at most.
const undisturbed = 0.01

// truth is what the program takes alone: the median run, by the kernel's own notes of its
// exec and exit, less what interrupts take of its time on the CPU. Runs that strangers kept
// waiting are none that were alone, and are made again, for up to twice as long; root's have
// a niceness that leaves strangers little.
func (e *experiment) truth(ctx context.Context, s subject, c program.Command) (stats.Estimate, error) {
	var walls, cpus []float64
	if os.Geteuid() == 0 {
		c.Nice = -20
	}
	wanted := min(mostTruths, max(fewestTruths, int(truthTime/s.wall)))
	for tries := 0; len(walls) < wanted && (tries < 2*wanted || len(walls) < fewestTruths); tries++ {
		run, err := e.alone(ctx, c.Command)
		if err != nil {
			return stats.Estimate{}, err
		}
		if float64(run.WaitNs()) > undisturbed*float64(run.WallNs) && tries < 2*wanted {
			continue
		}
		walls, cpus = append(walls, float64(run.WallNs)), append(cpus, float64(run.CPUNs()))
	}
	slices.Sort(walls)
	wall, _, err := stats.QuantileInterval(walls, 0.5, "ns")
	lost := stats.Median(cpus) * e.setting.Noise.ShareLost()
	wall.Value, wall.Lo, wall.Hi = wall.Value-lost, wall.Lo-(1+noiseError)*lost, wall.Hi-(1-noiseError)*lost
	return wall, err
}

// byHyperfine lets hyperfine measure the same.
func (e *experiment) byHyperfine(ctx context.Context, s subject, c program.Command, o *outcome) error {
	file := filepath.Join(e.folder, "hyperfine.json")
	line := c.Path
	for _, word := range c.Args {
		line += " '" + word + "'"
	}
	restore, err := machine.Pin([]int{e.cpu}) // children take it over
	if err != nil {
		return err
	}
	h := exec.CommandContext(ctx, "hyperfine", "-N", "--style=none", "--warmup=1", "--runs=5", "--export-json="+file, line)
	err = h.Start()
	if back := restore(); back != nil {
		return back
	}
	if err == nil {
		err = h.Wait()
	}
	if err != nil {
		return fmt.Errorf("hyperfine of %s: %w", s.name, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var told struct {
		Results []struct{ Mean, User, System float64 }
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return fmt.Errorf("what hyperfine wrote of %s can't be read: %w", s.name, err)
	}
	if len(told.Results) != 1 {
		return fmt.Errorf("hyperfine wrote %d results of %s, not one", len(told.Results), s.name)
	}
	r := told.Results[0]
	o.PeerWallNs, o.PeerCPUNs = 1e9*r.Mean, 1e9*(r.User+r.System)
	return nil
}
