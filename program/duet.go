package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Duets says whether two commands also run at the same time, on one CPU. What slows the machine then slows both, and the
// ratio of their CPU times scatters less than that of runs one after the other (see gobench, whose benchmarks run in duets,
// too). On a core that others share, it is the ratio there: programs that differ in what they do may lose different shares
// of their time to a neighbour, two builds of one program lose about the same.
type Duets uint8

// The choices. With AlsoDuets each command runs by itself, too, for its own time. With OnlyDuets it does so only a few
// times, to see whether the two suit duets.
const (
	NoDuets Duets = iota
	AlsoDuets
	OnlyDuets
)

// DuetRun is one run of a command at the same time as the other one.
type DuetRun struct {
	// CPUNs is its CPU time from the exec on. BlockedNs is the time for which it waited for something other than a CPU.
	CPUNs     float64 `json:"cpu_ns"`
	BlockedNs float64 `json:"blocked_ns"`
}

// duets are the duets of the first two commands of a measurement.
type duets struct {
	state   duetState
	cpus    []int // those that both may use, used in turn
	made    int
	spentNs float64 // of both, without their runs by themselves
	// failure says why a duet failed, or why the two do not suit duets.
	failure error
	precise bool
}

type duetState uint8

const (
	undecidedDuets duetState = iota // too few runs by themselves so far
	madeDuets
	noDuets
)

// fewestOwn is the number of runs by itself that show whether a command suits duets. ownShare is the largest share of its
// time for which a command goes on to run by itself.
const fewestOwn, ownShare = 3, 0.5

// mostBlocked and mostAtOnce are the largest shares of the CPU time for which a program in duets may wait for something
// other than a CPU, and have threads that run at the same time on several CPUs.
const mostBlocked, mostAtOnce = 0.1, 0.3

// chooseDuets decides once, before a gate looks at the runs, whether there are duets.
func (m *measurement) chooseDuets() {
	d := &m.duets
	if m.plan.Duets == NoDuets || d.state != undecidedDuets {
		return
	}
	for _, s := range m.all[:2] {
		if s.counted() < fewestOwn && !m.spent(s) {
			return
		}
	}
	if d.failure = m.suitDuets(); d.failure != nil {
		d.state = noDuets
		return
	}
	d.state = madeDuets
}

// suitDuets returns an error that says why the first two commands can't run in duets: both have to compute nearly all the
// time, in one thread at a time.
func (m *measurement) suitDuets() error {
	first, second := m.all[0].command, m.all[1].command
	if m.duets.cpus = commonCPUs(first.CPUs, second.CPUs); len(m.duets.cpus) == 0 {
		return errors.New("they have no CPU in common, or the system does not bind programs to CPUs")
	}
	for _, s := range m.all[:2] {
		if s.failure != nil || s.starved != nil {
			return fmt.Errorf("%s did not run by itself", s.command.Name)
		}
		switch blocked, atOnce := s.blockedShare(), s.atOnceShares(); {
		case math.IsNaN(blocked) || len(atOnce) == 0:
			return fmt.Errorf("the kernel does not tell when the threads of %s ran", s.command.Name)
		case blocked > mostBlocked:
			return fmt.Errorf("%s waits for something other than a CPU for %.2g times as long as it computes", s.command.Name, blocked)
		case stats.Median(atOnce) > mostAtOnce:
			return fmt.Errorf("%s has several CPUs at once for %.2g %% of its CPU time", s.command.Name, 100*stats.Median(atOnce))
		}
	}
	return nil
}

// commonCPUs returns the CPUs of this process that are in both lists, where an empty list stands for all.
func commonCPUs(first, second []int) []int {
	cpus, err := machine.Affinity()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(cpus, func(cpu int) bool {
		return len(first) > 0 && !slices.Contains(first, cpu) || len(second) > 0 && !slices.Contains(second, cpu)
	})
}

// blockedShare returns the time for which the program was blocked, as a share of its CPU time; NaN if unknown.
func (s *series) blockedShare() float64 {
	var shares []float64
	for i := range s.runs {
		if r := &s.runs[i]; !r.Rejected {
			shares = append(shares, r.BlockedNs/r.ownCPUNs())
		}
	}
	return stats.Median(shares)
}

// atOnceShares returns, for each run that counts, the share of the CPU time by which it exceeds the time for which any
// thread had a CPU; nil if that is unknown.
func (s *series) atOnceShares() (shares []float64) {
	for i := range s.runs {
		switch r, t := &s.runs[i], &s.runs[i].traced; {
		case r.Rejected:
		case r.noted:
			shares = append(shares, math.Max(0, 1-(t.wallNs-t.idleNs-t.haltedNs)/t.ranNs))
		case math.IsNaN(r.BlockedNs): // known without events only of programs with one thread
			return nil
		default:
			shares = append(shares, 0)
		}
	}
	return shares
}

// hasDuets reports whether a command runs in duets.
func (m *measurement) hasDuets(s *series) bool {
	return m.duets.state == madeDuets && slices.Contains(m.all[:2], s)
}

