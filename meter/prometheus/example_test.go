package prometheus_test

import (
	"fmt"

	client "github.com/prometheus/client_golang/prometheus"

	"chronoscope/clock"
	"chronoscope/meter"
	"chronoscope/meter/prometheus"
	"chronoscope/stats"
)

// A meter's counters are scraped like any others. The clock is a count that the example keeps;
// a program takes [meter.KernelTick] as its source.
func ExampleNewCollector() {
	now := int64(0)
	tick := stats.Estimate{Value: 1000, Lo: 1000, Hi: 1000, Unit: "ns"}
	source, err := meter.Counter(clock.Rated{Clock: clock.New(clock.Clock{Name: "count"}, func() int64 { return now }), TickNs: tick, AccuracyNs: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	encode := meter.New("encode", source)
	for range 3 {
		start := encode.Start()
		now += 5
		encode.Stop(start)
	}
	registry := client.NewRegistry()
	registry.MustRegister(prometheus.NewCollector(encode))
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "chronoscope_meter_calls_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output: chronoscope_meter_calls_total 3
}
