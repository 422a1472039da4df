package bytecode

import "time"

// Options say what is timed, and how.
type Options struct {
	// Java is the virtual machine; see FindJava.
	Java Java
	// Instructions are mnemonics, in any order; none are all 137.
	Instructions []string
	// Methods are those that the joint measurement uses, all of them on the same
	// executions. None are Counter, Discrete and Bernoulli, with the reference beside
	// them. The reference alone makes the joint measurement idle.
	Methods []Method
	// NoReference leaves the time stamp counter out, as a machine without one does.
	NoReference bool
	Mode        Mode // none is Interpreter
	// Pairs asks for the form Pair as well.
	Pairs bool
	// Length is that of a sequence in instructions; 0 is DefaultLength.
	Length int
	// Duration is how long the joint measurement may take, 0 for DefaultDuration. The
	// reference has a measurement of its own before it, of ReferenceDuration, for
	// unpaired comparisons.
	Duration, ReferenceDuration time.Duration
	// CPUs are those that the virtual machine may use; none are all.
	CPUs []int
	// Load is how many processes of nice 5 compete for the first of CPUs meanwhile; the
	// virtual machine is kept on that one, and the counting thread is not used.
	Load int
	// Seed fixes the order of the sequences.
	Seed uint64
	// Continue is the result of an earlier run with the same options, with which this one goes on.
	Continue *Series
	// Progress is told between sequences how far the run is. It may be nil.
	Progress func(Progress)
}

// ReferenceAlone reports that nothing else is asked for.
func (o Options) ReferenceAlone() bool {
	return len(o.Methods) == 1 && o.Methods[0] == TSC
}

// Progress is how far a run is.
type Progress struct {
	Done  float64       // share, 0 to 1
	Left  time.Duration // as far as it can be foreseen
	Doing string        // the sequence that comes next, or what else is done
}

// What is used where the options don't say.
const (
	DefaultLength            = 1000
	DefaultDuration          = 5 * time.Minute
	DefaultReferenceDuration = 9 * time.Second
)
