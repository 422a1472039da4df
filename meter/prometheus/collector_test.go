package prometheus_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"chronoscope/internal/prometheustest"
	"chronoscope/meter"
	"chronoscope/meter/prometheus"
)

// counted is a meter on a clock that moves by one tick of 1 ms within every tenth of
// 1,000 calls.
func counted(t *testing.T, name string) *meter.Meter {
	var ticks int64
	source, err := meter.Own{
		Name: "by-hand", Read: func() int64 { return ticks }, Tick: time.Millisecond,
		Unbiased: "the test moves it",
	}.Source()
	if err != nil {
		t.Fatal(err)
	}
	m := meter.New(name, source)
	for i := range 1000 {
		start := m.Start()
		if i%10 == 0 {
			ticks++
		}
		m.Stop(start)
	}
	m.Stop(meter.Start{})
	return m
}

// What promtool's linter says of the names, and what the numbers are.
func TestMetricsFollowTheConventions(t *testing.T) {
	registry := client.NewPedanticRegistry()
	registry.MustRegister(prometheus.NewCollector(counted(t, "encode"), counted(t, "decode")))
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A real server scrapes a real HTTP endpoint and answers queries with what the meter
// counted.
func TestPrometheusScrapesAMeter(t *testing.T) {
	m := counted(t, "encode")
	registry := client.NewRegistry()
	registry.MustRegister(prometheus.NewCollector(m))
	exporter := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer exporter.Close()
	server := prometheustest.Start(t, fmt.Sprintf(
		"scrape_configs:\n- job_name: meter\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  static_configs:\n  - targets: [%q]\n",
		strings.TrimPrefix(exporter.URL, "http://")))

	p := m.Snapshot().Parts[0]
	report := m.Snapshot().Report()
	for query, want := range map[string]float64{
		`chronoscope_meter_calls_total{meter="encode"}`:                         1000,
		`chronoscope_meter_edges_total`:                                         100,
		`chronoscope_meter_seconds_total`:                                       0.1,
		`chronoscope_meter_tick_seconds`:                                        0.001,
		`chronoscope_meter_faults_total{kind="foreign"}`:                        1,
		`chronoscope_meter_mean_lower_seconds < chronoscope_meter_mean_seconds`: report.Mean.Lo / 1e9,
		`chronoscope_meter_mean_upper_seconds > chronoscope_meter_mean_seconds`: report.Mean.Hi / 1e9,
		`chronoscope_meter_mean_tick_bias_seconds`:                              0.015 * 1e-4,
		`sum(chronoscope_meter_verdict)`:                                        1,
		`(chronoscope_meter_seconds_total - chronoscope_meter_clock_cost_seconds_total) / chronoscope_meter_measured_calls_total`: (0.1 - p.CostNs/1e9) / 1000,
	} {
		if got := ask(t, server, query); got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%s is %v, want %v", query, got, want)
		}
	}
}

// ask repeats a query until it has an answer of one number: the server has to start, and to scrape.
func ask(t *testing.T, server prometheustest.Server, query string) float64 {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var found []prometheustest.Sample
		if found, err = server.Query(query); err != nil || len(found) != 1 {
			continue
		}
		word, _ := found[0].Value[1].(string)
		var value float64
		if value, err = strconv.ParseFloat(word, 64); err == nil {
			return value
		}
	}
	t.Fatalf("no answer to %s within a minute: %v", query, err)
	return 0
}
