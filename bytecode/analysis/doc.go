// Package analysis describes what the times of a virtual machine's instructions have in common: their
// distribution and outliers ([Summarize]), groups of instructions that take about the same time
// ([Cluster]), how well two ways of timing them agree ([Compare]), and how long a method that
// consists of them should take ([Predict]).
//
// These are sections 4 and 5 of Lambert and Power, "Platform Independent Timing of Java Virtual
// Machine Bytecode Instructions", 2008, and the use of their table that section 6 plans. The package
// does not depend on how the times were measured, so that Lambert and Power's own times can be
// analysed too ([Lambert]).
package analysis

// Timing is the time of one instruction.
type Timing struct {
	Name string
	Ns   float64
}

func nsOf(timings []Timing) []float64 {
	all := make([]float64, len(timings))
	for i, t := range timings {
		all[i] = t.Ns
	}
	return all
}
