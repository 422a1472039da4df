package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/cprogram"
	"chronoscope/bench/internal/peer"
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
	if e.program, err = cprogram.Compile(ctx, e.folder, source); err == nil {
		e.roundsPerMs, err = cprogram.Calibrate(func(rounds int) (int64, error) {
			run, err := e.noted(ctx, process.Command{Path: e.program, Args: []string{"chain", strconv.Itoa(rounds)}, CPUs: []int{e.cpu}})
			return run.WallNs, err
		})
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
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

func (o outcome) covered() bool { return cprogram.Covers(o.Estimate, o.Truth) }

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
	truth := truth{cpu: e.cpu, losses: cprogram.Losses{Watch: e.setting.Watch}}
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
	return o, errors.Join(err, command.Lost(ctx, rivals))
}

// alone pauses the competitors, and makes one run that adds to the truth.
func (e *experiment) alone(ctx context.Context, c process.Command, rivals *load.Load, to *truth) error {
	return cprogram.Alone(rivals, func() error {
		run, err := e.noted(ctx, c)
		if err == nil {
			to.add(ctx, run)
		}
		return err
	})
}

// byHyperfine lets hyperfine measure the same subject.
func (e *experiment) byHyperfine(ctx context.Context, s subject, c program.Command, o *outcome) error {
	line := c.Path
	for _, word := range c.Args {
		line += " '" + word + "'"
	}
	restore, err := machine.Pin([]int{e.cpu}) // children inherit it
	if err != nil {
		return err
	}
	r, err := peer.Hyperfine(ctx, "-N", "--warmup=1", "--runs=5", line)
	if err = errors.Join(err, restore()); err != nil {
		return fmt.Errorf("hyperfine of %s: %w", s.name, err)
	}
	o.PeerWallNs, o.PeerCPUNs = 1e9*r.Mean, 1e9*(r.User+r.System)
	return nil
}
