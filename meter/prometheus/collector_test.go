package prometheus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

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
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("no prometheus in PATH: install the Debian package prometheus, or run .ci/needs")
	}
	m := counted(t, "encode")
	registry := client.NewRegistry()
	registry.MustRegister(prometheus.NewCollector(m))
	exporter := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer exporter.Close()
	server := serve(t, program, strings.TrimPrefix(exporter.URL, "http://"))

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

// serve starts a server that scrapes a target, and gives its address.
func serve(t *testing.T, program, target string) string {
	directory := t.TempDir()
	configuration := filepath.Join(directory, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs:\n- job_name: meter\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  static_configs:\n  - targets: [%q]\n", target)
	if err := os.WriteFile(configuration, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	command := exec.Command(program, "--config.file="+configuration, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(directory, "data"), "--log.level=error")
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return "http://" + address
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ask repeats a query until it has an answer: the server has to start, and to scrape.
func ask(t *testing.T, server, query string) float64 {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if value, ok := answer(server, query); ok {
			return value
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no answer to %s within a minute", query)
	return 0
}

func answer(server, query string) (float64, bool) {
	response, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var found struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err != nil || json.Unmarshal(text, &found) != nil || len(found.Data.Result) != 1 {
		return 0, false
	}
	word, _ := found.Data.Result[0].Value[1].(string)
	value, err := strconv.ParseFloat(word, 64)
	return value, err == nil
}
