package bytecode

import "time"

// Options says what is timed, and how.
type Options struct {
	// Java is the virtual machine; see FindJava.
	Java Java
	// Instructions are mnemonics, in any order; if empty, all 137 are timed.
	Instructions []string
	// Methods are the methods of the joint measurement, which all measure the same executions. If
	// empty, they are Counter, Discrete and Bernoulli, together with the reference. If they are the
	// reference alone, there is no joint measurement.
	Methods []Method
	// NoReference leaves the time stamp counter out, as if the machine had none.
	NoReference bool
	Mode        Mode // if empty, Interpreter
	// Pairs asks for the form Pair as well.
	Pairs bool
	// Length is the number of instructions in a sequence; 0 means DefaultLength.
	Length int
	// Duration is how long the joint measurement may take; 0 means DefaultDuration. For unpaired
	// comparisons, the reference has a measurement of its own, which takes ReferenceDuration.
	Duration, ReferenceDuration time.Duration
	// CPUs are the CPUs that the virtual machine may use; if empty, all.
	CPUs []int
	// Load is the number of processes of nice 5 that compete for the first of CPUs during the
	// measurement. The virtual machine is then bound to that CPU, and there is no counting thread.
	Load int
	// Seed determines the order of the sequences.
	Seed uint64
	// Continue is the series of an earlier run with the same options, which this run continues.
	Continue *Series
	// Progress is called between sequences. It may be nil.
	Progress func(Progress)
}

// ReferenceAlone reports whether the reference is the only method.
func (o Options) ReferenceAlone() bool {
	return len(o.Methods) == 1 && o.Methods[0] == TSC
}

// Progress says how much of a run is done.
type Progress struct {
	Done  float64       // share, 0 to 1
	Left  time.Duration // an estimate
	Doing string        // the sequence that comes next, or what else is done
}

// Defaults of the options.
const (
	DefaultLength            = 1000
	DefaultDuration          = 5 * time.Minute
	DefaultReferenceDuration = 9 * time.Second
)
