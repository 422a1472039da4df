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
	"strconv"
	"time"

	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/stats"
)

// experiment says where and how to measure.
type experiment struct {
	cpu, load, runs int
	hyperfine       bool
	maxTime         time.Duration
	until           time.Time

	setting     program.Setting
	launcher    *process.Launcher
	folder      string
	program     string // path of the subjects' program
	roundsPerMs float64
}

// open finds out about the machine, and calibrates the chain, without competitors.
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

// calibrate finds how many rounds of the chain take a millisecond.
func (e *experiment) calibrate(ctx context.Context) error {
	const many = 1e7
	c := process.Command{Path: e.program, Args: []string{"chain", strconv.Itoa(many)}, CPUs: []int{e.cpu}}
	least := math.Inf(1)
	for range 5 {
		run, err := e.noted(ctx, c)
		if err != nil {
			return err
		}
		least = math.Min(least, float64(run.WallNs))
	}
	e.roundsPerMs = many / (least / 1e6)
	return nil
}

// noted makes one run whose events the kernel records. If root calls it, the run's niceness leaves little CPU time to
// other programs.
func (e *experiment) noted(ctx context.Context, c process.Command) (process.Run, error) {
	c.Untraced, c.Events = true, true
	if os.Geteuid() == 0 {
		c.Nice = -20
	}
	run, err := e.launcher.Run(ctx, c)
	if err == nil {
		err = run.Failure()
	}
	if err == nil && run.Unwatched != nil {
		err = run.Unwatched
	}
	return run, err
}

// outcome is one measurement with its truth. Times are in nanoseconds.
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
	// PeerWallNs and PeerCPUNs are hyperfine's means; 0 if hyperfine was not asked.
	PeerWallNs float64 `json:"hyperfine_wall_ns"`
	PeerCPUNs  float64 `json:"hyperfine_user_and_system_ns"`
}

func (o outcome) covered() bool { return o.Estimate.Lo <= o.Truth.Hi && o.Estimate.Hi >= o.Truth.Lo }

// off returns how far the value lies from the truth's interval, as a share.
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

// all measures all subjects with all kinds of competitors.
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

// measure lets package program measure a subject while competitors run. Between its runs the competitors are
// paused, and a run of the subject gives the truth.
func (e *experiment) measure(ctx context.Context, s subject, kind load.Kind) (outcome, error) {
	o := outcome{Subject: s.name, Load: e.load, Kind: kind}
	c, err := e.command(s)
	if err != nil {
		return o, err
	}
	rivals, err := load.Start(ctx, e.load-1, kind, []int{e.cpu})
	if err != nil {
		return o, err
	}
	defer rivals.Stop()
	plan := program.DefaultPlan
	plan.MaxTime = e.maxTime
	if e.runs > 0 {
		plan.MinRuns, plan.MaxRuns = e.runs, e.runs
	}
	truth := truth{cpu: e.cpu, watch: e.setting.Watch}
	var refused error
	results, err := program.Measure(ctx, []program.Command{c}, plan, e.setting, func(program.Progress) {
		refused = errors.Join(refused, e.alone(ctx, c.Command, rivals, &truth))
	})
	if err = errors.Join(err, refused); err != nil {
		return o, err
	}
	for tries := 0; len(truth.lows) < fewestTruths && tries < 2*fewestTruths; tries++ {
		if err := e.alone(ctx, c.Command, rivals, &truth); err != nil {
			return o, err
		}
	}
	r := results[0]
	if r.Failure != nil {
		return o, r.Failure
	}
	if o.Truth, err = truth.estimate(); err != nil {
		return o, fmt.Errorf("%s: %w: other programs want the CPU", s.name, err)
	}
	o.Estimate, o.WallNs, o.Method, o.Verdict, o.Reasons = r.Estimate, r.Wall.Value, r.Method, r.Verdict, r.Reasons
	if e.hyperfine {
		err = e.byHyperfine(ctx, s, c, &o)
	}
	if n := rivals.Lost(); err == nil && n > 0 {
		err = fmt.Errorf("%d competitors were lost", n)
	}
	return o, err
}

// alone pauses the competitors, and makes one run that adds to the truth.
func (e *experiment) alone(ctx context.Context, c process.Command, rivals *load.Load, to *truth) error {
	if err := rivals.Pause(); err != nil {
		return err
	}
	time.Sleep(settle)
	run, err := e.noted(ctx, c)
	if err == nil {
		to.add(ctx, run)
	}
	return errors.Join(err, rivals.Resume())
}

// settle is the longest time that competitors take to stop.
const settle = 2 * time.Millisecond

// byHyperfine lets hyperfine measure the same subject.
func (e *experiment) byHyperfine(ctx context.Context, s subject, c program.Command, o *outcome) error {
	file := filepath.Join(e.folder, "hyperfine.json")
	line := c.Path
	for _, word := range c.Args {
		line += " '" + word + "'"
	}
	restore, err := machine.Pin([]int{e.cpu}) // children inherit it
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
