package record

import (
	"math"
	"slices"

	"chronoscope/bytecode"
	"chronoscope/bytecode/analysis"
	"chronoscope/stats"
)

var _ = register[Bytecode]("bytecode")

// Bytecode is the document of what a virtual machine's instructions take.
type Bytecode struct {
	Header
	// BytecodeRun is the first one; Others are those of further virtual machines, and of
	// compilers.
	BytecodeRun
	Others []BytecodeRun `json:"others"`
}

// BytecodeRun is what was found of one virtual machine in one mode.
type BytecodeRun struct {
	Java   JavaMachine `json:"java"`
	Mode   string      `json:"mode"`
	Method string      `json:"method"` // of the instructions' times
	Length int         `json:"length"` // of the sequences, in instructions
	// TickNs is the slow clock's tick, CountNs the counting thread's period.
	TickNs  *float64 `json:"tick_ns"`
	CountNs *float64 `json:"count_ns"`
	TSCHz   *float64 `json:"tsc_hz"`
	// Starts counts virtual machines, Stretches timed sequences, and Slow those of them
	// that were left out.
	Starts    int     `json:"starts"`
	Stretches int     `json:"stretches"`
	Slow      int     `json:"slow"`
	ElapsedNs float64 `json:"elapsed_ns"`

	Instructions []BytecodeInstruction `json:"instructions"`
	Overhead     stats.Estimate        `json:"overhead"` // of Method's timer
	Overheads    []BytecodeOverhead    `json:"overheads"`
	Summary      BytecodeSummary       `json:"summary"`
	Clusters     []BytecodeClusters    `json:"clusters"`
	Groups       []BytecodeGroup       `json:"groups"`
	Fits         []BytecodeFit         `json:"fits"`
	Predictions  []BytecodePrediction  `json:"predictions"`
	Unused       []BytecodeUnused      `json:"unused"`
	Verdict      stats.Verdict         `json:"verdict"`
	Reasons      []string              `json:"reasons"`
}

// JavaMachine is a Java virtual machine.
type JavaMachine struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Name    string `json:"name"`
}

// BytecodeInstruction is an instruction in one form. A time that could not be had is
// null, for a reason that stands in Reasons.
type BytecodeInstruction struct {
	Mnemonic  string         `json:"mnemonic"`
	Opcode    int            `json:"opcode"`
	Kind      string         `json:"kind"`
	Form      string         `json:"form"`
	Time      stats.Estimate `json:"time"`
	TSC       stats.Estimate `json:"tsc"` // of the same executions
	Trials    int64          `json:"trials"`
	ElapsedNs float64        `json:"elapsed_ns"`
	// Outlier and Cluster are null for what the analysis leaves out: it has one time of
	// each instruction, that of a branch which is not taken, and none that is unusable.
	Outlier *bool   `json:"outlier"`
	Cluster *string `json:"cluster"`
	// Compiled is what of it survives a compiler.
	Compiled BytecodeCompiled   `json:"compiled"`
	Methods  []BytecodeMeasured `json:"methods"`
	Verdict  stats.Verdict      `json:"verdict"`
	Reasons  []string           `json:"reasons"`
}

// BytecodeCompiled are the times by the time stamp counter in compiled code; null where
// a compiler was not asked for.
type BytecodeCompiled struct {
	C1 *stats.Estimate `json:"c1"`
	C2 *stats.Estimate `json:"c2"`
}

// BytecodeOverhead is what two readings of a method's timer take.
type BytecodeOverhead struct {
	Method   string         `json:"method"`
	Overhead stats.Estimate `json:"overhead"`
}

// BytecodeUnused is a method that was asked for, and could not be used.
type BytecodeUnused struct {
	Method string `json:"method"`
	Reason string `json:"reason"`
}

// BytecodeMeasured is what one method found of an instruction.
type BytecodeMeasured struct {
	Method    string         `json:"method"`
	Time      stats.Estimate `json:"time"`
	TSC       stats.Estimate `json:"tsc"` // of the same executions
	Trials    int64          `json:"trials"`
	ElapsedNs float64        `json:"elapsed_ns"`
	Verdict   stats.Verdict  `json:"verdict"`
	Reasons   []string       `json:"reasons"`
}

