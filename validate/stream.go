package validate

import (
	"context"
	"time"

	"chronoscope/kbest"
	"chronoscope/stats"
)

// Cell is one experiment: a work or a kind of program, a duration, and a regime.
type Cell struct {
	Work Work `json:"work"`
	Kind Kind `json:"kind,omitempty"` // of a whole program
	Regime
	Duration time.Duration `json:"duration_ns"`
	Trials   int           `json:"trials"`
}

// Stream holds the samples of one cell, and its truth. All times are nanoseconds.
type Stream struct {
	Cell
	Taken  time.Time `json:"taken"`
	Rounds int       `json:"rounds"`
	Fit    Fit       `json:"fit"`
	// Expected is the truth: how long the rounds take if no other program runs.
	Expected stats.Estimate `json:"expected"`
	Samples  []Sample       `json:"samples"`
	// KBest is the estimate of package kbest.
	KBest Answer `json:"kbest"`
	// Empty is the time of an empty measurement, which schemes subtract.
	Empty Frame `json:"empty"`
	// TimesTickNs and GetrusageTickNs are the steps in which the accounts advance.
	TimesTickNs     float64 `json:"times_tick_ns"`
	GetrusageTickNs float64 `json:"getrusage_tick_ns"`
	// Losses are the times that interrupts took from the CPU, traced before the first stream of the
	// regime.
	Losses Losses `json:"losses"`
	// Marks say why the truth of the cell is not known.
	Marks []string `json:"marks"`
}

// Sample is one run of the work, with its time by each account. The time by an account that this
// system lacks is missing.
type Sample struct {
	WallNs         float64     `json:"wall_ns"` // by the counter
	GettimeofdayNs stats.Float `json:"gettimeofday_ns"`
	TimesNs        stats.Float `json:"times_ns"`
	GetrusageNs    stats.Float `json:"getrusage_ns"`
	CPUNs          float64     `json:"cpu_ns"`
	WaitNs         float64     `json:"runqueue_wait_ns"`
	Switches       int64       `json:"switches"`
	// LostNs is the time that interrupts took from this run, by the trace of the run; missing for
	// work that is not traced.
	LostNs stats.Float `json:"lost_ns"`
	// Around are the gaps just before and just after the work; nil for work that is not traced.
	Around *Losses `json:"around,omitempty"`
	// BeforeNs and AfterNs are the time of one round of the work's loop, as batches of rounds showed
	// just before and just after the work (their median).
	BeforeNs float64 `json:"before_ns"`
	AfterNs  float64 `json:"after_ns"`
	// LongTurn says that the thread had asked for long time slices, which the source's schemes
	// don't do.
	LongTurn bool `json:"long_turn"`
}

// Frame is the cost of the calls around the work, by each account.
type Frame struct {
	WallNs         float64 `json:"wall_ns"`
	GettimeofdayNs float64 `json:"gettimeofday_ns"`
	GetrusageNs    float64 `json:"getrusage_ns"`
}

// Answer is the estimate of a scheme for a cell.
type Answer struct {
	Estimate stats.Estimate `json:"estimate"`
	stats.Judgement
}

// lab takes streams. Its clocks and the work are functions, so that tests can run it on a simulated
// machine.
type lab struct {
	station                        *kbest.Station
	references                     map[Work]*reference
	gettimeofday, times, getrusage account
	// look traces what the CPU loses.
	look   func(context.Context) (Losses, error)
	losses Losses
	seed   uint64
}

// account is a clock of the system; read is nil if the system lacks it.
type account struct {
	read   func() int64
	unitNs float64
	// tickNs is the time between two updates of the clock.
	tickNs float64
}

func (a account) now() int64 {
	if a.read == nil {
		return 0
	}
	return a.read()
}

func (a account) since(start, end int64) stats.Float {
	if a.read == nil {
		return stats.Float{}
	}
	return stats.FloatOf(float64(end-start) * a.unitNs)
}

// raw holds the readings around one sample.
type raw struct {
	before, after                                            level
	dayStart, dayEnd, timesStart, timesEnd, useStart, useEnd int64
	lostNs                                                   float64 // NaN for work that is not traced
	around                                                   *Losses // nil for work that is not traced
	long                                                     bool
}

// recorder keeps the readings of a stream. Its memory is allocated before the first sample.
type recorder struct {
	lab       *lab
	reference *reference
	rounds    int
	batches   []float64
	now       raw
	all       []raw
	long      bool
	aroundNs  float64
	watched   Losses // the latest trace, for traced work
}

// The batches on each side of a sample take batchShare of its time, with at least fewestBatches and at
// most mostBatches. warmUps is the room for readings of trials that are left out as a warm-up.
const (
	fewestBatches, mostBatches = 4, 64
	batchShare                 = 0.01
	warmUps                    = 16
)

func (r *recorder) before() {
	r.now = raw{before: r.reference.level(r.batches), long: r.long, lostNs: nan}
	if t := r.reference.traced; t != nil {
		t.follow(r.now.before)
		if r.watched.WatchedNs == 0 {
			r.watched = r.watch(t)
		}
		t.lostNs = 0
	}
	r.now.useStart, r.now.timesStart = r.lab.getrusage.now(), r.lab.times.now()
}

func (r *recorder) after() {
	r.now.timesEnd, r.now.useEnd = r.lab.times.now(), r.lab.getrusage.now()
	if t := r.reference.traced; t != nil {
		r.now.lostNs = t.lostNs
	}
	r.now.after = r.reference.level(r.batches)
	if t := r.reference.traced; t != nil {
		t.follow(r.now.after)
		before := r.watched
		r.watched = r.watch(t)
		around := before.then(r.watched)
		r.now.around = &around
	}
	if len(r.all) < cap(r.all) {
		r.all = append(r.all, r.now)
	}
}

