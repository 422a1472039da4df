package benchmark

import (
	"fmt"
	"testing"

	"chronoscope/kbest"
	"chronoscope/stats"
)

// Calls is the body of a benchmark. It calls f as often as the benchmark asks for, which gives Go's own ns/op,
// and then times plan.Calls calls one by one with [kbest.Station.Calls]. The metrics kbest-p50-ns,
// kbest-p90-ns, kbest-p99-ns and kbest-p99.9-ns are percentiles of the calls without the time that other
// programs, the kernel and the host took. kbest-worst-ns is the longest call as it was. A percentile for which
// there are too few calls is left out; kbest-verdict is always there. All percentiles with their intervals are
// logged, which go test shows with -v.
func Calls(b *testing.B, f func(), plan kbest.CallsPlan) {
	b.Helper()
	for b.Loop() {
		f()
	}
	b.StopTimer()
	c, err := callsOf(b, f, plan)
	if err != nil {
		b.Logf("calls one by one: %v", err)
	}
	if c == nil {
		b.ReportMetric(grade(stats.Unusable), VerdictUnit)
		return
	}
	b.Log(c)
	for _, reason := range c.Reasons {
		b.Logf("the calls are %s: %s", c.Verdict, reason)
	}
	reportCalls(b.ReportMetric, c)
}

func callsOf(b *testing.B, f func(), plan kbest.CallsPlan) (*kbest.Calls, error) {
	station, release, err := kbest.Here(b.Context(), kbest.Setting{})
	if err != nil {
		return nil, err
	}
	defer release()
	return station.Calls(b.Context(), plan, kbest.Subject{Name: b.Name(), Run: func(n int) {
		for range n {
			f()
		}
	}})
}

func reportCalls(metric func(value float64, unit string), c *kbest.Calls) {
	metric(grade(c.Verdict), VerdictUnit)
	if c.Verdict == stats.Unusable {
		return
	}
	for i, e := range c.Undisturbed.Percentiles {
		if finite(e.Value) {
			metric(e.Value, fmt.Sprintf("kbest-p%v-ns", 100*stats.TailPercentiles[i]))
		}
	}
	metric(c.All.WorstNs.Value(), "kbest-worst-ns")
}
