package gobench

import (
	"context"
	"fmt"
	"strings"

	"chronoscope/remedy"
)

// Found are the benchmarks of a package.
type Found struct {
	Benchmarks []Benchmark
	// Skipped has the names of benchmarks that skip themselves, Failed those that fail.
	Skipped []string
	Failed  []*FailedError
}

// mostCrashes is the number of benchmarks of a package that end their process, after which the search is given
// up.
const mostCrashes = 50

// Discover runs each benchmark of a compiled test that matches the pattern (go help testflag) once, since only
// running them tells which sub-benchmarks there are. If a benchmark ends the process, the search is repeated
// without it.
func (p Processes) Discover(ctx context.Context, test Benchmark, pattern string) (Found, error) {
	var found Found
	var crashed []string
	for range mostCrashes {
		args := []string{"-test.bench=" + pattern, "-test.benchmem", "-test.benchtime=1x", "-test.v=test2json"}
		if len(crashed) > 0 {
			args = append(args, "-test.skip="+strings.Join(crashed, "|"))
		}
		run, output, err := p.test(ctx, test, false, nil, args...)
		why := fmt.Sprint(run.Failure())
		if failed, ok := err.(*FailedError); ok {
			why = failed.Why
		} else if err != nil {
			return found, err
		}
		l := parseListing(output)
		regular := strings.HasSuffix(strings.TrimSpace(output), "FAIL") && len(l.failed) > 0
		early := err != nil || run.Failure() != nil && !regular
		name := l.ending(output)
		if early && name == "" {
			return found, fmt.Errorf("the tests of %s end beside their benchmarks (%s): %s", test.Package, why, lastLine(output))
		}
		if !early {
			found.take(test, l, output)
			return found, nil
		}
		found.Failed = append(found.Failed, &FailedError{Benchmark: test.named(name), Why: why, Output: said(output, name, len(output))})
		crashed = append(crashed, exactly(name))
	}
	return found, fmt.Errorf("%d benchmarks of %s end their process: choose others with %s", mostCrashes, test.Package, remedy.Of(remedy.Benchmarks))
}

func (f *Found) take(test Benchmark, l listing, output string) {
	for _, name := range l.unfinished {
		if !printsResult(output, name) {
			continue // it only has sub-benchmarks, and none of them was asked for
		}
		_, _, err := resultOf(output, name)
		l.failed = append(l.failed, &FailedError{Benchmark: Benchmark{Name: name}, Why: err.Error()})
	}
	for i, name := range l.measurable {
		b := test.named(name)
		b.Accounts = l.accounts[i]
		f.Benchmarks = append(f.Benchmarks, b)
	}
	for _, name := range l.skipped {
		f.Skipped = append(f.Skipped, test.named(name).Name)
	}
	for _, failed := range l.failed {
		failed.Benchmark = test.named(failed.Benchmark.Name)
		f.Failed = append(f.Failed, failed)
	}
}
