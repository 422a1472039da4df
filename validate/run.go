package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"

	"chronoscope/machine"
	"chronoscope/remedy"
	"chronoscope/stats"
)

// Report is the result of a validation.
type Report struct {
	Outcomes []Outcome  `json:"cells"`
	Reach    []Reach    `json:"reach"`
	Coverage []Coverage `json:"coverage"`
	// AddedUp is the coverage together with that of earlier validations; nil if none were given.
	AddedUp *AddedUp `json:"added_up"`
	// Compensation says how well the subtraction of interrupts works in traced cells without
	// competitors.
	Compensation []Compensation `json:"compensation"`
	Timers       []Timer        `json:"timers"`
	Fits         []WorkFit      `json:"fits"`
	// Samples are the first samples of each cell; missing in records of versions that did not keep
	// them.
	Samples []CellSamples `json:"samples,omitempty"`
	// LeftOut says what was left out, and why.
	LeftOut []string `json:"-"`
}

// WorkFit is the fit through short runs of a work, beside the neighbours of a regime.
type WorkFit struct {
	Work Work `json:"work"`
	Regime
	Fit
}

// CellSamples are the first samples of a cell (one work of one duration, in one regime), kept for charts: the times
// of the same work by the counter and by the kernel's accounts.
type CellSamples struct {
	Work Work `json:"work"`
	Regime
	DurationNs  int64          `json:"duration_ns"` // the planned duration
	Expected    stats.Estimate `json:"expected"`    // the truth
	WallNs      []float64      `json:"wall_ns"`
	TimesNs     []stats.Float  `json:"times_ns"`
	GetrusageNs []stats.Float  `json:"getrusage_ns"`
}

// mostShown is the largest number of samples of a cell that are kept for charts.
const mostShown = 20

// shown returns the first samples of a stream.
func (s *Stream) shown() CellSamples {
	c := CellSamples{Work: s.Work, Regime: s.Regime.Named(), DurationNs: s.Duration.Nanoseconds(), Expected: s.Expected}
	for _, x := range s.Samples[:min(len(s.Samples), mostShown)] {
		c.WallNs, c.TimesNs, c.GetrusageNs = append(c.WallNs, x.WallNs), append(c.TimesNs, x.TimesNs), append(c.GetrusageNs, x.GetrusageNs)
	}
	return c
}

// withFit adds the fit of a stream to fits. An interrupted validation fits the same work beside the
// same neighbours again; withFit then keeps the fit with the greatest error.
func withFit(fits []WorkFit, s *Stream) []WorkFit {
	i := slices.IndexFunc(fits, func(f WorkFit) bool { return f.Work == s.Work && f.Regime == s.Regime })
	switch {
	case i < 0:
		return append(fits, WorkFit{s.Work, s.Regime, s.Fit})
	case s.Fit.Error > fits[i].Error:
		fits[i].Fit = s.Fit
	}
	return fits
}

// Progress says how much of a validation is done, and what it does now.
type Progress struct {
	Share float64
	Left  time.Duration
	Doing string
}

// Run measures the cells of a plan. The store keeps finished cells, so that an interrupted
// validation continues where it stopped; a nil store keeps nothing. If ctx ends, Run returns its
// error with the report of what is finished. progress may be nil.
//
// Other errors say that a process could not be started, or not on the plan's CPU.
func Run(ctx context.Context, plan Plan, m *machine.Machine, store *Store, progress func(Progress)) (*Report, error) {
	r := &Report{Outcomes: []Outcome{}, Reach: []Reach{}, Coverage: []Coverage{}, Timers: []Timer{}, Fits: []WorkFit{}}
	if err := plan.Check(); err != nil {
		return r, err
	}
	schemes, err := Choose(plan.Schemes)
	if err != nil {
		return r, err
	}
	v := &validation{plan: plan, machine: m, store: store, progress: progress, report: r, schemes: installed(schemes, r), begun: time.Now()}
	err = v.run(ctx)
	slices.SortStableFunc(r.Outcomes, func(a, b Outcome) int {
		return cmp.Or(v.rank(a)-v.rank(b), CompareRegimes(a.Regime, b.Regime))
	})
	r.Reach, r.Coverage = append(r.Reach, ReachOf(r.Outcomes)...), append(r.Coverage, CoverageOf(r.Outcomes)...)
	r.Compensation = CompensationOf(v.streams)
	if err == nil {
		v.conclude()
	}
	return r, err
}

