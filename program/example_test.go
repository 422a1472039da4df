package program_test

import (
	"context"
	"fmt"
	"os"

	"chronoscope/process"
	"chronoscope/program"
)

// How long does a program take, if it has the machine to itself?
func ExampleMeasure() {
	ctx := context.Background()
	setting, release, err := program.Here(ctx, program.Setting{})
	defer release()
	if err != nil {
		return
	}
	plan := program.QuickPlan
	plan.MaxRuns = plan.MinRuns
	commands := []program.Command{{Name: "nap", Command: process.Command{Path: "sleep", Args: []string{"0.01"}}}}
	results, err := program.Measure(ctx, commands, plan, setting, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, r := range results { // as many as there are commands
		e := r.Estimate
		fmt.Fprintln(os.Stderr, r.Command.Name, e.Value, e.Lo, e.Hi, e.Unit, r.Verdict, r.Reasons)
	}
	// Output:
}
