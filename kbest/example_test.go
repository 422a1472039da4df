package kbest_test

import (
	"context"
	"fmt"
	"os"
	"slices"

	"chronoscope/kbest"
)

// A function that sorts its input has to find it unsorted each time.
func ExampleBefore() {
	input, work := []int{3, 1, 2}, make([]int, 3)
	result, err := kbest.Measure(func() { slices.Sort(work) }, kbest.Before(func() { copy(work, input) }))
	if err != nil {
		return // no clock here
	}
	fmt.Println(result.Calls, "call a trial")
	// Output: 1 call a trial
}

// The sum of some numbers, which nobody needs, known better than usual.
func ExampleKeep() {
	numbers := make([]int, 1000)
	sum := func() (total int) {
		for _, n := range numbers {
			total += n
		}
		return total
	}
	plan := kbest.DefaultPlan
	plan.Precision = 0.001
	result, err := kbest.Measure(func() { kbest.Keep(sum()) }, kbest.WithPlan(plan))
	if err != nil {
		return // no clock here
	}
	e := result.Estimate
	fmt.Fprintln(os.Stderr, e.Value, e.Lo, e.Hi, e.Unit, result.Verdict, result.Reasons)
	// Output:
}

// How long does it take to find something in a table that has not been used for a
// while?
func ExampleCold() {
	evictor, err := kbest.NewEvictor(os.DirFS("/"))
	if err != nil {
		return
	}
	defer evictor.Close()
	table := make([]int, 1<<12)
	plan := kbest.DefaultPlan
	plan.MaxTrials = 16
	find := func() { kbest.Keep(slices.Index(table, 1)) }
	if _, err := kbest.Measure(find, kbest.Cold(evictor), kbest.WithPlan(plan)); err != nil {
		return
	}
	if check, err := evictor.Check(context.Background()); err == nil && !check.Works {
		fmt.Fprintln(os.Stderr, check.Reasons) // the figure is not of cold data
	}
	// Output:
}

// Is one way of adding up faster than the other?
func ExampleCompare() {
	station, release, err := kbest.Here(context.Background(), kbest.Setting{})
	if err != nil {
		return
	}
	defer release()
	numbers := make([]int, 1000)
	sum := func(step int) func(n int) {
		return func(n int) {
			for range n {
				total := 0
				for i := 0; i < len(numbers); i += step {
					total += numbers[i]
				}
				kbest.Keep(total)
			}
		}
	}
	results, err := station.Measure(context.Background(), kbest.DefaultPlan,
		kbest.Subject{Name: "all", Run: sum(1)}, kbest.Subject{Name: "every tenth", Run: sum(10)})
	if err != nil {
		return
	}
	c, err := kbest.Compare(results[0], results[1], 0.01)
	if err != nil {
		return
	}
	fmt.Fprintf(os.Stderr, "%s is %s than %s: %.3f of its time, [%.3f, %.3f], P = %.2g\n", c.B, c.Outcome, c.A, c.Ratio.Value, c.Ratio.Lo, c.Ratio.Hi, c.P)
	// Output:
}
