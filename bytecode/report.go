package bytecode

import (
	"slices"
	"time"

	"chronoscope/bytecode/analysis"
	"chronoscope/stats"
)

// Report is the result for one virtual machine in one mode, in the form in which a document holds it: the
// times by the leading method, and what the times have in common.
type Report struct {
	Java   Java   `json:"java"`
	Mode   Mode   `json:"mode"`
	Method Method `json:"method"` // the method of the instructions' times
	Length int    `json:"length"` // number of instructions in a sequence
	// TickNs is the slow clock's tick, CountNs the period of the counting thread's counter.
	TickNs  stats.Float `json:"tick_ns"`
	CountNs stats.Float `json:"count_ns"`
	TSCHz   stats.Float `json:"tsc_hz"`
	// Starts is the number of virtual machines, Stretches the number of timed sequences, and Slow the
	// number of stretches that were left out because the machine was slow.
	Starts    int           `json:"starts"`
	Stretches int           `json:"stretches"`
	Slow      int           `json:"slow"`
	Elapsed   time.Duration `json:"elapsed_ns"`

	Instructions []InstructionReport    `json:"instructions"`
	Overhead     stats.Estimate         `json:"overhead"` // of Method's timer
	Overheads    []TimerOverhead        `json:"overheads"`
	Summary      analysis.Summary       `json:"summary"`
	Clusters     []analysis.Granularity `json:"clusters"`
	Groups       []Group                `json:"groups"`
	Fits         []Fit                  `json:"fits"`
	Predictions  []Prediction           `json:"predictions"`
	Unused       []UnusedMethod         `json:"unused"`
	stats.Judgement
}

// InstructionReport is the result for an instruction in one form. A time that could not be measured is
// null, and Reasons says why.
type InstructionReport struct {
	Mnemonic string         `json:"mnemonic"`
	Opcode   int            `json:"opcode"`
	Kind     Kind           `json:"kind"`
	Form     Form           `json:"form"`
	Time     stats.Estimate `json:"time"`
	TSC      stats.Estimate `json:"tsc"` // for the same executions
	Trials   int64          `json:"trials"`
	Elapsed  time.Duration  `json:"elapsed_ns"`
	// Outlier and Cluster are null for results that are not part of the analysis. The analysis has
	// one time of each instruction (for a conditional branch, its time when it is not taken), and no
	// unusable time.
	Outlier *bool   `json:"outlier"`
	Cluster *string `json:"cluster"`
	// Compiled holds the times of what a compiler leaves of the sequence.
	Compiled Compiled   `json:"compiled"`
	Methods  []Measured `json:"methods"`
	stats.Judgement
}

// Compiled holds the times by the time stamp counter in compiled code; null for a compiler that was not
// asked for, or whose time is unusable.
type Compiled struct {
	C1 *stats.Estimate `json:"c1"`
	C2 *stats.Estimate `json:"c2"`
}

// TimerOverhead is the time that two readings of a method's timer take.
type TimerOverhead struct {
	Method   Method         `json:"method"`
	Overhead stats.Estimate `json:"overhead"`
}

// UnusedMethod is a method that was asked for but could not be used.
type UnusedMethod struct {
	Method Method `json:"method"`
	Reason string `json:"reason"`
}

// Group is a group of instructions at the granularity of the median.
type Group struct {
	Label        string   `json:"label"`
	LeastNs      float64  `json:"least_ns"`
	MostNs       float64  `json:"most_ns"`
	Instructions []string `json:"instructions"` // the fastest first
}

// Fit says how well a method agrees with the time stamp counter.
type Fit struct {
	Method        Method      `json:"method"`
	Pairing       Pairing     `json:"pairing"`
	Points        int         `json:"points"`
	LeftOut       []string    `json:"left_out"` // because one of the two times is unusable
	PearsonR      stats.Float `json:"pearson_r"`
	Slope         float64     `json:"slope"` // of the line of the counter's times over the method's times
	SlopeLo       stats.Float `json:"slope_lo"`
	SlopeHi       stats.Float `json:"slope_hi"`
	InterceptNs   float64     `json:"intercept_ns"`
	InterceptLoNs stats.Float `json:"intercept_lo_ns"`
	InterceptHiNs stats.Float `json:"intercept_hi_ns"`
	MedianError   stats.Float `json:"median_error"` // as a share of the counter's time
	MaxError      stats.Float `json:"max_error"`
	// Above is the number of times that are longer than StrayAboveNs. Strays are those of them that are
	// off by more than StrayShare, the farthest first.
	Above     int        `json:"above"`
	Strays    []string   `json:"strays"`
	Residuals []Residual `json:"residuals"`
}

