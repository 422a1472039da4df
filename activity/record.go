package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/internal/stops"
	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Options say how to record. The zero value of a field selects its default.
type Options struct {
	// Duration is how long to record. The default is a second.
	Duration time.Duration
	// MostGaps is the number of gaps that ends the recording early; 0 is no limit. A trace keeps a
	// million gaps at most.
	MostGaps int
	// ThresholdNs is the step between two readings above which the thread counts as inactive. By
	// default it is found from the clock's own cost.
	ThresholdNs float64
	// Until ends the recording after a gap of at least this length. Of the time before that gap, only the last turnNs to
	// 2 turnNs are kept. 0 means never.
	Until time.Duration
	// CPU is the CPU to record on; -1 leaves the thread free to move.
	CPU int
	// Root is the root of the file system. The default is "/".
	Root fs.FS
	// TickHz is the rate of the kernel's timer tick, 0 if it is not known, and Virtual says that
	// the machine is a virtual one.
	TickHz  float64
	Virtual bool
}

// On returns the options with what a recording has to know of the machine.
func (o Options) On(m *machine.Machine) Options {
	if m.TickHz != nil {
		o.TickHz = *m.TickHz
	}
	o.Virtual = m.Virtual()
	return o
}

// These are the limits of a recording.
const (
	// LongestDuration is the longest recording without Until. It keeps a mistyped duration from
	// recording for a day.
	LongestDuration = 10 * time.Minute
	// LongestWatch is the longest time that a recording may wait for a gap.
	LongestWatch = 24 * time.Hour
	// turnNs is the least time before the awaited gap that is kept; at most twice as much is kept.
	turnNs    = 5e9
	keptGaps  = 1 << 20
	keptJoins = 1 << 18
	batchGaps = 4096
	// joinNs is the length above which a gap is worth a look at the kernel's counters, which
	// itself takes 1 to 2 µs.
	joinNs = 5e3
	// longLookNs is a duration that a look exceeds only if the thread loses its CPU during it.
	longLookNs = 20e3
	// mostLateLooks is how many looks are made after the end of the recording time if the look at
	// the last gap was interrupted. It is limited, since on some systems every look takes too long.
	mostLateLooks = 8
	// throttleNs is the least length of a gap that a throttled control group may have caused.
	throttleNs = 2e6
	// spellNs is how long the reading loop runs before it returns to Go.
	spellNs = 500e3
	// anchorNs is how often the trace's clock is compared with the kernel's.
	anchorNs = 1e9
)

