// Package cprogram has what experiments on programs of known length have in common: the program in C, the truth from runs while
// competitors are paused, and what is counted of a result.
package cprogram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Compile compiles a program in C, in a folder, and returns its path.
func Compile(ctx context.Context, folder string, source []byte, flags ...string) (string, error) {
	text, file := filepath.Join(folder, "subject.c"), filepath.Join(folder, "subject")
	if err := os.WriteFile(text, source, 0o600); err != nil {
		return "", err
	}
	if told, err := exec.CommandContext(ctx, "cc", append(flags, "-O2", "-o", file, text)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %w: install a C compiler: %s", err, told)
	}
	return file, nil
}

// Calibrate returns how many rounds of work take a millisecond, by the shortest of five runs. run returns the time of some rounds.
func Calibrate(run func(rounds int) (ns int64, err error)) (roundsPerMs float64, err error) {
	const many = 10_000_000
	least := int64(math.MaxInt64)
	for range 5 {
		ns, err := run(many)
		if err != nil {
			return 0, err
		}
		least = min(least, ns)
	}
	return many / (float64(least) / 1e6), nil
}

// Alone calls a function while competitors are paused.
func Alone(competitors *load.Load, run func() error) error {
	if err := competitors.Pause(); err != nil {
		return err
	}
	time.Sleep(settle)
	return errors.Join(run(), competitors.Resume())
}

// settle is the longest time that competitors take to stop.
const settle = 2 * time.Millisecond

// Losses adds up what interrupts and a hypervisor take from CPUs that nothing else uses. Its zero value without Watch loses nothing.
type Losses struct {
	Watch func(context.Context, time.Duration) machine.Noise // of the caller's CPU

	lostNs, watchedNs float64
	looks             int
	at                time.Time
}

const (
	// watching is how long a CPU is watched at a time, watchAfter the pause until the next time.
	watching, watchAfter = 25 * time.Millisecond, 250 * time.Millisecond
	// differs is how much the losses of runs may differ from those watched, as a share.
	differs = 0.3
)

// Look watches one of the CPUs for a moment, the next one each time, unless the last time was a moment ago.
func (l *Losses) Look(ctx context.Context, cpus ...int) {
	if l.Watch == nil || time.Since(l.at) < watchAfter {
		return
	}
	restore, err := machine.Pin([]int{cpus[l.looks%len(cpus)]})
	l.looks++
	if err != nil {
		return
	}
	noise := l.Watch(ctx, watching)
	_ = restore()
	l.lostNs, l.watchedNs = l.lostNs+noise.LostShare*noise.WatchedNs, l.watchedNs+noise.WatchedNs
	l.at = time.Now()
}

// Share returns the share of a CPU's time that was lost, and the least and the largest that runs may have lost; zeros if no CPU was
// watched.
func (l *Losses) Share() (share, least, most float64) {
	if l.watchedNs > 0 {
		share = l.lostNs / l.watchedNs
	}
	return share, (1 - differs) * share, (1 + differs) * share
}

// Covers reports whether the intervals of an estimate and of the truth overlap.
func Covers(e, truth stats.Estimate) bool { return e.Lo <= truth.Hi && e.Hi >= truth.Lo }

// IsWrong reports whether a trusted estimate is wrong: its value lies outside of the truth's interval by more than 1 % and two
// half-widths.
func IsWrong(e, truth stats.Estimate) bool {
	off := math.Max(e.Value-truth.Hi, truth.Lo-e.Value)
	return off > 0.01*truth.Value && off > 2*e.HalfWidth()
}
