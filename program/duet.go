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
	"chronoscope/remedy"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Duets says whether two commands also run at the same time, on one CPU. What slows the machine then slows both, and the
// ratio of their CPU times scatters less than that of runs one after the other (see gobench, whose benchmarks run in duets,
// too). On a shared core the ratio is that on a shared core: programs that differ in what they do may lose different shares
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
	state duetState
	cpus  []int // those that both may use, used in turn
	runs  [2][]DuetRun
	// unnoted is the number of duets that do not count, since the kernel did not tell when the programs ran.
	unnoted int
	spentNs float64 // by the clock, in all duets
	// failure says why a duet failed, or why the two do not suit duets; nil if neither is so.
	failure error
	precise bool // the ratio is known well enough
	wanted  bool // one more duet is needed
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

// mostBlocked is the longest time for which a program in duets may wait for something other than a CPU, as a share of its CPU
// time. mostAtOnce is the largest share of its CPU time that it may save by threads that run at once.
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
	d.state = madeDuets
	if d.failure = m.suitPair(); d.failure != nil {
		d.state = noDuets
	}
}

// suitPair returns an error that says why the first two commands can't run in duets: both have to compute nearly all the
// time, in one thread at a time.
func (m *measurement) suitPair() error {
	first, second := &m.all[0].command, &m.all[1].command
	m.duets.cpus = commonCPUs(first.CPUs, second.CPUs)
	switch {
	case len(m.duets.cpus) == 0:
		return errors.New("they have no CPU in common, or the system does not bind programs to CPUs")
	case first.Stdin != nil && first.Stdin == second.Stdin:
		return errors.New("both read the same open file: give each an input of its own")
	case m.plan.Gated != nil && len(m.plan.Gated.Metrics) > 0:
		return errors.New("the gate has limits for other metrics than the time")
	}
	for _, s := range m.all[:2] {
		if err := s.suits(); err != nil {
			return err
		}
	}
	left := float64(m.plan.MaxTime) - (m.all[0].spentNs+m.all[1].spentNs)/2
	each := m.all[0].untracedNs() + m.all[1].untracedNs()
	if share := m.plan.Duets.share(); share*left < each/2*float64(m.fewestDuets()) {
		return fmt.Errorf("they take too long for %d duets: give more %s", m.fewestDuets(), remedy.Of(remedy.MaxTime))
	}
	return nil
}

// untracedNs returns how long a run takes by the clock, with what belongs to it. Tracing, which makes a run longer, is in it only
// if all runs were traced.
func (s *series) untracedNs() float64 {
	n, untraced, wallNs, untracedNs := float64(len(s.runs)), 0., 0., 0.
	for i := range s.runs {
		r := &s.runs[i]
		if wallNs += float64(r.WallNs); r.Untraced != nil {
			untraced, untracedNs = untraced+1, untracedNs+float64(r.WallNs)
		}
	}
	if untraced == 0 {
		return s.spentNs / n
	}
	return (s.spentNs-wallNs)/n + untracedNs/untraced
}

// share returns the share of the time that is for duets.
func (d Duets) share() float64 {
	if d == OnlyDuets {
		return 1
	}
	return 1 - ownShare
}