// Record records the calling goroutine's thread on the clock c, whose ticks are tickNs long. If
// tickNs is 0, Record uses the clock's own unit, or measures it in 100 ms. If ctx ends, it returns
// the trace so far with ctx's error.
func Record(ctx context.Context, c *clock.Clock, tickNs float64, o Options) (*Trace, error) {
	tickNs, err := tickOf(ctx, c, tickNs)
	if err != nil {
		return nil, err
	}
	r, err := newRecorder(c, tickNs, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var cpus []int
	if o.CPU >= 0 {
		cpus = []int{o.CPU}
	}
	release, err := env.Hold(cpus...)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	stopped := stops.Begin()
	r.run(ctx)
	r.trace.continued(stopped.Count())
	return r.trace, ctx.Err()
}

// calibration is the time in which the rate of a counter is measured.
const calibration = 100 * time.Millisecond

// tickOf returns the length of a clock's tick in nanoseconds: given, unless that is 0.
func tickOf(ctx context.Context, c *clock.Clock, given float64) (float64, error) {
	if given != 0 {
		return given, nil
	}
	rated, err := env.Rate(ctx, c, calibration)
	return rated.TickNs.Value, err
}

// recorder is the state of one recording.
type recorder struct {
	clock   *clock.Clock
	options Options
	trace   *Trace
	batch   []clock.Gap
	thread  *machine.Thread // nil if the kernel has no counters
	group   *machine.Throttling

	start, last int64 // readings
	looked      machine.ThreadUse
	lookedAt    int64
	lookTook    int64 // how long the look after last took, in ticks; 0 if there was none
	pending     int   // index of the first gap whose look was interrupted, -1 for none
	moved       bool  // a look found the thread on another CPU than its own
	turn        turn  // the latest turn
	opened      turn  // the turn with which the trace begins
}

// turn is a moment at which the trace may begin, with what the kernel had counted by then.
type turn struct {
	at         int64 // reading
	interrupts machine.Interrupts
	accounts   Accounts
}

func newRecorder(c *clock.Clock, tickNs float64, o Options) (*recorder, error) {
	if !(tickNs > 0) || math.IsInf(tickNs, 1) {
		return nil, fmt.Errorf("activity: a clock whose ticks are %v ns long: give their length, or 0 to have it measured", tickNs)
	}
	longest := LongestDuration
	if o.Until > 0 {
		longest = LongestWatch
	}
	if o.Duration < 0 || o.Duration > longest {
		return nil, fmt.Errorf("activity: a duration of %v: choose one above 0 and up to %v", o.Duration, longest)
	}
	if o.Duration == 0 {
		o.Duration = time.Second
	}
	if o.Root == nil {
		o.Root = os.DirFS("/")
	}
	if o.MostGaps <= 0 {
		o.MostGaps = int(^uint(0) >> 1)
	}
	r := &recorder{clock: c, options: o, batch: make([]clock.Gap, batchGaps), pending: -1}
	r.trace = &Trace{
		Clock: c.Name, TickNs: tickNs, CPU: o.CPU,
		Gaps: make([]Gap, 0, min(keptGaps, o.MostGaps)), Joins: make([]Join, 0, min(keptJoins, o.MostGaps)),
		Kernel: Kernel{TickHz: o.TickHz, Virtual: o.Virtual},
	}
	least := LeastThreshold(c)
	switch threshold := int64(o.ThresholdNs / tickNs); {
	case o.ThresholdNs == 0:
		r.trace.Threshold = least
	case threshold < least:
		return nil, fmt.Errorf("activity: a threshold of %.4g ns: reading %s takes up to %.4g ns itself: choose that or more", o.ThresholdNs, c.Name, float64(least)*tickNs)
	default:
		r.trace.Threshold = threshold
	}
	return r, nil
}

// LeastThreshold returns the least step between two readings, in ticks, that the clock's own cost
// does not reach: four times the 99.9th percentile of its steps. It takes the least of a few tries,
// so that a disturbance of one try does not raise it.
func LeastThreshold(c *clock.Clock) int64 {
	best := int64(1) << 62
	ticks := make([]int64, 4096)
	for range 8 {
		c.Chain(0, ticks)
		var steps []int64
		for i := 1; i < len(ticks); i++ {
			steps = append(steps, ticks[i]-ticks[i-1])
		}
		slices.Sort(steps)
		best = min(best, 4*steps[len(steps)*999/1000])
	}
	return max(best, 1)
}

// prepare opens the kernel's counters, on the thread that will record.
func (r *recorder) prepare() error {
	var err error
	r.trace.Thread = threadNumber()
	if r.thread, err = machine.OpenThread(); err != nil {
		r.trace.Caveats = append(r.trace.Caveats, fmt.Sprintf("whether other threads had the CPU is not known, and neither is what the host took: %v", err))
		r.trace.Unwatched = true
	}
	r.group = machine.OpenThrottling(r.options.Root)
	counted, err := machine.ReadInterrupts(r.options.Root)
	if err != nil {
		r.trace.Caveats = append(r.trace.Caveats, fmt.Sprintf("interrupts are not counted, so that gaps are not told from those of the host: %v", err))
	}
	if r.thread != nil {
		if r.looked, err = r.thread.Look(); err != nil {
			return err
		}
		if r.trace.CPU < 0 && len(counted) > 0 {
			r.trace.Caveats = append(r.trace.Caveats, "the thread may move between CPUs, so that interrupts can't be counted for it: name a CPU")
		}
	}
	return nil
}

func (r *recorder) close() {
	if r.thread != nil {
		r.thread.Close()
	}
}

func (r *recorder) run(ctx context.Context) {
	t := r.trace
	clear(t.Gaps[:cap(t.Gaps)]) // maps its pages: otherwise the first write to each would be a page fault amid the recording
	clear(t.Joins[:cap(t.Joins)])
	collections := collectionsSoFar()
	duration := int64(float64(r.options.Duration.Nanoseconds()) / t.TickNs)
	spell := int64(spellNs / t.TickNs)
	r.opened = r.count() // counted here, since touching memory takes long enough for some interrupts
	if r.thread != nil {
		if use, err := r.thread.Look(); err == nil {
			r.looked = use // ignores what was counted during the preparation
		}
	}
	first := r.anchor()
	r.start = r.clock.Read()
	r.last, r.lookedAt, r.turn = r.start, r.start, r.opened
	r.turn.at = r.start
	end := r.start + duration
	r.keep(first)
	for more := 0; ; {
		if r.last >= end || t.LateNs > 0 || r.moved || len(t.Gaps) >= r.options.MostGaps || ctx.Err() != nil {
			if more++; more > mostLateLooks || !r.unsettled() {
				break
			}
		}
		w := clock.Watch{
			Threshold: t.Threshold,
			Long:      int64(joinNs / t.TickNs),
			Until:     min(r.last+spell, end),
		}
		n, now := r.clock.Gaps(r.last, w, r.batch[:min(batchGaps, r.options.MostGaps-len(t.Gaps))])
		if now < r.last {
			t.Caveats = append(t.Caveats, fmt.Sprintf("%s stepped back by %.4g ms, as counters do that are set anew when a machine resumes: the trace ends there", r.clock.Name, t.Ns(r.last-now)/1e6))
			break
		}
		kept := r.take(r.batch[:n])
		if r.options.Until > 0 {
			t.LateNs = r.late(t.Gaps[len(t.Gaps)-kept:])
		}
		if t.Ns(now-r.start-t.Anchors[len(t.Anchors)-1].Ticks) > anchorNs {
			r.keep(r.anchor())
		}
		between := n > 0 && r.batch[n-1].Before == r.last
		worth := w.Long
		if between {
			// This gap contains the previous look. Where looks take longer than joinNs, each would
			// otherwise be worth another look, without end.
			worth += r.lookTook
		}
		r.last, r.lookTook = now, 0
		if n > 0 && kept == n && r.batch[n-1].Ticks() > worth {
			r.join(len(t.Gaps)-1, between)
		}
		if r.options.Until > 0 && t.Ns(r.last-r.turn.at) > turnNs && t.LateNs == 0 {
			r.forget()
		}
	}
	t.Length = r.last - r.start
	r.keep(r.anchor())
	r.countInterrupts()
	t.Accounts = ReadAccounts(r.options.Root, t.CPU).Since(r.opened.accounts)
	t.Caveats = append(t.Caveats, t.Accounts.Caveats...)
	if n := collectionsSoFar() - collections; n > 0 {
		t.Caveats = append(t.Caveats, fmt.Sprintf("%d garbage collections of this process fell into the trace", n))
	}
}

// late returns the length of the longest gap of at least [Options.Until]; 0 if there is none. It
// ignores the gap that the recording itself made when it dropped old gaps.
func (r *recorder) late(gaps []Gap) (longestNs float64) {
	for _, g := range gaps {
		ns := r.trace.Ns(g.Ticks)
		if own := g.Own && r.start+g.Start <= r.turn.at+int64(joinNs/r.trace.TickNs); !own && ns >= float64(r.options.Until.Nanoseconds()) {
			longestNs = max(longestNs, ns)
		}
	}
	return longestNs
}

// count returns what the kernel has counted by now. It reads the interrupts last, since reading
// them takes long enough for some to occur.
func (r *recorder) count() turn {
	accounts := ReadAccounts(r.options.Root, r.trace.CPU)
	interrupts, err := machine.ReadInterrupts(r.options.Root)
	if err != nil {
		interrupts = nil
	}
	return turn{r.last, interrupts, accounts}
}

// forget drops what was recorded before the latest turn, so that the trace begins there, and makes
// a new turn.
func (r *recorder) forget() {
	t, cut := r.trace, r.turn.at-r.start
	n, _ := slices.BinarySearchFunc(t.Gaps, cut, func(g Gap, cut int64) int { return cmp.Compare(g.Start, cut) })
	if r.pending >= 0 {
		n = min(n, r.pending)
		r.pending -= n
	}
	gaps := t.Gaps[:0]
	for _, g := range t.Gaps[n:] {
		g.Start = max(0, g.Start-cut)
		gaps = append(gaps, g)
	}
	t.Gaps = gaps
	joins := t.Joins[:0]
	for _, j := range t.Joins {
		if j.From -= n; j.From >= 0 {
			j.Gap -= n
			joins = append(joins, j)
		}
	}
	t.Joins = joins
	var anchors []Anchor
	for i, a := range t.Anchors {
		if i+1 == len(t.Anchors) || t.Anchors[i+1].Ticks > cut {
			a.Ticks -= cut
			anchors = append(anchors, a)
		}
	}
	t.Anchors = anchors
	r.start, r.opened = r.turn.at, r.turn
	r.turn = r.count()
}

// anchor compares the trace's clock with the clock of the kernel's events. It uses the quickest of
// a few tries. Ticks in the result is a reading, not a time since the trace began.
func (r *recorder) anchor() Anchor {
	best, least := Anchor{}, int64(math.MaxInt64)
	for range 4 {
		before := r.clock.Read()
		now := tracepoint.Now()
		after := r.clock.Read()
		if after-before < least {
			best, least = Anchor{before + (after-before)/2, now}, after-before
		}
	}
	return best
}

func (r *recorder) keep(a Anchor) {
	a.Ticks -= r.start
	r.trace.Anchors = append(r.trace.Anchors, a)
}

// unsettled reports whether the look at a gap was interrupted and the trace has room for the gap that the
// interruption made. The next look accounts for both gaps; a trace that ended before it would know nothing
// about the first gap.
func (r *recorder) unsettled() bool {
	return r.pending >= 0 && len(r.trace.Gaps) < cap(r.trace.Gaps)
}

// take adds gaps to the trace and returns how many it added; gaps that don't fit are only counted. A gap that
// begins where the reading loop last ended contains the time that the recording spent in Go code. It counts as
// the recording's own, whatever else fell into it.
func (r *recorder) take(gaps []clock.Gap) (kept int) {
	t := r.trace
	for _, g := range gaps {
		if len(t.Gaps) == cap(t.Gaps) {
			t.Dropped++
			t.DroppedTicks += g.Ticks()
			continue
		}
		kept++
		t.Gaps = append(t.Gaps, Gap{Start: g.Before - r.start, Ticks: g.Ticks(), Own: g.Before == r.last})
	}
	return kept
}

// join asks the kernel what happened to the thread up to the end of the given gap, which has just ended.
// between says that the gap may have begun between two spells of the reading loop (spellNs).
func (r *recorder) join(gap int, between bool) {
	t := r.trace
	if r.thread == nil || len(t.Joins) == cap(t.Joins) {
		return
	}
	use, err := r.thread.Look()
	if err != nil {
		return
	}
	if t.CPU >= 0 && use.CPU != t.CPU && !r.moved {
		// What follows would be explained by the events and interrupts of a CPU that the thread does not have.
		r.moved = true
		t.Caveats = append(t.Caveats, fmt.Sprintf("CPU %d: its thread was moved to CPU %d after %.3g s: the CPU went offline or out of this process's cpuset; the trace ends there", t.CPU, use.CPU, t.Ns(r.last-r.start)/1e9))
	}
	took := r.clock.Read() - r.last
	if took > t.Gaps[gap].Ticks || t.Ns(took) > longLookNs {
		// The thread lost its CPU while the counters were read. That time shows as the next gap, and one join
		// accounts for both.
		if r.pending < 0 {
			r.pending = gap
		}
		return
	}
	j := Join{From: gap, Gap: gap, Use: use.Since(r.looked), Ticks: r.last - r.lookedAt, Between: between}
	if r.pending >= 0 {
		j.From, r.pending = r.pending, -1
	}
	if t.Ns(r.last-r.start-t.Gaps[j.From].Start) > throttleNs {
		j.Throttled = r.group.Throttled()
	}
	t.Joins = append(t.Joins, j)
	r.looked, r.lookedAt, r.lookTook = use, r.last, took
}

// continued sets Continued in the joins ([Join]) during which a signal had stopped the process. times is how often a
// signal continued the process, and thus the largest number of such joins. They are those in which the thread was
// blocked for longest. The reading loop itself never waits: in the other joins in which the thread gave up its CPU,
// the Go runtime made it do so.
func (t *Trace) continued(times int) {
	var slept []int
	for n, j := range t.Joins {
		if j.Use.VoluntarySwitches > 0 {
			slept = append(slept, n)
		}
	}
	slices.SortFunc(slept, func(a, b int) int {
		return cmp.Compare(t.Joins[b].awayNs(t), t.Joins[a].awayNs(t))
	})
	for _, n := range slept[:min(times, len(slept))] {
		t.Joins[n].Continued = true
	}
}

// awayNs returns how long the thread neither ran nor was runnable.
func (j Join) awayNs(t *Trace) float64 {
	return t.Ns(j.Ticks) - float64(j.Use.CPUNs) - float64(j.Use.WaitNs)
}

func (r *recorder) countInterrupts() {
	after, err := machine.ReadInterrupts(r.options.Root)
	if err != nil || r.trace.CPU < 0 {
		return
	}
	k := &r.trace.Kernel
	k.TimerInterrupts, k.OtherInterrupts, k.Known = after.Since(r.opened.interrupts, r.trace.CPU)
}

// collectionsSoFar counts this process's garbage collections.
func collectionsSoFar() int64 {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.NumGC
}

// Interrupted reports whether a recording was cut short by its context.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