// installed leaves out schemes whose program is not installed here, and adds that to the report.
func installed(schemes []Scheme, r *Report) []Scheme {
	return slices.DeleteFunc(schemes, func(s Scheme) bool {
		if s.Name != Hyperfine {
			return false
		}
		_, err := exec.LookPath("hyperfine")
		if err != nil {
			r.LeftOut = append(r.LeftOut, fmt.Sprintf("hyperfine is not compared: %v; install it to see how it does here", err))
		}
		return err != nil
	})
}

// validation is the state of a running validation.
type validation struct {
	plan     Plan
	machine  *machine.Machine
	store    *Store
	progress func(Progress)
	report   *Report
	schemes  []Scheme
	streams  []*Stream
	programs *programs
	begun    time.Time
	// allNs is the estimated time of all tasks, and doneNs that of the finished ones.
	allNs, doneNs float64
	finished      []string // names of cells in the store
}

// rank returns the position of the outcome's scheme among the schemes.
func (v *validation) rank(o Outcome) int {
	return slices.IndexFunc(v.schemes, func(s Scheme) bool { return s.Name == o.Scheme })
}

func (v *validation) run(ctx context.Context) error {
	tasks, left := v.plan.tasks(v.schemes)
	v.sayLeft(left)
	tasks = slices.DeleteFunc(tasks, v.restore)
	for _, t := range tasks {
		v.allNs += t.costNs
	}
	v.report.Timers = Timers()
	if slices.ContainsFunc(tasks, func(t task) bool { return t.program != "" }) {
		v.tell("how long a program's start takes")
		p, release, err := newPrograms(ctx, v.plan.CPU, v.plan.Seed, tasks)
		if err != nil {
			return err
		}
		defer release()
		v.programs = p
	}
	for _, r := range v.plan.Regimes {
		if err := v.under(ctx, r, tasks); err != nil && !v.passOver(ctx, r, err) {
			return err
		}
	}
	return ctx.Err()
}

// neighboursError says that the neighbours of a regime could not be started.
type neighboursError struct{ error }

func (e neighboursError) Unwrap() error { return e.error }

// passOver leaves out a regime whose neighbours could not be started, and reports whether it did.
// It does not if nothing else was measured.
func (v *validation) passOver(ctx context.Context, r Regime, err error) bool {
	if _, failed := errors.AsType[neighboursError](err); ctx.Err() != nil || !failed || len(v.report.Outcomes) == 0 {
		return false
	}
	v.caveat("%s is left out: %v", r, err)
	return true
}

// sayLeft adds a caveat that names the tasks that the plan leaves out, with all regimes of a task together.
func (v *validation) sayLeft(left []task) {
	var what []string
	regimes := map[string][]string{}
	for _, t := range left {
		name := fmt.Sprintf("%s of %v", t.what(), t.Duration)
		if regimes[name] == nil {
			what = append(what, name)
		}
		regimes[name] = append(regimes[name], t.Regime.String())
	}
	for i, name := range what {
		what[i] += " (" + strings.Join(regimes[name], ", ") + ")"
	}
	if len(what) > 0 {
		v.caveat("left out, as it would take too long: %s; a fuller plan has more", strings.Join(what, "; "))
	}
}

func (v *validation) caveat(format string, args ...any) {
	v.report.LeftOut = append(v.report.LeftOut, fmt.Sprintf(format, args...))
}

// stale is the age at which a finished cell is measured again, since the other programs on the machine change
// within minutes. It is twice the time of the default plan.
const stale = 15 * time.Minute

// fresh reports whether a measurement taken at this time still counts. It does not if the time is in the future, as
// after a clock was set back.
func fresh(taken time.Time) bool {
	age := time.Since(taken)
	return age >= 0 && age < stale
}

// restore takes the result of a task from the store, and reports whether it was there.
func (v *validation) restore(t task) bool {
	var w Whole
	var s Stream
	name := v.store.cellName(t, v.plan.CPU)
	from := len(v.report.Outcomes)
	switch {
	case t.program != "" && v.store.read(name, &w) == nil && fresh(w.Taken) && w.Cell == t.Cell && w.Scheme == t.program:
		v.addWhole(&w)
	case t.program == "" && v.store.read(name, &s) == nil && fresh(s.Taken) && s.Cell == t.Cell && len(s.Samples) > 0:
		v.addStream(&s)
	default:
		return false
	}
	taken := cmp.Or(w.Taken, s.Taken)
	for i := range v.report.Outcomes[from:] {
		v.report.Outcomes[from+i].Resumed = &taken
	}
	v.finished = append(v.finished, name)
	return true
}

func (v *validation) addStream(s *Stream) {
	v.streams = append(v.streams, s)
	v.report.Outcomes = append(v.report.Outcomes, outcomes(v.schemes, s)...)
	v.report.Fits = withFit(v.report.Fits, s)
	if len(s.Samples) > 0 {
		v.report.Samples = append(v.report.Samples, s.shown())
	}
}