// Residual holds the times of an instruction by a method and by the time stamp counter, and how far the
// latter lies from the fitted line.
type Residual struct {
	Mnemonic   string  `json:"mnemonic"`
	Form       Form    `json:"form"`
	TimeNs     float64 `json:"time_ns"`
	TSCNs      float64 `json:"tsc_ns"`
	ResidualNs float64 `json:"residual_ns"` // of the counter's time from the line
}

// Prediction compares the sum of the times of the instructions of a small method with the time that they
// take together.
type Prediction struct {
	Instructions []string       `json:"instructions"`
	Predicted    stats.Estimate `json:"predicted"`
	Measured     stats.Estimate `json:"measured"`
	Error        stats.Float    `json:"error"` // of the prediction, as a share of the measured time
}

// A time longer than StrayAboveNs that is off by more than StrayShare is a stray. Shorter times are
// mostly the result of subtracting the overhead.
const (
	StrayAboveNs = 2
	StrayShare   = 0.03
)

// Choice says which methods' times are shown first, in the order of preference, and which pairings are
// compared.
type Choice struct {
	Methods  []Method
	Pairings []Pairing
}

// Reports returns the reports of results, in their order. If there is no result, it returns one empty
// report.
func Reports(results []*Result, choice Choice) (all []Report) {
	for _, r := range results {
		run := newReport(r, choice)
		for _, other := range results {
			if other != r && other.Java == r.Java {
				run.compare(other)
			}
		}
		all = append(all, run)
	}
	if len(all) == 0 {
		all = append(all, newReport(&Result{Judgement: stats.NewJudgement()}, choice))
	}
	return all
}

// compare adds the times of what a compiler leaves of each instruction.
func (r *Report) compare(compiled *Result) {
	for i := range r.Instructions {
		own := &r.Instructions[i]
		t, ok := compiled.Timing(own.Mnemonic, own.Form)
		if !ok {
			continue
		}
		found, ok := t.By(TSC)
		if !ok || found.Verdict == stats.Unusable {
			continue
		}
		switch compiled.Mode {
		case C1:
			own.Compiled.C1 = &found.Time
		case C2:
			own.Compiled.C2 = &found.Time
		}
	}
}

func newReport(r *Result, choice Choice) Report {
	method := leading(r, choice.Methods)
	run := Report{
		Java: r.Java, Mode: r.Mode, Method: method, Length: r.Length,
		TickNs: aboveZero(r.TickNs), CountNs: aboveZero(r.CountNs), TSCHz: aboveZero(r.TSCHz),
		Starts: r.Starts, Stretches: r.Stretches, Slow: r.Slow, Elapsed: r.Elapsed,
		Instructions: []InstructionReport{}, Overhead: overheadOf(r, method), Overheads: []TimerOverhead{},
		Unused: []UnusedMethod{}, Judgement: r.Judgement,
	}
	for _, m := range Methods() {
		if e, ok := r.Overhead[m]; ok {
			run.Overheads = append(run.Overheads, TimerOverhead{m, e})
		}
		if why, ok := r.Unused[m]; ok {
			run.Unused = append(run.Unused, UnusedMethod{m, why})
		}
	}
	for i := range r.Timings {
		run.Instructions = append(run.Instructions, newInstructionReport(&r.Timings[i], method))
	}
	run.analyse()
	run.Fits = fitsOf(r, choice.Pairings)
	run.Predictions = predictionsOf(r, method)
	return run
}

// aboveZero returns a number; it is missing if it is 0, which means that it is not known.
func aboveZero(x float64) stats.Float {
	if !(x > 0) {
		return stats.Float{}
	}
	return stats.FloatOf(x)
}

