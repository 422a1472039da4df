package bytecode

import (
	"time"

	"chronoscope/stats"
)

// Method names a way to time a sequence.
type Method string

// The methods.
const (
	TSC       Method = "tsc"       // the processor's time stamp counter, the reference
	Counter   Method = "counter"   // a counting thread, calibrated by currentTimeMillis
	Discrete  Method = "discrete"  // all ticks of currentTimeMillis during trials
	Bernoulli Method = "bernoulli" // the trials during which currentTimeMillis ticked
	Nano      Method = "nano"      // System.nanoTime
)

// Methods returns all methods, the reference first.
func Methods() []Method { return []Method{TSC, Counter, Discrete, Bernoulli, Nano} }

// Form says in what kind of sequence an instruction was timed.
type Form string

// The forms.
const (
	// Homogeneous is a sequence of the instruction alone, or of the instruction and pop or pop2 if the
	// stack requires it. The times of pop and pop2 are subtracted.
	Homogeneous Form = "homogeneous"
	// Taken and NotTaken are homogeneous sequences of a conditional branch that jumps to the next
	// instruction, or does not jump.
	Taken    Form = "taken"
	NotTaken Form = "not-taken"
	// Pair is a sequence of the instruction with companions that supply its operands and consume its
	// results. The times of the companions' homogeneous sequences are subtracted.
	Pair Form = "pair"
)

// Mode says which part of the virtual machine executes the sequences.
type Mode string

// The modes.
const (
	Interpreter Mode = "interpreter"
	C1          Mode = "c1" // the client compiler alone
	C2          Mode = "c2" // the server compiler alone
)

// Pairing says which executions two methods have measured.
type Pairing string

// The pairings.
const (
	Paired   Pairing = "paired"   // the same executions
	Unpaired Pairing = "unpaired" // executions in separate virtual machines
)

// Result is the result of a run.
type Result struct {
	Java   Java
	Mode   Mode
	Length int // number of instructions in a sequence
	// TickNs is the tick of System.currentTimeMillis, CountNs the period of the counting thread's
	// counter and TSCHz the rate of the time stamp counter; 0 if it was not used.
	TickNs, CountNs, TSCHz float64
	// Timings are the results for all instructions and forms, in the order of the catalogue.
	Timings []Timing
	// Overhead is the time that two readings of each method's timer take, in ns, with no sequence
	// between them (Lambert 2008, section 4.1). It includes the readings of finer timers, which are
	// between the readings of coarser ones, and the nops before the readings that end a trial.
	Overhead map[Method]stats.Estimate
	// Starts is the number of virtual machines that measured, and Stretches the number of sequences
	// that were timed. Slow is the number of stretches that were left out because a sentinel of their
	// group was slower than usual.
	Starts, Stretches, Slow int
	// Elapsed is how long everything took.
	Elapsed time.Duration
	// Interrupted says that the run was interrupted. Unused says why a requested method was not used.
	Interrupted bool
	Unused      map[Method]string
	// Series holds the measurements from which the estimates come; a later run may continue it.
	Series *Series
	stats.Judgement
}

// Timing is the result for an instruction in one form.
type Timing struct {
	Instruction *Instruction
	Form        Form
	// Balance are the mnemonics of the instructions whose times are subtracted, per instruction: pop
	// or pop2, or the companions of a pair.
	Balance []string
	// Measured are the methods' results, in the order of Methods; methods without data are left out.
	Measured []Measured
	// Failure says what the virtual machine did, if results are missing because of that; otherwise it
	// is empty.
	Failure string
	stats.Judgement
}

// Measured is the result of one method for an instruction.
type Measured struct {
	Method Method `json:"method"`
	// Time is the time of one instruction in nanoseconds. The time of the timer's readings ([Result.Overhead]) and the
	// times of the instructions in [Timing.Balance] are subtracted.
	Time stats.Estimate `json:"time"`
	// Same is the reference's time for the same executions; its numbers are NaN without a reference.
	// For the reference itself it equals Time.
	Same stats.Estimate `json:"tsc"`
	// Trials is how many times the sequence was run, and Elapsed how long that took, including the
	// readings and everything else around it.
	Trials  int64         `json:"trials"`
	Elapsed time.Duration `json:"elapsed_ns"`
	stats.Judgement
}

// By returns the result of a method for the instruction, if the method timed it.
func (t *Timing) By(m Method) (Measured, bool) {
	for _, found := range t.Measured {
		if found.Method == m {
			return found, true
		}
	}
	return Measured{}, false
}

// Timing returns the result for an instruction in a form.
func (r *Result) Timing(mnemonic string, form Form) (*Timing, bool) {
	for i := range r.Timings {
		if t := &r.Timings[i]; t.Instruction.Mnemonic == mnemonic && t.Form == form {
			return t, true
		}
	}
	return nil, false
}

// Point is an instruction with the times of a method and of the reference.
type Point struct {
	Mnemonic string
	Form     Form
	// Time is the method's time and Reference the reference's, both in nanoseconds.
	Time, Reference stats.Estimate
}

// Points returns the instructions that both a method and the reference have timed: in the same
// executions, or in executions in separate virtual machines.
func (r *Result) Points(m Method, p Pairing) []Point {
	var points []Point
	for i := range r.Timings {
		t := &r.Timings[i]
		found, ok := t.By(m)
		if !ok {
			continue
		}
		reference := found.Same
		if p == Unpaired {
			alone, ok := t.By(TSC)
			if !ok || m == TSC {
				continue
			}
			reference = alone.Time
		}
		if known(found.Time) && known(reference) {
			points = append(points, Point{t.Instruction.Mnemonic, t.Form, found.Time, reference})
		}
	}
	return points
}

// known reports whether an estimate has a value.
func known(e stats.Estimate) bool { return e.Value == e.Value }
