package main

import (
	"expvar"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chronoscope/clock"
	"chronoscope/meter"
)

// kernelTick is the cheapest clock, or the test does not apply.
func kernelTick(b *testing.B) meter.Source {
	source, err := meter.KernelTick()
	if err != nil {
		b.Skip(err)
	}
	return source
}

func counter(b *testing.B) meter.Source {
	for _, name := range []string{"tsc", "cntvct"} {
		if c, err := clock.Open(name); err == nil {
			rated := clock.Rated{Clock: c}
			rated.TickNs.Value = 0.4 // its rate changes nothing of what it costs
			source, err := meter.Counter(rated)
			if err != nil {
				b.Fatal(err)
			}
			return source
		}
	}
	b.Skip("no counter")
	return meter.Source{}
}

var subjects = []struct {
	name string
	// pair makes what frames one call.
	pair func(*testing.B) func()
}{
	{"time-now-twice", func(*testing.B) func() {
		//lint:ignore S1012 time.Since reads less of the clock than time.Now does
		return func() { start := time.Now(); keep(int64(time.Now().Sub(start))) }
	}},
	{"time-since", func(*testing.B) func() {
		return func() { start := time.Now(); keep(int64(time.Since(start))) }
	}},
	{"meter", func(b *testing.B) func() { return framed(meter.New("bench", kernelTick(b))) }},
	{"meter-1-in-16", func(b *testing.B) func() {
		return framed(meter.New("bench", kernelTick(b), meter.Sampled(16)))
	}},
	{"meter-counter", func(b *testing.B) func() { return framed(meter.New("bench", counter(b))) }},
	{"prometheus-histogram", func(*testing.B) func() {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bench_seconds"})
		return func() { start := time.Now(); h.Observe(time.Since(start).Seconds()) }
	}},
	{"expvar", func(*testing.B) func() {
		calls, ns := new(expvar.Int), new(expvar.Int)
		return func() { start := time.Now(); ns.Add(int64(time.Since(start))); calls.Add(1) }
	}},
}

func framed(m *meter.Meter) func() { return func() { m.Stop(m.Start()) } }

var kept [16]int64

//go:noinline
func keep(ns int64) {
	if ns < 0 {
		kept[0] = ns
	}
}

// The time of one pair, by one goroutine.
func BenchmarkAlone(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			pair := s.pair(b)
			b.ReportAllocs()
			for b.Loop() {
				pair()
			}
		})
	}
}

// The processor time of one pair, by as many goroutines as there are processors,
// all on one meter: cpu-ns/op, GOMAXPROCS times the time that passes. It is to be held
// against that of the same pair alone.
func BenchmarkTogether(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			pair := s.pair(b)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					pair()
				}
			})
			b.ReportMetric(float64(runtime.GOMAXPROCS(0))*float64(b.Elapsed())/float64(b.N), "cpu-ns/op")
		})
	}
}