// leading returns the first of the methods that has timed anything.
func leading(r *Result, methods []Method) Method {
	for _, m := range methods {
		if slices.ContainsFunc(r.Timings, func(t Timing) bool { _, ok := t.By(m); return ok }) {
			return m
		}
	}
	return TSC
}

// noTime returns the estimate of a time that could not be measured.
func noTime() stats.Estimate { return stats.NoEstimate("ns", "none") }

func overheadOf(r *Result, m Method) stats.Estimate {
	if e, ok := r.Overhead[m]; ok {
		return e
	}
	return noTime()
}

func newInstructionReport(t *Timing, method Method) InstructionReport {
	i := InstructionReport{
		Mnemonic: t.Instruction.Mnemonic, Opcode: int(t.Instruction.Opcode), Kind: t.Instruction.Kind, Form: t.Form,
		Time: noTime(), TSC: noTime(), Methods: []Measured{},
		Judgement: t.Judgement,
	}
	if _, ok := t.By(method); !ok && len(t.Measured) > 0 { // the other judgements do not cover the missing time
		i.Judgement = stats.NewJudgement()
		i.Lower(stats.Unusable, "by %s there is no time of it: let the run take longer, or leave the machine alone", method)
	}
	for _, found := range t.Measured {
		if !known(found.Same) {
			found.Same = noTime()
		}
		i.Methods = append(i.Methods, found)
		if found.Method == method {
			i.Time, i.TSC, i.Trials, i.Elapsed, i.Judgement = found.Time, found.Same, found.Trials, found.Elapsed, found.Judgement
		}
	}
	return i
}

// Analysed reports whether the analysis uses the result: its form is [Homogeneous] or [NotTaken], and
// its time is usable.
func (i InstructionReport) Analysed() bool {
	one := i.Form == Homogeneous || i.Form == NotTaken
	return one && stats.IsFinite(i.Time.Value) && i.Verdict != stats.Unusable
}

// Timings returns the times of the instructions in the analysis.
func (r Report) Timings() []analysis.Timing {
	var all []analysis.Timing
	for _, i := range r.Instructions {
		if i.Analysed() {
			all = append(all, analysis.Timing{Name: i.Mnemonic, Ns: i.Time.Value})
		}
	}
	return all
}

// Instruction returns the instruction with this name and form.
func (r Report) Instruction(mnemonic string, form Form) (InstructionReport, bool) {
	i := slices.IndexFunc(r.Instructions, func(i InstructionReport) bool { return i.Mnemonic == mnemonic && i.Form == form })
	if i < 0 {
		return InstructionReport{}, false
	}
	return r.Instructions[i], true
}

// analyse summarises the times and groups them, as in section 4 of Lambert 2008.
func (r *Report) analyse() {
	timings := r.Timings()
	s := analysis.Summarize(timings)
	r.Summary, r.Clusters, r.Groups = s, []analysis.Granularity{}, []Group{}
	label := map[string]string{}
	if tree, err := analysis.Cluster(timings); err == nil && len(timings) > 0 {
		r.Clusters = tree.Granularities()
		for _, g := range tree.Groups(s.MedianNs.Value()) {
			group := Group{Label: g.Label, LeastNs: g.Timings[0].Ns, MostNs: g.Timings[len(g.Timings)-1].Ns}
			for _, t := range g.Timings {
				group.Instructions = append(group.Instructions, t.Name)
				label[t.Name] = g.Label
			}
			r.Groups = append(r.Groups, group)
		}
	}
	for i := range r.Instructions {
		if own := &r.Instructions[i]; own.Analysed() {
			outlier, cluster := s.IsOutlier(own.Time.Value), label[own.Mnemonic]
			own.Outlier, own.Cluster = &outlier, &cluster
		}
	}
}

// fitsOf compares each method with the time stamp counter.
func fitsOf(r *Result, pairings []Pairing) []Fit {
	fits := []Fit{}
	for _, m := range Methods() {
		for _, p := range pairings {
			if m == TSC {
				continue
			}
			points, leftOut := usablePoints(r, m, p)
			if fit, ok := newFit(points); ok {
				fit.Method, fit.Pairing, fit.LeftOut = m, p, leftOut
				fits = append(fits, fit)
			}
		}
	}
	return fits
}