// BytecodeSummary is the distribution of the instructions' times.
type BytecodeSummary struct {
	Instructions   int      `json:"instructions"`
	MinNs          *float64 `json:"min_ns"`
	Q1Ns           *float64 `json:"q1_ns"`
	MedianNs       *float64 `json:"median_ns"`
	Q3Ns           *float64 `json:"q3_ns"`
	MaxNs          *float64 `json:"max_ns"`
	MeanNs         *float64 `json:"mean_ns"`
	LowerWhiskerNs *float64 `json:"lower_whisker_ns"`
	UpperWhiskerNs *float64 `json:"upper_whisker_ns"`
}

// BytecodeClusters is into how many groups the instructions fall at a granularity.
type BytecodeClusters struct {
	Statistic     string  `json:"statistic"` // of the times, that the granularity is
	GranularityNs float64 `json:"granularity_ns"`
	Groups        int     `json:"groups"`
}

// BytecodeGroup is a group at the granularity of the median.
type BytecodeGroup struct {
	Label        string   `json:"label"`
	LeastNs      float64  `json:"least_ns"`
	MostNs       float64  `json:"most_ns"`
	Instructions []string `json:"instructions"` // the fastest first
}

// BytecodeFit is how well a method agrees with the time stamp counter.
type BytecodeFit struct {
	Method        string   `json:"method"`
	Pairing       string   `json:"pairing"`
	Points        int      `json:"points"`
	LeftOut       []string `json:"left_out"` // since either time is unusable
	PearsonR      *float64 `json:"pearson_r"`
	Slope         float64  `json:"slope"` // of the counter's times over the method's
	SlopeLo       *float64 `json:"slope_lo"`
	SlopeHi       *float64 `json:"slope_hi"`
	InterceptNs   float64  `json:"intercept_ns"`
	InterceptLoNs *float64 `json:"intercept_lo_ns"`
	InterceptHiNs *float64 `json:"intercept_hi_ns"`
	MedianError   *float64 `json:"median_error"` // a share of the counter's time
	MaxError      *float64 `json:"max_error"`
	// Above is how many times are longer than StrayAboveNs, and Strays those of them
	// that are off by more than StrayShare, the farthest first.
	Above     int             `json:"above"`
	Strays    []string        `json:"strays"`
	Residuals []BytecodePoint `json:"residuals"`
}

// BytecodePoint is an instruction by two ways of timing.
type BytecodePoint struct {
	Mnemonic   string  `json:"mnemonic"`
	Form       string  `json:"form"`
	TimeNs     float64 `json:"time_ns"`
	TSCNs      float64 `json:"tsc_ns"`
	ResidualNs float64 `json:"residual_ns"` // of the counter's time from the line
}

// BytecodePrediction is what the instructions of a small method take one by one, beside
// what they take together.
type BytecodePrediction struct {
	Instructions []string       `json:"instructions"`
	Predicted    stats.Estimate `json:"predicted"`
	Measured     stats.Estimate `json:"measured"`
	Error        *float64       `json:"error"` // of the prediction, a share of what was measured
}

// StrayAboveNs and StrayShare bound what is no stray: shorter times are mostly what is
// taken off for overhead.
const (
	StrayAboveNs = 2
	StrayShare   = 0.03
)

// BytecodeChoice says which methods' times are shown first, the best choice first, and
// which pairings are compared.
type BytecodeChoice struct {
	Methods  []bytecode.Method
	Pairings []bytecode.Pairing
}

// NewBytecode puts results into the form of a document: those of the first virtual
// machine's interpreter lead.
func NewBytecode(h Header, results []*bytecode.Result, choice BytecodeChoice) Bytecode {
	d := Bytecode{Header: h, BytecodeRun: newBytecodeRun(&bytecode.Result{Judgement: stats.NewJudgement()}, choice), Others: []BytecodeRun{}}
	for i, r := range results {
		run := newBytecodeRun(r, choice)
		for _, other := range results {
			if other != r && other.Java == r.Java {
				run.compare(other)
			}
		}
		if i == 0 {
			d.BytecodeRun = run
		} else {
			d.Others = append(d.Others, run)
		}
	}
	return d
}