// suits returns an error that says why a command can't run in duets.
func (s *series) suits() error {
	if s.failure != nil || s.starved != nil || len(s.runs) == 0 {
		return fmt.Errorf("%s did not run by itself", s.command.Name)
	}
	atOnce, noted := s.atOnceShares()
	switch blocked := s.blockedShare(); {
	case !noted || math.IsNaN(blocked):
		return fmt.Errorf("the kernel does not tell when the threads of %s ran", s.command.Name)
	case blocked > mostBlocked:
		return fmt.Errorf("%s waits for something other than a CPU for %.2g times as long as it computes", s.command.Name, blocked)
	case stats.Median(atOnce) > mostAtOnce:
		return fmt.Errorf("%s has threads that run at once: its CPU time exceeds the time for which any of them ran by %.2g %% of itself", s.command.Name, 100*stats.Median(atOnce))
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

// blockedShare returns the time for which the program was blocked, as a share of its CPU time.
func (s *series) blockedShare() float64 {
	var shares []float64
	for i := range s.runs {
		if r := &s.runs[i]; !r.Rejected {
			shares = append(shares, r.BlockedNs/r.OwnCPUNs())
		}
	}
	return stats.Median(shares)
}

// atOnceShares returns, for the runs that count, the share of the CPU time by which it exceeds the time for which any
// thread had a CPU. isKnown is false if that is not known of most of them.
func (s *series) atOnceShares() (shares []float64, isKnown bool) {
	for i := range s.runs {
		if r, t := &s.runs[i], &s.runs[i].traced; !r.Rejected && r.noted {
			shares = append(shares, math.Max(0, 1-(t.wallNs-t.idleNs-t.haltedNs)/t.ranNs))
		}
	}
	return shares, 2*len(shares) > s.counted()
}

// hasDuets reports whether a command runs in duets.
func (m *measurement) hasDuets(s *series) bool {
	return m.duets.state == madeDuets && slices.Contains(m.all[:2], s)
}

// fewestDuets is the number of duets without which the commands are compared by their runs one after the other. Until there are
// that many, a gate looks at neither. With OnlyDuets one is enough, as the caller collects those of several measurements.
func (m *measurement) fewestDuets() int {
	gated := m.plan.Gated
	switch {
	case m.plan.Duets == OnlyDuets:
		return 1
	case gated != nil && !math.IsNaN(gated.Limit):
		return max(fewestChosen, gated.LooksFor(len(gated.Pairs)).First)
	}
	return fewestChosen
}

// withDuets enters the duets of a command into its result, if there are enough.
func (m *measurement) withDuets(s *series, r *Result) *Result {
	if m.hasDuets(s) && len(m.duets.runs[0]) >= m.fewestDuets() {
		m.enterDuets(s, r)
	}
	r.noDuets = m.duets.failure
	return r
}

// enterDuets enters the duets of a command into its result.
func (m *measurement) enterDuets(s *series, r *Result) {
	r.Duets = m.duets.runs[slices.Index(m.all[:2], s)]
	r.atOnce, _ = s.atOnceShares()
}

// spentOn returns the time that a command took, alone and in duets.
func (m *measurement) spentOn(s *series) time.Duration {
	if m.hasDuets(s) {
		return time.Duration(s.spentNs + m.duets.spentNs/2)
	}
	return time.Duration(s.spentNs)
}

// wantsDuet reports whether one more duet is needed.
func (m *measurement) wantsDuet() bool {
	d := &m.duets
	if d.state != madeDuets || d.failure != nil {
		return false
	}
	first, second := m.all[0], m.all[1]
	if first.failure != nil || first.starved != nil || second.failure != nil || second.starved != nil {
		return false
	}
	n, spent, limits := len(d.runs[0]), (m.spentOn(first)+m.spentOn(second))/2, m.plan.limits()
	if limits.Ended(n, spent) {
		return false
	}
	d.precise = d.precise || n >= m.fewestDuets() && limits.Enough(n, spent, func() float64 {
		c := Compare(m.concluded(first), m.concluded(second), 2*m.plan.Precision, m.plan.Seed)
		return c.Ratio.RelativeHalfWidth()
	})
	return !d.precise || first.open || second.open
}

// leavesTime reports whether a command has run by itself for its share of the time, which duets still need. One that may
// work until some time runs by itself as often as in duets, as only that tells whether it does.
func (m *measurement) leavesTime(s *series) bool {
	return m.hasDuets(s) && m.duets.wanted && s.spentNs > ownShare*float64(m.spentOn(s)) && !(s.mayWorkUntil() && s.counted() < len(m.duets.runs[0]))
}

// mayWorkUntil reports whether the program may work until some time: it looks at clocks, at how busy the machine is, or
// waits until some time.
func (s *series) mayWorkUntil() bool { return s.looksAtClock || s.busyTold || s.timedWaits > 0 }

// duet makes one more duet. If a command fails in it, perhaps because both use the same file or port, the measurement makes
// no more duets. If there are too few, it goes on without.
func (m *measurement) duet(ctx context.Context) error {
	d := &m.duets
	began := m.clock()
	runs, err := m.together(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	d.spentNs += float64(m.clock().Sub(began))
	switch {
	case runs[0].Continued+runs[1].Continued > 0: // this process was stopped meanwhile
	case err != nil:
		d.failure = fmt.Errorf("when both ran at the same time, %w", err)
	case runs[0].noted && runs[1].noted && !math.IsNaN(runs[0].BlockedNs+runs[1].BlockedNs):
		for i, r := range runs {
			d.runs[i] = append(d.runs[i], DuetRun{CPUNs: r.OwnCPUNs(), BlockedNs: r.BlockedNs})
		}
		if d.failure = m.worksUntil(); d.failure != nil {
			m.dropDuets()
		}
	default:
		if d.unnoted++; d.unnoted > fewestChosen+len(d.runs[0]) {
			d.failure = errors.New("when both ran at the same time, the kernel did not tell when")
		}
	}
	if d.failure != nil && len(d.runs[0]) < m.fewestDuets() {
		m.dropDuets()
	}
	for i := range m.all[:2] {
		m.tell(i)
	}
	return nil
}

// dropDuets lets the commands go on without duets.
func (m *measurement) dropDuets() {
	m.duets.state, m.duets.runs = noDuets, [2][]DuetRun{}
	for _, s := range m.all[:2] {
		s.done, s.closed = false, false
	}
}

// leastOfOwn is the share of its least CPU time by itself that a program which looks at clocks has to use in duets.
const leastOfOwn = 0.95

// worksUntil returns an error if a program looks at clocks and used less CPU time in duets than in any run by itself, or if the
// two ratios contradict each other. Such a program may work until a fixed time, and in a duet it has only half of the CPU
// until then. The more duets there are, the more rarely this is checked.
func (m *measurement) worksUntil() error {
	for i, s := range m.all[:2] {
		duets := m.duets.runs[i]
		if !s.mayWorkUntil() || !repeat.Due(len(duets), fewestChosen, 2) {
			continue
		}
		least := math.Inf(1)
		for j := range s.runs {
			if r := &s.runs[j]; !r.Rejected {
				least = math.Min(least, r.OwnCPUNs())
			}
		}
		var inDuets []float64
		for _, r := range duets {
			inDuets = append(inDuets, r.CPUNs)
		}
		if stats.Median(inDuets) < leastOfOwn*least || m.contradict() {
			return fmt.Errorf("%s looks at clocks, and does less if another program has its CPU, too", s.command.Name)
		}
	}
	return nil
}

// contradict reports whether the intervals of the ratio by duets and of that by runs one after the other do not overlap.
func (m *measurement) contradict() bool {
	a, b := conclude(m.all[0], m.plan, m.setting, m.checks), conclude(m.all[1], m.plan, m.setting, m.checks)
	one, _ := pairs(a, b)
	m.enterDuets(m.all[0], a)
	m.enterDuets(m.all[1], b)
	both := duetPairs(a, b)
	apart, at := stats.MedianOrRange(one.Logs(), ""), stats.MedianOrRange(both.Logs(), "")
	return one.Len() >= fewestChosen && (at.Lo > apart.Hi || at.Hi < apart.Lo)
}

// together runs both commands at the same time. Which one starts first is drawn at random.
func (m *measurement) together(ctx context.Context) (shown [2]Run, err error) {
	order, d := m.rng.Perm(2), &m.duets
	cpu := d.cpus[(len(d.runs[0])+d.unnoted)%len(d.cpus)]
	limited, end := context.WithCancelCause(ctx)
	defer end(nil)
	if first, second := m.all[0].command.Timeout, m.all[1].command.Timeout; first > 0 && second > 0 { // each has half of the CPU
		var cancel func()
		limited, cancel = context.WithTimeoutCause(limited, 2*max(first, second), errTimeout)
		defer cancel()
	}
	var both [2]Command
	for place, i := range order {
		c := m.all[i].command
		c.CPUs = []int{cpu}
		both[place] = c.watched(m.endStarved(limited, float64(m.spentOn(m.all[i])), end))
		if _, err := c.prepare(ctx); err != nil {
			for _, prepared := range both[:place] {
				prepared.conclude(ctx)
			}
			return shown, withoutRemedy(err)
		}
	}
	runs, errs := m.runTogether(limited, both)
	for place, i := range order {
		c, r := both[place], &runs[place]
		failed := errs[place]
		if cause := context.Cause(limited); failed != nil && cause != nil && ctx.Err() == nil {
			failed = cause
		}
		if failed = c.failure(r.Run, failed); failed != nil && !m.failsAlone(m.all[i], *r, errs[place]) {
			err = cmp.Or(err, withoutRemedy(failed))
		}
		if ctx.Err() == nil {
			_, after := c.conclude(ctx)
			err = cmp.Or(err, withoutRemedy(after))
		}
		r.traced, r.noted = follow(ctx, &r.Run, 1, math.Inf(1), wakeupEvents{})
		r.bound(1)
		shown[i] = *r
	}
	return shown, err
}

// failsAlone reports whether the plan ignores the failure of a run in a duet, and the command failed alike by itself.
func (m *measurement) failsAlone(s *series, run Run, err error) bool {
	return err == nil && m.plan.ignores(run) && slices.ContainsFunc(s.runs, func(own Run) bool {
		return own.ExitCode == run.ExitCode && own.Signal == run.Signal
	})
}

// withoutRemedy returns the error of a command without its advice.
func withoutRemedy(err error) error {
	if failed, ok := errors.AsType[*FailedError](err); ok {
		return errors.New(failed.withoutRemedy())
	}
	return err
}

// duetPairs returns the pairs of CPU times of duets, with bounds: upwards by the time for which the program waited for something
// other than a CPU, downwards by what its threads save if they have several CPUs. As far as that is the same for both, it
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

// atOnce returns the shares of the CPU times that two commands save by threads which run at once, when they run by themselves.
// If their intervals overlap, both get the mean.
func atOnce(first, second []float64) (then, now float64) {
	a, b := stats.MedianOrRange(first, ""), stats.MedianOrRange(second, "")
	if a.Lo <= b.Hi && b.Lo <= a.Hi {
		return (a.Value + b.Value) / 2, (a.Value + b.Value) / 2
	}
	return a.Value, b.Value
}