// usablePoints returns the usable points of a method, and the names of the unusable ones. Pairs of
// instructions are in neither, because they contain the same times again.
func usablePoints(r *Result, m Method, p Pairing) (points []Point, leftOut []string) {
	leftOut = []string{}
	for _, point := range r.Points(m, p) {
		t, ok := r.Timing(point.Mnemonic, point.Form)
		if !ok || point.Form == Pair {
			continue
		}
		own, _ := t.By(m)
		alone, _ := t.By(TSC)
		if own.Verdict == stats.Unusable || p == Unpaired && alone.Verdict == stats.Unusable {
			leftOut = append(leftOut, pointName(point))
			continue
		}
		points = append(points, point)
	}
	return points, leftOut
}

// pointName returns a name that tells the forms of an instruction apart.
func pointName(p Point) string {
	if p.Form == Homogeneous {
		return p.Mnemonic
	}
	return p.Mnemonic + " (" + string(p.Form) + ")"
}

// newFit fits a line to the points. It returns false if there are fewer than three different ones.
func newFit(points []Point) (Fit, bool) {
	var pairs []analysis.Pair
	for _, p := range points {
		pairs = append(pairs, analysis.Pair{Name: pointName(p), Ns: p.Time.Value, ReferenceNs: p.Reference.Value})
	}
	f, err := analysis.Compare(pairs)
	if err != nil {
		return Fit{}, false
	}
	slope, intercept := f.Line.Slope, f.Line.Intercept
	fit := Fit{
		Points: len(points), PearsonR: stats.FloatOf(f.PearsonR),
		Slope: slope.Value, SlopeLo: stats.FloatOf(slope.Lo), SlopeHi: stats.FloatOf(slope.Hi),
		InterceptNs: intercept.Value, InterceptLoNs: stats.FloatOf(intercept.Lo), InterceptHiNs: stats.FloatOf(intercept.Hi),
		MedianError: stats.FloatOf(f.MedianError), MaxError: stats.FloatOf(f.MaxError), Strays: []string{},
	}
	for i, p := range points {
		if pairs[i].ReferenceNs > StrayAboveNs {
			fit.Above++
		}
		fit.Residuals = append(fit.Residuals, Residual{p.Mnemonic, p.Form, pairs[i].Ns, pairs[i].ReferenceNs, f.ResidualsNs[i]})
	}
	for _, p := range analysis.Strays(pairs, StrayAboveNs, StrayShare) {
		fit.Strays = append(fit.Strays, p.Name)
	}
	return fit, true
}

// predictionsOf compares the time of each pair of instructions with the sum of their own times. A pair is
// the smallest method whose time can be predicted from a table of instruction times.
func predictionsOf(r *Result, method Method) []Prediction {
	alone := map[string]stats.Estimate{}
	for i := range r.Timings {
		t := &r.Timings[i]
		found, ok := t.By(method)
		if ok && found.Verdict != stats.Unusable && (t.Form == Homogeneous || t.Form == NotTaken) {
			alone[t.Instruction.Mnemonic] = found.Time
		}
	}
	predictions := []Prediction{}
	for i := range r.Timings {
		t := &r.Timings[i]
		found, ok := t.By(method)
		if t.Form != Pair || !ok || found.Verdict == stats.Unusable {
			continue
		}
		executed := append([]string{t.Instruction.Mnemonic}, t.Balance...)
		predicted, err := analysis.Predict(executed, alone)
		if err != nil { // one of them has no time; its own entry says why
			continue
		}
		together := found.Time
		for _, companion := range t.Balance { // their times were subtracted
			together.Value += alone[companion].Value
			together.Lo += alone[companion].Value
			together.Hi += alone[companion].Value
		}
		predictions = append(predictions, Prediction{
			Instructions: executed, Predicted: predicted, Measured: together,
			Error: stats.FloatOf((predicted.Value - together.Value) / together.Value),
		})
	}
	return predictions
}