// compare notes what a compiler leaves of each instruction.
func (r *BytecodeRun) compare(compiled *bytecode.Result) {
	for i := range r.Instructions {
		own := &r.Instructions[i]
		t, ok := compiled.Timing(own.Mnemonic, bytecode.Form(own.Form))
		if !ok {
			continue
		}
		if found, ok := t.By(bytecode.TSC); ok && compiled.Mode == bytecode.C1 {
			own.Compiled.C1 = &found.Time
		} else if ok && compiled.Mode == bytecode.C2 {
			own.Compiled.C2 = &found.Time
		}
	}
}

func newBytecodeRun(r *bytecode.Result, choice BytecodeChoice) BytecodeRun {
	method := leading(r, choice.Methods)
	run := BytecodeRun{
		Java: JavaMachine(r.Java), Mode: string(r.Mode), Method: string(method), Length: r.Length,
		TickNs: aboveZero(r.TickNs), CountNs: aboveZero(r.CountNs), TSCHz: aboveZero(r.TSCHz),
		Starts: r.Starts, Stretches: r.Stretches, Slow: r.Slow, ElapsedNs: float64(r.Elapsed),
		Instructions: []BytecodeInstruction{}, Overhead: overheadOf(r, method), Overheads: []BytecodeOverhead{},
		Unused: []BytecodeUnused{}, Verdict: r.Verdict, Reasons: r.Reasons,
	}
	for _, m := range bytecode.Methods() {
		if e, ok := r.Overhead[m]; ok {
			run.Overheads = append(run.Overheads, BytecodeOverhead{string(m), e})
		}
		if why, ok := r.Unused[m]; ok {
			run.Unused = append(run.Unused, BytecodeUnused{string(m), why})
		}
	}
	for i := range r.Timings {
		run.Instructions = append(run.Instructions, newBytecodeInstruction(&r.Timings[i], method))
	}
	run.analyse()
	run.Fits = fitsOfBytecode(r, choice.Pairings)
	run.Predictions = predictionsOf(r, method)
	return run
}

// aboveZero is a number that is 0 where it is not known.
func aboveZero(x float64) *float64 {
	if !(x > 0) {
		return nil
	}
	return stats.Finite(x)
}

// leading is the first of the methods that has timed anything.
func leading(r *bytecode.Result, methods []bytecode.Method) bytecode.Method {
	for _, m := range methods {
		if slices.ContainsFunc(r.Timings, func(t bytecode.Timing) bool { _, ok := t.By(m); return ok }) {
			return m
		}
	}
	return bytecode.TSC
}

// noTime is the estimate of a time that could not be had.
func noTime() stats.Estimate {
	return stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "none"}
}

func overheadOf(r *bytecode.Result, m bytecode.Method) stats.Estimate {
	if e, ok := r.Overhead[m]; ok {
		return e
	}
	return noTime()
}

func newBytecodeInstruction(t *bytecode.Timing, method bytecode.Method) BytecodeInstruction {
	i := BytecodeInstruction{
		Mnemonic: t.Instruction.Mnemonic, Opcode: int(t.Instruction.Opcode), Kind: string(t.Instruction.Kind), Form: string(t.Form),
		Time: noTime(), TSC: noTime(), Methods: []BytecodeMeasured{},
		Verdict: t.Verdict, Reasons: t.Reasons,
	}
	if _, ok := t.By(method); !ok && len(t.Measured) > 0 { // what else was found of it says nothing of this
		j := stats.NewJudgement()
		j.Lower(stats.Unusable, "by %s there is no time of it: let the run take longer, or leave the machine alone", method)
		i.Verdict, i.Reasons = j.Verdict, j.Reasons
	}
	for _, m := range t.Measured {
		found := BytecodeMeasured{
			Method: string(m.Method), Time: m.Time, TSC: m.Same, Trials: m.Trials, ElapsedNs: float64(m.Elapsed),
			Verdict: m.Verdict, Reasons: m.Reasons,
		}
		if stats.Finite(m.Same.Value) == nil {
			found.TSC = noTime()
		}
		i.Methods = append(i.Methods, found)
		if m.Method == method {
			i.Time, i.TSC, i.Trials, i.ElapsedNs = found.Time, found.TSC, found.Trials, found.ElapsedNs
			i.Verdict, i.Reasons = found.Verdict, found.Reasons
		}
	}
	return i
}

