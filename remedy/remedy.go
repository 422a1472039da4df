// Package remedy names what the caller of a library can change to get a better result: a code,
// with a value where one is proposed. A library puts it into the words of a reason; a program
// that offers it otherwise, such as by flags, says how in [Words].
package remedy

import "fmt"

// Code is something that the caller can change.
type Code string

// The codes.
const (
	MaxTime       Code = "MaxTime"       // how long to measure
	MaxRuns       Code = "MaxRuns"       // of a program
	Warmup        Code = "Warmup"        // runs before those that count
	Prepare       Code = "Prepare"       // a command before each run
	Output        Code = "Output"        // where a program's output is shown
	IgnoreFailure Code = "IgnoreFailure" // go on with a program that fails
	CPUs          Code = "CPUs"          // which CPUs to measure on
	Benchmarks    Code = "Benchmarks"    // which benchmarks to measure
	Timeout       Code = "Timeout"       // of a single run
	Restart       Code = "Restart"       // begin anew
	InTurn        Code = "InTurn"        // measure in turn what is to be compared
	Published     Code = "Published"     // measure the clocks that a paper has published
)

// Words returns the words in which a program recommends a remedy. By default they name the functions
// of the Go packages. A program replaces it once, before it measures.
var Words = func(c Code) string { return string(c) }

// Of is the code in the program's words, with the value that is proposed, if any.
func Of(c Code, value ...any) string {
	text := Words(c)
	for _, v := range value {
		text += fmt.Sprintf(" %v", v)
	}
	return text
}
