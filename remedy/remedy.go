// Package remedy names what the caller of a library can change to get a better result: a code, and a
// value if one is proposed. A library uses the codes in its reasons. A program that offers these
// settings in another form, such as flags, replaces [Words].
package remedy

import "fmt"

// Code is something that the caller can change.
type Code string

// The codes.
const (
	MaxTime       Code = "MaxTime"       // how long to measure
	MaxRuns       Code = "MaxRuns"       // number of runs of a program
	Runs          Code = "Runs"          // the exact number of runs of a program
	Warmup        Code = "Warmup"        // runs before those that count
	Prepare       Code = "Prepare"       // a command before each run
	Output        Code = "Output"        // where a program's output is shown
	IgnoreFailure Code = "IgnoreFailure" // go on with a program that fails
	CPUs          Code = "CPUs"          // which CPUs to measure on
	Nice          Code = "Nice"          // the niceness of what is measured
	Benchmarks    Code = "Benchmarks"    // which benchmarks to measure
	Timeout       Code = "Timeout"       // of a single run
	Restart       Code = "Restart"       // start from the beginning
	KeepBusy      Code = "KeepBusy"      // keep the CPUs from being idle
	InTurn        Code = "InTurn"        // measure the compared subjects in turn
	Published     Code = "Published"     // measure the clocks for which a paper gives figures
)

// Words returns the words in which a program recommends a remedy. By default they name the functions
// of the Go packages. A program replaces it once, before it measures.
var Words = func(c Code) string { return string(c) }

// Of returns the code in the program's words, followed by the proposed values.
func Of(c Code, value ...any) string {
	text := Words(c)
	for _, v := range value {
		text += fmt.Sprintf(" %v", v)
	}
	return text
}
