package bytecode

import (
	"fmt"
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Result computes the estimates from the measurements.
func (s *Series) Result() *Result {
	e := newEvaluation(s)
	r := &Result{
		Java: s.Java, Mode: s.Mode, Length: s.Length, TickNs: s.TickNs, TSCHz: s.TSCHz, CountNs: e.countNs(),
		Overhead: map[Method]stats.Estimate{}, Starts: len(s.Starts), Slow: e.slow,
		Elapsed: time.Duration(s.ElapsedNs), Unused: s.Unused, Series: s, Judgement: stats.NewJudgement(),
	}
	for i := range s.Starts {
		r.Stretches += len(s.Starts[i].Stretches)
	}
	for _, m := range Methods() {
		if e.measures(m) {
			r.Overhead[m] = e.trial(emptyName, e.sourceOf(m))
		}
	}
	for _, mnemonic := range s.Instructions {
		in, err := Lookup(mnemonic)
		if err != nil {
			continue // the series was not written by this program
		}
		for _, f := range in.forms(s.Pairs) {
			r.Timings = append(r.Timings, e.timing(in, f))
		}
	}
	r.judge()
	return r
}

// countNs returns the usual period of the counting thread's counter, in ns; 0 if there was none.
func (e *evaluation) countNs() float64 {
	var periods []float64
	for i := range e.Starts {
		for j := range e.Starts[i].Stretches {
			if rate := e.Starts[i].Stretches[j].CountsAMilli; rate > 0 {
				periods = append(periods, millisecondNs/rate)
			}
		}
	}
	if len(periods) == 0 {
		return 0
	}
	return stats.Median(periods)
}

// measures reports whether the series has measurements by a method.
func (e *evaluation) measures(m Method) bool {
	return slices.ContainsFunc(e.Starts, func(s Start) bool { return slices.Contains(s.Methods, m) })
}

// timing returns all results for an instruction in a form.
func (e *evaluation) timing(in *Instruction, f Form) Timing {
	t := Timing{Instruction: in, Form: f, Balance: newSequence(in, f, 1).balance, Judgement: stats.NewJudgement()}
	for _, m := range Methods() {
		if e.measures(m) {
			if found := e.measured(in, f, m); known(found.Time) {
				t.Measured = append(t.Measured, found)
			}
		}
	}
	if len(t.Measured) > 0 {
		t.Join(t.Measured[0].Judgement)
	}
	for _, failure := range e.Failures {
		if failure.Sequence != sequenceName(in, f) {
			continue
		}
		t.Failure = failure.Problem
		if failure.Dropped {
			t.giveUp(failure.Problem)
		}
	}
	if len(t.Measured) == 0 {
		t.Lower(stats.Unusable, "there is no measurement of it: let the run take longer, or leave the machine alone")
	}
	return t
}

// giveUp lowers all verdicts of an instruction that was not tried again.
func (t *Timing) giveUp(problem string) {
	all := []*stats.Judgement{&t.Judgement}
	for i := range t.Measured {
		all = append(all, &t.Measured[i].Judgement)
	}
	for _, j := range all {
		j.Lower(stats.Suspect, "it was given up, since virtual machines were lost over it: %s", problem)
	}
}

// measured returns the result of one method for an instruction in a form.
func (e *evaluation) measured(in *Instruction, f Form, m Method) Measured {
	found := Measured{Method: m, Judgement: stats.NewJudgement()}
	found.Time, found.Same = e.times(in, f, m)
	alone := e.sourceOf(m).alone
	all, usable, started := 0, 0, 0
	for i := range e.Starts {
		if e.Starts[i].Alone != alone {
			continue
		}
		started++
		for _, x := range e.stretches[i][sequenceName(in, f)] {
			usable++
			found.Trials += x.All.Trials
			found.Elapsed += time.Duration(x.ElapsedNs)
		}
		for j := range e.Starts[i].Stretches {
			if e.Starts[i].Stretches[j].Sequence == sequenceName(in, f) {
				all++
			}
		}
	}
	found.judge(e.Mode, newSequence(in, f, 1).balance, usable, all-usable)
	if n := e.fewestMachines(in, f, m); n < e.enoughMachines() {
		found.Lower(stats.Suspect, "%d of %d virtual machines gave a time, and each lays out code and memory anew, so that a trusted time needs %d: let the run take longer, or leave the machine alone", n, started, e.enoughMachines())
	}
	if name, why := e.interpreted(in, f); why != "" {
		found.Lower(stats.Unusable, "the compiler did not compile %s, and the interpreter executed it: %s: take a shorter sequence", name, why)
	}
	if m == Bernoulli || m == Discrete {
		ticks, ones := e.balanced(in, f, tickSource(Discrete)), e.balanced(in, f, tickSource(Bernoulli))
		found.judgeTicks(ticks.Value - ones.Value)
	}
	return found
}

// sequencesFor returns the names of the sequences that give an instruction's time: its own, and those of the
// instructions that balance it.
func sequencesFor(in *Instruction, f Form) []string {
	names := []string{sequenceName(in, f)}
	for _, mnemonic := range newSequence(in, f, 1).balance {
		names = append(names, sequenceName(mustLookup(mnemonic), Homogeneous))
	}
	return names
}

// fewestMachines returns how many virtual machines gave an instruction's time by a method, or a time that is
// subtracted from it if those are fewer.
func (e *evaluation) fewestMachines(in *Instruction, f Form, m Method) int {
	fewest := len(e.Starts)
	for _, name := range sequencesFor(in, f) {
		fewest = min(fewest, e.machines(name, e.sourceOf(m)))
	}
	return fewest
}

// enoughMachines returns how many virtual machines a trusted time needs.
func (e *evaluation) enoughMachines() int {
	if e.Mode != Interpreter {
		return compiledStarts
	}
	return fewestStarts
}

// interpreted returns the sequence that keeps an instruction's time from being one of compiled code, and what the
// virtual machine said about it; empty if there is none. It may be the instruction's own sequence, the empty one, or
// one of an instruction that balances it.
func (e *evaluation) interpreted(in *Instruction, f Form) (name, why string) {
	for _, name := range append(sequencesFor(in, f), emptyName) {
		for i := range e.Starts {
			if why := e.Starts[i].Interpreted[name]; why != "" {
				return name, why
			}
		}
	}
	return "", ""
}

// An interval is too wide if its half-width exceeds wide times the value, and useless if it exceeds the
// value. A half-width of at most enoughNs is always narrow enough. If a time is within nothingNs of zero, which is less
// than any processor takes for an instruction, a compiler has removed the instructions.
const (
	wide      = 0.1
	enoughNs  = 0.01
	nothingNs = 0.05
)

// judge lowers the verdict for what the time itself shows. balance names the instructions whose times are taken off.
func (found *Measured) judge(mode Mode, balance []string, usable, slow int) {
	half := found.Time.HalfWidth()
	share := half / math.Abs(found.Time.Value)
	most := math.Abs(found.Time.Value) + half
	nothing := mode != Interpreter && found.Time.Lo <= 0 && most <= nothingNs
	switch {
	case math.IsNaN(half):
		found.Lower(stats.Suspect, "it was measured once, so that nothing tells how well: let the run take longer")
	case nothing:
		found.Lower(stats.Suspect, "the compiler leaves nothing of it that can be told from zero: it takes less than %.2f ns", math.Max(0.01, math.Ceil(100*most)/100))
	case half <= enoughNs:
	case share > 1:
		found.Lower(stats.Unusable, "it is known to ± %.3f ns, which is more than it takes: let the run take longer", half)
	case share > wide:
		found.Lower(stats.Suspect, "it is known to ± %.0f %%: let the run take longer, or leave the machine alone", 100*share)
	}
	switch {
	case mode == Interpreter && len(balance) > 0 && found.Time.Value < enoughNs:
		found.Lower(stats.Suspect, "the sequence takes no longer than what balances it (%v) does by itself: instructions of two kinds may follow one another faster than those of one", balance)
	case found.Time.Hi < 0 && !nothing:
		found.Lower(stats.Suspect, "it comes out below zero by more than its uncertainty: what is taken off takes longer by itself than in the sequence")
	}
	if slow > usable {
		found.Lower(stats.Suspect, "the machine was slow in %d of %d stretches, which are left out: leave it alone", slow, slow+usable)
	}
}

// unsettled is the share of the interval's half-width above which the difference between counting all
// ticks and counting trials with a tick matters.
const unsettled = 0.1

// judgeTicks lowers the verdict if trials saw several ticks. differenceNs is the difference per
// instruction between counting ticks and counting trials with a tick. A trial is far shorter than a
// tick, so one that saw several ticks was preempted.
func (found *Measured) judgeTicks(differenceNs float64) {
	switch matters := math.Abs(differenceNs) > unsettled*found.Time.HalfWidth(); {
	case matters && found.Method == Bernoulli:
		found.Lower(stats.Suspect, "trials were kept from running, saw several ticks and count one: count all (%s), or leave the machine alone", Discrete)
	case matters:
		found.Lower(stats.Suspect, "trials were kept from running and saw several ticks, and the wait is in the time: leave the machine alone")
	}
}

// judge adds the reasons against the run as a whole.
func (r *Result) judge() {
	if 4*r.Slow > r.Stretches {
		r.Lower(stats.Suspect, "the machine was slow in %d of %d stretches, which are left out: leave it alone", r.Slow, r.Stretches)
	}
	for _, m := range Methods() {
		found := 0
		for i := range r.Timings {
			if _, ok := r.Timings[i].By(m); ok {
				found++
			}
		}
		if _, used := r.Overhead[m]; used && found < len(r.Timings) {
			r.Lower(stats.Suspect, "by %s there are times of %d of %d instructions and forms: let the run take longer, and leave the machine alone", m, found, len(r.Timings))
		}
	}
	if n := len(r.Series.Failures); n > 0 {
		r.Lower(stats.Suspect, "%d virtual machines were lost, over %s", n, r.failed())
	}
	if r.Starts == 0 {
		r.Lower(stats.Unusable, "nothing was measured")
	}
}

func (r *Result) failed() string {
	var names []string
	for i := range r.Timings {
		if t := &r.Timings[i]; t.Failure != "" {
			names = append(names, fmt.Sprintf("%s (%s)", t.Instruction.Mnemonic, t.Form))
		}
	}
	if len(names) == 0 {
		return "sequences that nobody asked for"
	}
	return fmt.Sprint(names)
}
