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
	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Options say how to record. The zero value of a field chooses its default.
type Options struct {
	// Duration is how long to record: a second.
	Duration time.Duration
	// MostGaps ends the recording early; a million are kept in any case.
	MostGaps int
	// ThresholdNs is the step between two readings from which on the thread
	// counts as inactive: found from the clock's own cost.
	ThresholdNs float64
	// Until ends the recording after a gap that is as long; of what was before, the last turns are kept. 0 is
	// never.
	Until time.Duration
	// CPU is where to record; -1 for wherever the thread happens to be.
	CPU int
	// Root is the root of the file system: "/".
	Root fs.FS
	// TickHz is the rate of the kernel's timer tick, 0 where it is not known, and
	// Virtual says that the machine is a virtual one.
	TickHz  float64
	Virtual bool
}

// Limits of a recording.
const (
	// LongestDuration keeps a slip of the pen from recording for a day.
	LongestDuration = 10 * time.Minute
	// LongestWatch is the longest that a recording may wait for a gap.
	LongestWatch = 24 * time.Hour
	// turnNs is how long is kept at least before such a gap, and at most twice that.
	turnNs    = 5e9
	keptGaps  = 1 << 20
	keptJoins = 1 << 18
	batchGaps = 4096
	// joinNs is the length from which on a gap is worth a look at the kernel's
	// counters, which itself takes 1 to 2 µs.
	joinNs = 5e3
	// longLookNs is what a look takes only where the thread loses its CPU meanwhile.
	longLookNs = 20e3
	// mostLateLooks are made where the last gap's was interrupted, after the time
	// is over: on a system whose looks always take long none will do.
	mostLateLooks = 8
	// throttleNs is the length from which on a gap may be a throttled group's.
	throttleNs = 2e6
	// spellNs is how long the reading loop holds its thread.
	spellNs = 500e3
	// anchorNs is how often the trace's clock is compared with the kernel's.
	anchorNs = 1e9
)

// Record records the calling goroutine's thread on a clock whose ticks are tickNs long. If tickNs is
// 0, it takes the clock's own unit, or measures it in 100 ms. If ctx ends, it returns the trace so
// far with ctx's error.
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
	continued := watchContinuations()
	r.run(ctx)
	r.trace.continued(continued.count())
	return r.trace, ctx.Err()
}

// calibration is how long the rate of a counter is measured.
const calibration = 100 * time.Millisecond

// tickOf is the length of a clock's tick in nanoseconds, if the caller gave none.
func tickOf(ctx context.Context, c *clock.Clock, given float64) (float64, error) {
	if given != 0 {
		return given, nil
	}
	rated, err := env.Rate(ctx, c, calibration)
	return rated.TickNs.Value, err
}

// recorder is one recording.
type recorder struct {
	clock   *clock.Clock
	options Options
	trace   *Trace
	batch   []clock.Gap
	thread  *machine.Thread // nil where the kernel does not tell
	group   *machine.Throttling

	start, last int64 // readings
	looked      machine.ThreadUse
	lookedAt    int64
	pending     int  // the first gap whose look was interrupted, -1 for none
	turn        turn // the last one
	opened      turn // the first of the trace
}

// turn is a moment that the trace may begin with.
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

// LeastThreshold returns the least step between two readings, in ticks, that the clock's
// own cost does not reach: four times the 99.9th percentile of its steps. Of a few tries
// the least counts, so that a disturbance of one does not raise it.
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