// withDuets enters the duets of a command into its result.
func (m *measurement) withDuets(s *series, r *Result) *Result {
	if m.hasDuets(s) {
		r.inDuets, r.Duets, r.atOnce = true, s.duets, s.atOnceShares()
	}
	r.noDuets = m.duets.failure
	return r
}

// wantsDuet reports whether one more duet is needed.
func (m *measurement) wantsDuet() bool {
	d := &m.duets
	if d.state != madeDuets {
		return false
	}
	spent := time.Duration(d.spentNs+m.all[0].spentNs+m.all[1].spentNs) / 2
	limits := m.plan.limits()
	if d.failure != nil || limits.Ended(d.made, spent) {
		return false
	}
	d.precise = d.precise || limits.Enough(d.made, spent, func() float64 {
		c := Compare(m.concluded(m.all[0]), m.concluded(m.all[1]), 2*m.plan.Precision, m.plan.Seed)
		return c.Ratio.RelativeHalfWidth()
	})
	return !d.precise || m.all[0].open || m.all[1].open
}

// ownEnough reports whether a command with duets needs no more runs by itself.
func (m *measurement) ownEnough(s *series) bool {
	return m.hasDuets(s) && (m.plan.Duets == OnlyDuets || s.counted() >= m.plan.MinRuns && s.spentNs > ownShare*float64(m.plan.MaxTime))
}

// duet makes one more duet. If a command fails in it, perhaps because both use the same file or port, the measurement goes on
// without duets, or ends with those that it has if there are enough for a comparison.
func (m *measurement) duet(ctx context.Context) error {
	d := &m.duets
	began := time.Now()
	runs, err := m.together(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	d.spentNs += float64(time.Since(began).Nanoseconds())
	if err != nil {
		var failed *FailedError
		if errors.As(err, &failed) {
			err = errors.New(failed.withoutRemedy())
		}
		d.failure = fmt.Errorf("when both ran at the same time, %w", err)
		if d.made < fewestChosen {
			d.state = noDuets
		}
		return nil
	}
	d.made++
	for i, s := range m.all[:2] {
		s.duets = append(s.duets, runs[i])
		m.tell(i)
	}
	return nil
}

// together runs both commands at the same time. Which one starts first is drawn at random.
func (m *measurement) together(ctx context.Context) (shown [2]DuetRun, err error) {
	order, cpu := m.rng.Perm(2), m.duets.cpus[m.duets.made%len(m.duets.cpus)]
	var both [2]Command
	limit := 2 * max(m.all[0].command.Timeout, m.all[1].command.Timeout) // each has half of the CPU
	for place, i := range order {
		both[place] = m.all[i].command
		both[place].CPUs = []int{cpu}
		if _, err := both[place].prepare(ctx); err != nil {
			return shown, err
		}
	}
	limited, cancel := ctx, func() {}
	if limit > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
	}
	runs, errs := m.runTogether(limited, both)
	var ended error
	if ctx.Err() == nil {
		ended = context.Cause(limited)
	}
	cancel()
	for place, i := range order {
		c, r := both[place], &runs[place]
		if failed := c.failure(r.Run, cmp.Or(ended, errs[place])); failed != nil && !m.plan.ignores(*r) {
			err = cmp.Or(err, failed)
		}
		if ctx.Err() == nil {
			_, after := c.conclude(ctx)
			err = cmp.Or(err, after)
		}
		shown[i] = duetRunOf(ctx, r)
	}
	return shown, err
}

// duetRunOf returns what counts of a run in a duet.
func duetRunOf(ctx context.Context, r *Run) DuetRun {
	r.traced, r.noted = follow(ctx, &r.Run, 1, math.Inf(1), wakeupEvents{})
	r.bound(1)
	return DuetRun{CPUNs: r.ownCPUNs(), BlockedNs: known(r.BlockedNs)}
}

// duetPairs returns the pairs of CPU times of duets. A time is longer if the program also waited for something other than
// a CPU, and shorter if several of its threads run at once when it has more CPUs. As far as that is the same for both, it
// cancels.
func duetPairs(a, b *Result) (pairs stats.Pairs) {
	bounded := func(r DuetRun, atOnce float64) stats.Bounded {
		return stats.Bounded{Lo: r.CPUNs * (1 - atOnce), Mid: r.CPUNs, Hi: r.CPUNs + r.BlockedNs}
	}
	var first, second []stats.Bounded
	then, now := atOnce(a.atOnce, b.atOnce)
	for i := range min(len(a.Duets), len(b.Duets)) {
		first, second = append(first, bounded(a.Duets[i], then)), append(second, bounded(b.Duets[i], now))
	}
	pairs.AddAlike(first, second)
	return pairs
}

// atOnce returns the shares of the CPU times of two commands for which several of their threads ran at once, when they ran by
// themselves. If both may have the same share, it is the mean.
func atOnce(first, second []float64) (then, now float64) {
	a, b := stats.MedianOrRange(first, ""), stats.MedianOrRange(second, "")
	if a.Lo <= b.Hi && b.Lo <= a.Hi {
		return (a.Value + b.Value) / 2, (a.Value + b.Value) / 2
	}
	return a.Value, b.Value
}