// Analysed reports whether the form is the one of its instruction that the analysis has,
// and its time is fit for use.
func (i BytecodeInstruction) Analysed() bool {
	one := i.Form == string(bytecode.Homogeneous) || i.Form == string(bytecode.NotTaken)
	return one && stats.Finite(i.Time.Value) != nil && i.Verdict != stats.Unusable
}

// Timings are those of the instructions that the analysis has.
func (r BytecodeRun) Timings() []analysis.Timing {
	var all []analysis.Timing
	for _, i := range r.Instructions {
		if i.Analysed() {
			all = append(all, analysis.Timing{Name: i.Mnemonic, Ns: i.Time.Value})
		}
	}
	return all
}

// NewBytecodeSummary is the summary of so many times.
func NewBytecodeSummary(n int, s analysis.Summary) BytecodeSummary {
	return BytecodeSummary{
		Instructions: n,
		MinNs:        stats.Finite(s.MinNs), Q1Ns: stats.Finite(s.Q1Ns), MedianNs: stats.Finite(s.MedianNs),
		Q3Ns: stats.Finite(s.Q3Ns), MaxNs: stats.Finite(s.MaxNs), MeanNs: stats.Finite(s.MeanNs),
		LowerWhiskerNs: stats.Finite(s.LowerNs), UpperWhiskerNs: stats.Finite(s.UpperNs),
	}
}

// Instruction is that of a name and form.
func (r BytecodeRun) Instruction(mnemonic, form string) (BytecodeInstruction, bool) {
	i := slices.IndexFunc(r.Instructions, func(i BytecodeInstruction) bool { return i.Mnemonic == mnemonic && i.Form == form })
	if i < 0 {
		return BytecodeInstruction{}, false
	}
	return r.Instructions[i], true
}