// watch traces what interrupts take now, without the time spent waiting for other threads.
func (r *recorder) watch(t *traced) Losses {
	waitedNs := func() (ns float64) {
		if r.lab.station.Use != nil {
			if use, err := r.lab.station.Use(); err == nil {
				ns = float64(use.WaitNs)
			}
		}
		return ns
	}
	before := waitedNs()
	losses := t.watch(r.aroundNs)
	return losses.without(waitedNs() - before)
}

func (r *recorder) run(n int) {
	for range n {
		r.now.dayStart = r.lab.gettimeofday.now()
		r.reference.do(r.rounds)
		r.now.dayEnd = r.lab.gettimeofday.now()
	}
}

// empty does what run does, but without the work.
func (r *recorder) empty(n int) {
	for range n {
		r.now.dayStart = r.lab.gettimeofday.now()
		r.now.dayEnd = r.lab.gettimeofday.now()
	}
}

// stream takes the samples of a cell.
func (l *lab) stream(ctx context.Context, c Cell) (*Stream, error) {
	ref := l.references[c.Work]
	ns := float64(c.Duration)
	rounds := max(1, int((ns-ref.fit.StartNs)/ref.fit.RoundNs))
	batches := min(mostBatches, max(fewestBatches, int(batchShare*ns/batchNs)))
	r := &recorder{lab: l, reference: ref, rounds: rounds, batches: make([]float64, batches), all: make([]raw, 0, c.Trials+warmUps), aroundNs: aroundNs(ns)}
	s := &Stream{
		Cell: c, Taken: time.Now(), Rounds: rounds, Fit: ref.fit, Empty: l.frame(r), Losses: l.losses, Marks: []string{},
		TimesTickNs: l.times.tickNs, GetrusageTickNs: l.getrusage.tickNs,
	}
	station := *l.station
	if turns := station.Turns; turns != nil {
		station.Turns = func(long bool) {
			r.long = long
			turns(long)
		}
	}
	results, err := station.Measure(ctx, l.plan(c), kbest.Subject{Name: string(c.Work), Run: r.run, Empty: r.empty, Before: r.before, After: r.after})
	if err != nil {
		return nil, err
	}
	s.take(results[0], r)
	return s, nil
}

// plan returns a plan that makes all trials, however precise the first ones are: other schemes use
// them too.
func (l *lab) plan(c Cell) kbest.Plan {
	p := kbest.DefaultPlan
	p.MaxTrials, p.MinTrials, p.Precision, p.Seed = c.Trials, c.Trials, 0, l.seed
	p.CallLimit = max(p.CallLimit, 10*c.Duration)
	p.Span = 0 // a pause would come between a sample and the readings around it
	return p
}

// take joins the samples with the readings around them. It leaves out the first trials, which are a
// warm-up.
func (s *Stream) take(result *kbest.Result, r *recorder) {
	kept := r.all[max(0, len(r.all)-len(result.Samples)):]
	var levels []level
	for i, k := range kept {
		x := result.Samples[i]
		s.Samples = append(s.Samples, Sample{
			WallNs: x.WallNs, CPUNs: float64(x.Use.CPUNs), WaitNs: float64(x.Use.WaitNs),
			Switches:       x.Use.InvoluntarySwitches + x.Use.VoluntarySwitches,
			GettimeofdayNs: r.lab.gettimeofday.since(k.dayStart, k.dayEnd),
			TimesNs:        r.lab.times.since(k.timesStart, k.timesEnd),
			GetrusageNs:    r.lab.getrusage.since(k.useStart, k.useEnd),
			BeforeNs:       k.before.middle, AfterNs: k.after.middle, LongTurn: k.long, LostNs: stats.FloatOf(k.lostNs), Around: k.around,
		})
		levels = append(levels, k.before, k.after)
	}
	s.Expected = expected(levels, s.Rounds, s.Fit)
	s.KBest = Answer{Estimate: result.Estimate, Judgement: result.Judgement}
}

// around returns the losses next to a sample if they are known, since what interrupts take changes
// from second to second; otherwise the losses from before the stream.
func (s *Stream) around(x Sample) Losses {
	if x.Around != nil {
		return *x.Around
	}
	return s.Losses
}

// emptyFrames is the number of empty measurements.
const emptyFrames = 64

// frame measures an empty measurement: the least by the clock, and the mean by the other accounts,
// which are coarse.
func (l *lab) frame(r *recorder) Frame {
	var f Frame
	c := l.station.Clock
	for i := range emptyFrames {
		r.now.useStart = l.getrusage.now()
		l.around()
		start := c.Start()
		r.empty(1)
		wall := c.Ns(c.End() - start)
		l.around()
		r.now.useEnd = l.getrusage.now()
		if i == 0 || wall < f.WallNs {
			f.WallNs = wall
		}
		f.GettimeofdayNs += float64(r.now.dayEnd-r.now.dayStart) * l.gettimeofday.unitNs / emptyFrames
		f.GetrusageNs += float64(r.now.useEnd-r.now.useStart) * l.getrusage.unitNs / emptyFrames
	}
	return f
}

// around does everything that a trial does before the clock is started and after it is stopped.
func (l *lab) around() {
	if l.station.CoreHz != nil {
		l.station.CoreHz()
	}
	if l.station.Use != nil {
		_, _ = l.station.Use()
	}
}