func (v *validation) addWhole(w *Whole) {
	if text := "whole programs are this one once more, with the start and the threads of its runtime: " + w.Why; w.Why != "" && !slices.Contains(v.report.LeftOut, text) {
		v.report.LeftOut = append(v.report.LeftOut, text)
	}
	i := slices.IndexFunc(v.schemes, func(s Scheme) bool { return s.Name == w.Scheme })
	v.report.Outcomes = append(v.report.Outcomes, newOutcome(v.schemes[i], w.Cell, w.Expected, w.Answer, w.Marks))
}

// under does all tasks of one regime.
func (v *validation) under(ctx context.Context, r Regime, tasks []task) error {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return t.Regime != r })
	if len(tasks) == 0 {
		return nil
	}
	v.tell(fmt.Sprintf("%s: starting", r))
	competitors := &competition{regime: r, cpu: v.plan.CPU}
	defer competitors.stop()
	if err := competitors.renew(ctx); err != nil {
		return neighboursError{err}
	}
	lab, err := openSession(ctx, v.plan.CPU, v.opening(r))
	if err != nil {
		return err
	}
	defer lab.close()
	for _, t := range tasks {
		v.tell(t.words())
		if err := v.do(ctx, t, lab, competitors); err != nil {
			return err
		}
		v.doneNs += t.costNs
	}
	return nil
}

func (v *validation) opening(r Regime) opening {
	o := opening{Works: v.plan.Works, CPU: v.plan.CPU, Regime: r, TickHz: 100, Seed: v.plan.Seed}
	if !slices.Contains(o.Works, Chain) {
		o.Works = append([]Work{Chain}, o.Works...)
	}
	if v.machine.TickHz != nil {
		o.TickHz = *v.machine.TickHz
	}
	o.Virtual = v.machine.Virtual()
	return o
}

func (t task) words() string { return fmt.Sprintf("%s: %s, %v", t.Regime, t.what(), t.Duration) }

// what names the work, or the scheme and the kind of program that it measures.
func (t task) what() string {
	switch {
	case t.program == "":
		return string(t.Work)
	case t.Kind == Compute:
		return t.program
	}
	return fmt.Sprintf("%s (%s)", t.program, t.Kind)
}

// tell reports progress. The time left follows from how long the finished tasks took.
func (v *validation) tell(doing string) {
	if v.progress == nil {
		return
	}
	spent := float64(time.Since(v.begun))
	left := v.allNs - v.doneNs
	if v.doneNs > 0.02*v.allNs {
		left *= spent / v.doneNs
	}
	v.progress(Progress{Share: v.doneNs / math.Max(1, v.allNs), Left: time.Duration(left), Doing: doing})
}

// do does a task and keeps its result. If something goes wrong, it does the task a second time.
func (v *validation) do(ctx context.Context, t task, lab *session, competitors *competition) error {
	if t.program != "" {
		w, marks, err := retried(ctx, competitors, func() (*Whole, []string, error) {
			w, err := v.programs.measure(ctx, t, lab, competitors)
			if err != nil {
				return nil, nil, err
			}
			return w, uncertain(w.Expected), nil
		})
		if err != nil {
			return err
		}
		w.Marks = append(w.Marks, marks...)
		v.addWhole(w)
		v.keep(t, w)
		return nil
	}
	s, marks, err := retried(ctx, competitors, func() (*Stream, []string, error) {
		s, err := lab.stream(ctx, t.Cell)
		if err != nil {
			return nil, nil, err
		}
		return s, s.unsteady(), nil
	})
	if err != nil {
		return err
	}
	s.Marks = append(s.Marks, marks...)
	v.addStream(s)
	v.keep(t, s)
	return nil
}

// keep stores a finished cell. If that fails it adds a caveat, and the validation continues.
func (v *validation) keep(t task, cell any) {
	if err := v.store.write(v.store.cellName(t, v.plan.CPU), cell); err != nil {
		v.caveat("no more cells are kept, so that an interrupted validation begins anew: %v", err)
		v.store = nil
		return
	}
	v.finished = append(v.finished, v.store.cellName(t, v.plan.CPU))
}

// conclude stores the reach, and removes the finished cells from the store, since the report now
// has all of them.
func (v *validation) conclude() {
	if err := v.store.saveReach(keptOf(v.report.Outcomes)); err != nil {
		v.caveat("the reach is not kept for later: %v", err)
	}
	if err := v.store.forget(v.finished); err != nil {
		v.caveat("cells that are reported are kept still, which %s mends: %v", remedy.Of(remedy.Restart), err)
	}
}