// analyse sums the times up, and groups them, as in section 4 of Lambert 2008.
func (r *BytecodeRun) analyse() {
	timings := r.Timings()
	s := analysis.Summarize(timings)
	r.Summary = NewBytecodeSummary(len(timings), s)
	r.Clusters, r.Groups = []BytecodeClusters{}, []BytecodeGroup{}
	label := map[string]string{}
	if tree, err := analysis.Cluster(timings); err == nil && len(timings) > 0 {
		for _, g := range tree.Granularities() {
			r.Clusters = append(r.Clusters, BytecodeClusters{g.Statistic, g.Ns, g.Groups})
		}
		for _, g := range tree.Groups(s.MedianNs) {
			group := BytecodeGroup{Label: g.Label, LeastNs: g.Timings[0].Ns, MostNs: g.Timings[len(g.Timings)-1].Ns}
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

// fitsOfBytecode compares each method with the time stamp counter.
func fitsOfBytecode(r *bytecode.Result, pairings []bytecode.Pairing) []BytecodeFit {
	fits := []BytecodeFit{}
	for _, m := range bytecode.Methods() {
		for _, p := range pairings {
			if m == bytecode.TSC {
				continue
			}
			points, leftOut := usablePoints(r, m, p)
			if fit, ok := newBytecodeFit(points); ok {
				fit.Method, fit.Pairing, fit.LeftOut = string(m), string(p), leftOut
				fits = append(fits, fit)
			}
		}
	}
	return fits
}

// usablePoints are those of a method, and the names of those that are unusable. Pairs of
// instructions are left out without a word: they hold the same times once more.
func usablePoints(r *bytecode.Result, m bytecode.Method, p bytecode.Pairing) (points []bytecode.Point, leftOut []string) {
	leftOut = []string{}
	for _, point := range r.Points(m, p) {
		t, ok := r.Timing(point.Mnemonic, point.Form)
		if !ok || point.Form == bytecode.Pair {
			continue
		}
		own, _ := t.By(m)
		alone, _ := t.By(bytecode.TSC)
		if own.Verdict == stats.Unusable || p == bytecode.Unpaired && alone.Verdict == stats.Unusable {
			leftOut = append(leftOut, pointName(point))
			continue
		}
		points = append(points, point)
	}
	return points, leftOut
}

// pointName tells the forms of an instruction apart.
func pointName(p bytecode.Point) string {
	if p.Form == bytecode.Homogeneous {
		return p.Mnemonic
	}
	return p.Mnemonic + " (" + string(p.Form) + ")"
}

// newBytecodeFit is false where there are too few points for a line.
func newBytecodeFit(points []bytecode.Point) (BytecodeFit, bool) {
	var pairs []analysis.Pair
	for _, p := range points {
		pairs = append(pairs, analysis.Pair{Name: pointName(p), Ns: p.Time.Value, ReferenceNs: p.Reference.Value})
	}
	f, err := analysis.Compare(pairs)
	if err != nil {
		return BytecodeFit{}, false
	}
	slope, intercept := f.Line.Slope, f.Line.Intercept
	fit := BytecodeFit{
		Points: len(points), PearsonR: stats.Finite(f.PearsonR),
		Slope: slope.Value, SlopeLo: stats.Finite(slope.Lo), SlopeHi: stats.Finite(slope.Hi),
		InterceptNs: intercept.Value, InterceptLoNs: stats.Finite(intercept.Lo), InterceptHiNs: stats.Finite(intercept.Hi),
		MedianError: stats.Finite(f.MedianError), MaxError: stats.Finite(f.MaxError), Strays: []string{},
	}
	for i, p := range points {
		if pairs[i].ReferenceNs > StrayAboveNs {
			fit.Above++
		}
		fit.Residuals = append(fit.Residuals, BytecodePoint{p.Mnemonic, string(p.Form), pairs[i].Ns, pairs[i].ReferenceNs, f.ResidualsNs[i]})
	}
	for _, p := range analysis.Strays(pairs, StrayAboveNs, StrayShare) {
		fit.Strays = append(fit.Strays, p.Name)
	}
	return fit, true
}

// predictionsOf holds the instructions of each pair against the sum of their own times,
// which is the smallest method that the source's table can be used for.
func predictionsOf(r *bytecode.Result, method bytecode.Method) []BytecodePrediction {
	alone := map[string]stats.Estimate{}
	for i := range r.Timings {
		t := &r.Timings[i]
		found, ok := t.By(method)
		if ok && found.Verdict != stats.Unusable && (t.Form == bytecode.Homogeneous || t.Form == bytecode.NotTaken) {
			alone[t.Instruction.Mnemonic] = found.Time
		}
	}
	predictions := []BytecodePrediction{}
	for i := range r.Timings {
		t := &r.Timings[i]
		found, ok := t.By(method)
		if t.Form != bytecode.Pair || !ok || found.Verdict == stats.Unusable {
			continue
		}
		executed := append([]string{t.Instruction.Mnemonic}, t.Balance...)
		predicted, err := analysis.Predict(executed, alone)
		if err != nil { // one of them has no time, which its own row says
			continue
		}
		together := found.Time
		for _, companion := range t.Balance { // which were taken off
			together.Value += alone[companion].Value
			together.Lo += alone[companion].Value
			together.Hi += alone[companion].Value
		}
		predictions = append(predictions, BytecodePrediction{
			Instructions: executed, Predicted: predicted, Measured: together,
			Error: stats.Finite((predicted.Value - together.Value) / together.Value),
		})
	}
	return predictions
}
