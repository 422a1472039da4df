package prometheus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"chronoscope/clock"
	"chronoscope/meter"
	"chronoscope/meter/prometheus"
	"chronoscope/stats"
)

// A meter with tails exports what it timed as a native histogram: 100 calls of 1 ms, 3 of 1 s. In
// schema 5, 1 s is the upper bound of bucket 0, and 1 ms lies in bucket ceil(32 log2(0.001)) = -318. Buckets in
// between are empty. The slow calls are exemplars of the histogram that counts from when they should have begun, as their
// times do. A name or a trace that no label can hold loses nothing but itself.
func TestNativeHistogramWithExemplars(t *testing.T) {
	before := time.Now()
	var ns int64
	tick := stats.Estimate{Value: 1, Lo: 1, Hi: 1, Unit: "ns"}
	rated := clock.Rated{Clock: clock.New(clock.Clock{Name: "by-hand"}, func() int64 { return ns }), TickNs: tick, AccuracyNs: 1}
	source, err := meter.Counter(rated)
	if err != nil {
		t.Fatal(err)
	}
	traces := []string{"4bf92f3577b34da6"}
	m := meter.New("en\xffcode", source, meter.WithTails(rated), meter.TraceIDs(func(context.Context) string { return traces[0] }))
	call := func(length time.Duration) {
		start := m.StartAt(time.Now())
		ns += int64(length)
		m.StopContext(t.Context(), start)
	}
	for range 100 {
		call(time.Millisecond)
	}
	for _, trace := range []string{"4bf92f3577b34da6", "\xff", strings.Repeat("a", 200)} {
		traces[0] = trace
		call(time.Second)
	}
	registry := client.NewPedanticRegistry()
	registry.MustRegister(prometheus.NewCollector(m))
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			seen++
			if name := f.GetMetric()[0].GetLabel()[0].GetValue(); name != "en\uFFFDcode" {
				t.Errorf("the meter is called %q", name)
			}
			if created := h.GetCreatedTimestamp().AsTime(); created.Before(before) || created.After(time.Now()) {
				t.Errorf("%s was created at %v", f.GetName(), created)
			}
			intended := f.GetName() == "chronoscope_meter_timed_call_from_intended_seconds"
			slow := 0
			for _, x := range h.GetExemplars() {
				if x.GetLabel()[0].GetValue() != "4bf92f3577b34da6" {
					t.Errorf("%v", x)
				}
				if x.GetValue() >= 1 {
					slow++
				}
			}
			if intended != (slow == 1) || !intended && len(h.GetExemplars()) > 0 {
				t.Errorf("%s: %v", f.GetName(), h.GetExemplars())
			}
			if f.GetName() != "chronoscope_meter_timed_call_seconds" {
				continue
			}
			if h.GetSampleCount() != 103 || h.GetSampleSum() != 3.1 || h.GetSchema() != 5 {
				t.Errorf("%v", h)
			}
			if d := h.GetPositiveDelta(); len(d) != 2 || d[0] != 100 || d[1] != 3-100 || h.GetPositiveSpan()[0].GetOffset() != -318 {
				t.Errorf("%v", h)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d histograms, want that of the calls and that from when they should have begun", seen)
	}
}