// prepare opens what the kernel tells, on the thread that will record.
func (r *recorder) prepare() error {
	var err error
	r.trace.Thread = threadNumber()
	if r.thread, err = machine.OpenThread(); err != nil {
		r.trace.Caveats = append(r.trace.Caveats, fmt.Sprintf("whether other threads had the CPU is not known, and neither is what the host took: %v; mount it (mount -t proc proc /proc), or allow it to be read", err))
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

// run records until the time is over.
func (r *recorder) run(ctx context.Context) {
	t := r.trace
	touch(t.Gaps[:cap(t.Gaps)])
	touch(t.Joins[:cap(t.Joins)])
	collections := collectionsSoFar()
	duration := int64(float64(r.options.Duration.Nanoseconds()) / t.TickNs)
	spell := int64(spellNs / t.TickNs)
	r.opened = r.count() // now, since touching memory takes long enough for some interrupts
	if r.thread != nil {
		if use, err := r.thread.Look(); err == nil {
			r.looked = use // what was counted while the trace was prepared is not the trace's
		}
	}
	first := r.anchor()
	r.start = r.clock.Read()
	r.last, r.lookedAt, r.turn = r.start, r.start, r.opened
	r.turn.at = r.start
	end := r.start + duration
	r.keep(first)
	for more := 0; ; {
		if r.last >= end || t.LateNs > 0 || len(t.Gaps) >= r.options.MostGaps || ctx.Err() != nil {
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
		r.last = now
		if n > 0 && kept == n && r.batch[n-1].Ticks() > w.Long {
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

// late is the longest of the gaps that took as long as the recording waits for; 0 if none did. A gap in which
// the recording forgot what it need not keep is its own.
func (r *recorder) late(gaps []Gap) (longestNs float64) {
	for _, g := range gaps {
		ns := r.trace.Ns(g.Ticks)
		if own := g.Own && r.start+g.Start <= r.turn.at+int64(joinNs/r.trace.TickNs); !own && ns >= float64(r.options.Until.Nanoseconds()) {
			longestNs = max(longestNs, ns)
		}
	}
	return longestNs
}

// count is what the kernel has counted by now: its interrupts last, since reading them takes long enough for some.
func (r *recorder) count() turn {
	accounts := ReadAccounts(r.options.Root, r.trace.CPU)
	interrupts, err := machine.ReadInterrupts(r.options.Root)
	if err != nil {
		interrupts = nil
	}
	return turn{r.last, interrupts, accounts}
}

// forget has the trace begin with the last turn, and makes another.
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

// anchor compares the trace's clock with that of the kernel's events. The quickest of a few tries counts.
// Its Ticks are a reading.
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

// keep adds an anchor to the trace.
func (r *recorder) keep(a Anchor) {
	a.Ticks -= r.start
	r.trace.Anchors = append(r.trace.Anchors, a)
}

// unsettled reports that the look after a gap was interrupted, and that there is
// room for the gap which that made: the look after it accounts for both. A trace
// that ended here would know nothing of the one before.
func (r *recorder) unsettled() bool {
	return r.pending >= 0 && len(r.trace.Gaps) < cap(r.trace.Gaps)
}

// touch writes to all of a slice, so that its pages are there: the first write
// to each would be a page fault in the middle of the recording.
func touch[T any](s []T) {
	var zero T
	for i := range s {
		s[i] = zero
	}
}

// take keeps gaps. A gap that begins where the loop last ended holds the way
// through Go in between, and is the recording's own, whatever else fell into it.
// Those that don't fit are counted, and it returns how many did.
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

// join asks the kernel what happened up to the gap that has just ended, and that
// may have begun between two spells.
func (r *recorder) join(gap int, between bool) {
	t := r.trace
	if r.thread == nil || len(t.Joins) == cap(t.Joins) {
		return
	}
	use, err := r.thread.Look()
	if err != nil {
		return
	}
	if took := r.clock.Read() - r.last; took > t.Gaps[gap].Ticks || t.Ns(took) > longLookNs {
		// The thread lost its CPU during the look, which is the next gap's: one join
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
	r.looked, r.lookedAt = use, r.last
}

// continued marks the joins in which the process was stopped, given how often it
// was continued: those that slept longest. The loop waits for nothing, so that
// others gave up the CPU for the Go runtime.
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

// awayNs is how long the thread neither ran nor could have run.
func (j Join) awayNs(t *Trace) float64 {
	return t.Ns(j.Ticks) - float64(j.Use.CPUNs) - float64(j.Use.WaitNs)
}

// countInterrupts takes what the kernel counted on the trace's CPU.
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

// Interrupted reports that a recording was cut short by its context.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
