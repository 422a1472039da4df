// Package benchmark adds figures of K-best measurements to the output of go test -bench. It is a package of its
// own, so that a program that measures does not import package testing.
package benchmark

import (
	"math"
	"testing"

	"chronoscope/kbest"
	"chronoscope/stats"
)

// The extra metrics. The half-width of the 95 % interval is a metric of its own: it can't stand in the unit of
// the value, since a unit must not contain characters that tools take for separators.
const (
	NsUnit        = "kbest-ns/op"
	HalfWidthUnit = "kbest-hw-ns/op"
	VerdictUnit   = "kbest-verdict" // 0 trusted, 1 suspect, 2 unusable
)

// Run is the body of a benchmark. It calls f as often as the benchmark asks for, which gives Go's own ns/op,
// and then measures it with [kbest.Measure], once for each repetition (-count). The metrics kbest-ns/op and
// kbest-hw-ns/op are left out if f could not be measured; kbest-verdict is always there. Reasons against a
// figure are logged, which go test shows with -v. f must allow any number of calls.
//
//	func BenchmarkSort(b *testing.B) {
//		benchmark.Run(b, func() { sorted(input) })
//	}
func Run(b *testing.B, f func(), with ...kbest.Option) {
	b.Helper()
	for b.Loop() {
		f()
	}
	b.StopTimer()
	options := append([]kbest.Option{kbest.Named(b.Name()), kbest.WithContext(b.Context())}, with...)
	r, err := kbest.Measure(f, options...)
	if err != nil {
		b.Logf("K-best: %v", err)
	}
	if r == nil {
		b.ReportMetric(2, VerdictUnit)
		return
	}
	for _, reason := range r.Reasons {
		b.Logf("K-best is %s: %s", r.Verdict, reason)
	}
	report(b.ReportMetric, r)
}

func report(metric func(value float64, unit string), r *kbest.Result) {
	metric(grade(r.Verdict), VerdictUnit)
	if finite(r.Estimate.Value) && finite(r.Estimate.HalfWidth()) {
		metric(r.Estimate.Value, NsUnit)
		metric(r.Estimate.HalfWidth(), HalfWidthUnit)
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// grade returns the verdict as a number.
func grade(v stats.Verdict) float64 {
	switch v {
	case stats.Trusted:
		return 0
	case stats.Suspect:
		return 1
	}
	return 2
}
