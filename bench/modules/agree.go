package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"chronoscope/bench/internal/peer"
	"chronoscope/stats"
)

// agreement says how the figures of go test and chronoscope bench are compared.
type agreement struct {
	tool, packages string
	functions      int           // benchmark functions of each module
	benchTime      time.Duration // of each of the ten repetitions
	limit          time.Duration
}

// figure is what one of the two tools says about a benchmark. wall is the time of an operation by the benchmark's
// own timer; alone, of chronoscope only, is the time on a machine of its own, for which verdict is said.
type figure struct {
	wall, alone seconds
	allocs      float64
	verdict     stats.Verdict
}

// seconds is a time with its 95 % interval.
type seconds struct{ value, lo, hi float64 }

func (s seconds) meets(other seconds) bool { return s.lo <= other.hi && other.lo <= s.hi }

func (s seconds) String() string { return fmt.Sprintf("%.4g (%.4g to %.4g)", s.value, s.lo, s.hi) }

// half is the number of repetitions of go test before chronoscope's, and again after them, so that drift hits
// both alike.
const half = 5

// compare prints the benchmarks of a module whose figures disagree, and a line for the module.
func (a agreement) compare(ctx context.Context, w io.Writer, module string) error {
	dir, err := download(ctx, module)
	if err != nil {
		return err
	}
	began, suffix := time.Now(), procsSuffix(runtime.GOMAXPROCS(0))
	once, err := peer.Output(ctx, dir, "go", "test", "-run=^$", "-bench=.", "-benchtime=1x", "-timeout="+a.limit.String(), a.packages)
	chosen, packages := chooseFunctions(namesOf(string(once), suffix), a.functions)
	if len(chosen) == 0 {
		return cmp.Or(err, fmt.Errorf("go test runs no benchmark"))
	}
	bench := "^(" + strings.Join(chosen, "|") + ")$"
	measure := append([]string{
		"test", "-run=^$", "-bench=" + bench, "-benchmem", fmt.Sprintf("-count=%d", half), "-benchtime=" + a.benchTime.String(), "-timeout=" + a.limit.String(),
	}, packages...)
	before, failed := peer.Output(ctx, dir, "go", measure...)
	document, failedToo := peer.Output(ctx, dir, a.tool, slices.Concat([]string{"bench"}, packages, []string{"--bench=" + bench, "--quick", "--timeout=" + a.limit.String(), "--format=json"})...)
	if len(document) == 0 {
		return failedToo
	}
	after, failedAgain := peer.Output(ctx, dir, "go", measure...)
	for _, err := range []error{failed, failedToo, failedAgain} { // if some fail, the others are compared
		if err != nil {
			fmt.Fprintf(w, "\t%v\n", err)
		}
	}
	theirs, err := theirFigures(slices.Concat(before, []byte("\n"), after), suffix)
	if err != nil {
		return err
	}
	ours, err := ourFigures(document)
	if err != nil {
		return err
	}
	a.report(w, module, theirs, ours, time.Since(began))
	return ctx.Err()
}

// headOfAgreement has the names of the columns of report.
const headOfAgreement = "module                                     both  sec/op agrees  disagrees  not usable  wall agrees  allocs/op agree  disagree  median ratio  minutes\n"

