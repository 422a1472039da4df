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
	Discrete  Method = "discrete"  // all ticks of currentTimeMillis that trials saw
	Bernoulli Method = "bernoulli" // trials that saw a tick of currentTimeMillis
	Nano      Method = "nano"      // System.nanoTime
)

// Methods lists all of them, the reference first.
func Methods() []Method { return []Method{TSC, Counter, Discrete, Bernoulli, Nano} }

// Form says in which surroundings an instruction was timed.
type Form string

// The forms.
const (
	// Homogeneous is a sequence of nothing but the instruction, and of pop or pop2
	// where the stack needs them, which are taken off.
	Homogeneous Form = "homogeneous"
	// Taken and NotTaken are homogeneous sequences of a conditional branch that jumps,
	// to the next instruction, or doesn't.
	Taken    Form = "taken"
	NotTaken Form = "not-taken"
	// Pair is the instruction among companions that feed it and consume what it
	// leaves; their homogeneous times are taken off.
	Pair Form = "pair"
)

// Mode is what of the virtual machine executes the sequences.
type Mode string

// The modes.
const (
	Interpreter Mode = "interpreter"
	C1          Mode = "c1" // the client compiler alone
	C2          Mode = "c2" // the server compiler alone
)

// Pairing says which executions two methods have seen.
type Pairing string

// The pairings.
const (
	Paired   Pairing = "paired"   // the same
	Unpaired Pairing = "unpaired" // those of separate virtual machines
)

// Result is what a run has found.
type Result struct {
	Java   Java
	Mode   Mode
	Length int // of the sequences, in instructions
	// TickNs is the tick of System.currentTimeMillis, CountNs the counting thread's
	// period and TSCHz the rate of the time stamp counter; 0 where none was used.
	TickNs, CountNs, TSCHz float64
	// Timings are those of all instructions and forms, in the order of the catalogue.
	Timings []Timing
	// Overhead is what two readings of a method's timer take, in ns, with no sequence
	// between them (Lambert 2008, section 4.1); by method. The readings of finer timers
	// lie between those of coarser ones, and between all of them the nops that stand
	// before those that end a trial.
	Overhead map[Method]stats.Estimate
	// Starts is how many virtual machines have measured, Stretches how many sequences
	// were timed, and Slow how many of these were left out, since the sentinels
	// beside them were slower than usual.
	Starts, Stretches, Slow int
	// Elapsed is how long it all took.
	Elapsed time.Duration
	// Interrupted tells that the run was cut short, and Unused why a method that was
	// asked for has no part in it.
	Interrupted bool
	Unused      map[Method]string
	// Series is what the estimates rest on; a later run may go on with it.
	Series *Series
	stats.Judgement
}

// Timing is the result for an instruction in one form.
type Timing struct {
	Instruction *Instruction
	Form        Form
	// Balance are the mnemonics whose times are taken off, per instruction: pop or
	// pop2, or the companions of a pair.
	Balance []string
	// Measured are the methods' results, in the order of Methods; those without data
	// are left out.
	Measured []Measured
	// Failure says why there are none, or fewer than there should be: what the virtual
	// machine did. It is empty where nothing happened.
	Failure string
	stats.Judgement
}

// Measured is the result of one method for an instruction.
type Measured struct {
	Method Method `json:"method"`
	// Time is the time of one instruction in nanoseconds, without overhead and balance.
	Time stats.Estimate `json:"time"`
	// Same is the reference's time for the same executions; its numbers are NaN without a reference.
	// For the reference itself it equals Time.
	Same stats.Estimate `json:"tsc"`
	// Trials is how many times the sequence was run, and Elapsed how long it took with
	// all that surrounds it.
	Trials  int64         `json:"trials"`
	Elapsed time.Duration `json:"elapsed_ns"`
	stats.Judgement
}

// By is what a method measured of the instruction, if it timed it.
func (t *Timing) By(m Method) (Measured, bool) {
	for _, found := range t.Measured {
		if found.Method == m {
			return found, true
		}
	}
	return Measured{}, false
}

// Timing is that of an instruction in a form.
func (r *Result) Timing(mnemonic string, form Form) (*Timing, bool) {
	for i := range r.Timings {
		if t := &r.Timings[i]; t.Instruction.Mnemonic == mnemonic && t.Form == form {
			return t, true
		}
	}
	return nil, false
}

// Point is an instruction as a method and the reference have seen it.
type Point struct {
	Mnemonic string
	Form     Form
	// Time is the method's and Reference the reference's, both in nanoseconds.
	Time, Reference stats.Estimate
}

// Points are the instructions that a method and the reference have both timed: on the
// same executions, or on those of separate virtual machines.
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

// known reports that an estimate has a value.
func known(e stats.Estimate) bool { return e.Value == e.Value }