// report prints how many benchmarks both tools have, and those that disagree: whose intervals of the time do
// not overlap, or whose allocations are not the same number (go test rounds it down). "sec/op" compares
// chronoscope's time alone with go test's sec/op; the two are the same only if nothing else wants the CPUs. "wall"
// compares the times by the benchmarks' own timers in both tools, which include what other programs took.
func (a agreement) report(w io.Writer, module string, theirs, ours map[string]figure, took time.Duration) {
	both, agree, disagree, unusable, walls, same, other := 0, 0, 0, 0, 0, 0, 0
	var ratios []float64
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		they, we := theirs[name], ours[name]
		if we == (figure{}) {
			fmt.Fprintf(w, "\tno line of ours: %s\n", name)
			continue
		}
		both++
		switch {
		case we.verdict == "unusable" || math.IsNaN(we.alone.value):
			unusable++
		case we.alone.meets(they.wall):
			agree++
		default:
			disagree++
			fmt.Fprintf(w, "\tsec/op: %s: go test %v, ours alone %v, %s\n", name, they.wall, we.alone, we.verdict)
		}
		if we.verdict != "unusable" && we.alone.value > 0 {
			ratios = append(ratios, we.alone.value/they.wall.value)
		}
		if we.wall.meets(they.wall) {
			walls++
		} else {
			fmt.Fprintf(w, "\twall: %s: go test %v, ours %v\n", name, they.wall, we.wall)
		}
		switch {
		case math.IsNaN(we.allocs) && math.IsNaN(they.allocs):
		case math.Floor(we.allocs+1e-6) == they.allocs:
			same++
		default:
			other++
			fmt.Fprintf(w, "\tallocs/op: %s: go test %g, ours %.4g\n", name, they.allocs, we.allocs)
		}
	}
	median := math.NaN()
	if len(ratios) > 0 {
		median = benchmath.AssumeNothing.Summary(benchmath.NewSample(ratios, &benchmath.DefaultThresholds), 0.95).Center
	}
	fmt.Fprintf(w, "%-42s %4d  %13d  %9d  %10d  %11d  %15d  %8d  %12.4f  %7.1f\n", module, both, agree, disagree, unusable, walls, same, other, median, took.Minutes())
}

// chooseFunctions returns up to n benchmark functions, spread evenly over all of them, and their packages.
func chooseFunctions(names map[string]bool, n int) (chosen, packages []string) {
	var all []string
	for name := range names {
		function, _, _ := strings.Cut(name[strings.LastIndex(name, ".Benchmark"):], "/")
		all = append(all, strings.TrimSuffix(name[:strings.LastIndex(name, ".Benchmark")], "/")+" "+function[1:])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range min(n, len(all)) {
		in, function, _ := strings.Cut(all[i*len(all)/min(n, len(all))], " ")
		chosen, packages = append(chosen, regexp.QuoteMeta(function)), append(packages, in)
	}
	slices.Sort(chosen)
	slices.Sort(packages)
	return slices.Compact(chosen), slices.Compact(packages)
}

// theirFigures returns what benchstat computes from the output of go test, with names without the suffix.
func theirFigures(output []byte, suffix string) (map[string]figure, error) {
	times, allocs := map[string][]float64{}, map[string][]float64{}
	reader := benchfmt.NewReader(bytes.NewReader(output), "go test")
	for reader.Scan() {
		r, is := reader.Result().(*benchfmt.Result)
		if !is {
			continue
		}
		name := r.GetConfig("pkg") + ".Benchmark" + strings.TrimSuffix(string(r.Name), suffix)
		if x, known := r.Value("sec/op"); known {
			times[name] = append(times[name], x)
		}
		if x, known := r.Value("allocs/op"); known {
			allocs[name] = append(allocs[name], x)
		}
	}
	all := map[string]figure{}
	for name, samples := range times {
		if len(samples) != 2*half {
			continue
		}
		summary := func(samples []float64) benchmath.Summary {
			return benchmath.AssumeNothing.Summary(benchmath.NewSample(samples, &benchmath.DefaultThresholds), 0.95)
		}
		s, allocated := summary(samples), math.NaN()
		if len(allocs[name]) > 0 {
			allocated = math.Floor(summary(allocs[name]).Center)
		}
		all[name] = figure{wall: seconds{s.Center, s.Lo, s.Hi}, allocs: allocated}
	}
	return all, reader.Err()
}

// ourFigures returns the figures of chronoscope's document.
func ourFigures(document []byte) (map[string]figure, error) {
	var d struct {
		Results []struct {
			peer.Result
			Metrics []struct {
				Unit  string
				Value float64
			}
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	in := func(e stats.Estimate) seconds {
		e = e.Scaled(1e-9, "s")
		return seconds{e.Value, e.Lo, e.Hi}
	}
	all := map[string]figure{}
	for _, r := range d.Results {
		f := figure{in(r.Wall), in(r.Estimate), math.NaN(), r.Verdict}
		for _, m := range r.Metrics {
			if m.Unit == "allocs/op" {
				f.allocs = m.Value
			}
		}
		all[r.Package+"."+r.Name] = f
	}
	return all, nil
}
