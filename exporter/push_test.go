package exporter

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a receiver of OTLP. It decodes what is pushed with the types of OpenTelemetry's own definition.
type receiver struct {
	t      *testing.T
	pushes chan pushed
}

type pushed struct {
	path   string
	header http.Header
	*otlp.ResourceMetrics
}

func (r receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err == nil && q.Header.Get("Content-Encoding") == "gzip" {
		var plain *gzip.Reader
		if plain, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(plain)
		}
	}
	var sent collector.ExportMetricsServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil || len(sent.ResourceMetrics) != 1 || q.Header.Get("Content-Type") != "application/x-protobuf" {
		r.t.Errorf("%v: %d resources, %v", err, len(sent.ResourceMetrics), q.Header)
		return
	}
	select {
	case r.pushes <- pushed{q.URL.Path, q.Header, sent.ResourceMetrics[0]}:
	default:
	}
}

// next is the next push.
func (r receiver) next(t *testing.T) pushed {
	t.Helper()
	select {
	case p := <-r.pushes:
		return p
	case <-time.After(time.Minute):
		t.Fatal("nothing is pushed")
		return pushed{}
	}
}

// without removes OpenTelemetry's variables, which the user's environment may have.
func without(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, value) // restores it at the end
			os.Unsetenv(name)
		}
	}
}

// pushing pushes the metrics of filled each 20 ms.
func pushing(t *testing.T, base string, log *slog.Logger) (m *Metrics, registry *client.Registry, stop func()) {
	t.Helper()
	url, err := PushURL(base, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	m, registry = filled()
	stop, err = Push{URL: url, Interval: 20 * time.Millisecond, Version: "v1", Metrics: m, Log: log}.Start(context.Background(), registry)
	if err != nil {
		t.Fatal(err)
	}
	return m, registry, stop
}

// What is pushed is what a scrape reads: each series with its labels and its value.
func TestWhatIsPushed(t *testing.T) {
	without(t)
	to := receiver{t, make(chan pushed, 1)}
	server := httptest.NewServer(to)
	defer server.Close()
	_, registry, stop := pushing(t, server.URL+"/api/v1/otlp", slog.New(slog.DiscardHandler))
	got := to.next(t)
	stop()
	if got.path != "/api/v1/otlp/v1/metrics" {
		t.Errorf("it is pushed to %s", got.path)
	}
	who := map[string]string{}
	for _, a := range got.Resource.Attributes {
		who[a.Key] = a.Value.GetStringValue()
	}
	host, _ := os.Hostname()
	if who["service.name"] != "chronoscope" || who["service.version"] != "v1" || who["service.instance.id"] != host {
		t.Errorf("the sender is %v", who)
	}
	values := map[string]float64{}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, p := range append(m.GetGauge().GetDataPoints(), m.GetSum().GetDataPoints()...) {
				var labels []string
				for _, a := range p.Attributes {
					labels = append(labels, a.Key+"="+a.Value.GetStringValue())
				}
				values[fmt.Sprint(m.Name, labels)] = p.GetAsDouble()
			}
			if sum := m.GetSum(); sum != nil && (!sum.IsMonotonic || sum.AggregationTemporality != otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE) {
				t.Errorf("%s is no counter", m.Name)
			}
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, f := range families {
		if f.GetType() != dto.MetricType_GAUGE && f.GetType() != dto.MetricType_COUNTER {
			continue
		}
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name, want := fmt.Sprint(f.GetName(), labels), m.GetGauge().GetValue()+m.GetCounter().GetValue()
			if value, ok := values[name]; !ok || value != want && value == value {
				t.Errorf("%s is pushed as %v (%v), scraped as %v", name, value, ok, want)
			}
			series++
		}
	}
	if series < 50 || series != len(values) {
		t.Errorf("%d series are scraped, %d pushed", series, len(values))
	}
}

// The gaps are pushed as an exponential histogram, whose buckets hold the lengths 2 µs and 4 ms, thrice each.
func TestGapsArePushedAsAnExponentialHistogram(t *testing.T) {
	without(t)
	to := receiver{t, make(chan pushed, 1)}
	server := httptest.NewServer(to)
	defer server.Close()
	_, _, stop := pushing(t, server.URL, slog.New(slog.DiscardHandler))
	got := to.next(t)
	stop()
	for _, m := range got.ScopeMetrics[0].Metrics {
		if m.Name != "chronoscope_gap_seconds" {
			continue
		}
		p := m.GetExponentialHistogram().GetDataPoints()[0]
		if p.Count != 6 || math.Abs(p.GetSum()-0.012006) > 1e-9 {
			t.Errorf("%d gaps of %v s in all", p.Count, p.GetSum())
		}
		// OpenTelemetry's data model: the bucket of index i holds what is in (base^i, base^(i+1)]
		base := math.Pow(2, math.Pow(2, -float64(p.Scale)))
		holds := func(x float64) (n uint64) {
			for i, count := range p.Positive.BucketCounts {
				if lower := math.Pow(base, float64(int(p.Positive.Offset)+i)); lower < x && x <= lower*base {
					n += count
				}
			}
			return n
		}
		if base > 1.1 || holds(2e-6) != 3 || holds(0.004) != 3 {
			t.Errorf("base %v, %d gaps of 2 µs and %d of 4 ms in %v", base, holds(2e-6), holds(0.004), p.Positive)
		}
		return
	}
	t.Error("there is no histogram of gaps")
}

// The standard variables set certificate, headers and compression. A certificate that is not known is refused.
func TestPushByTheStandardVariables(t *testing.T) {
	without(t)
	folder := t.TempDir()
	certificate(t, folder, "known")
	certificate(t, folder, "other")
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "known.crt"), filepath.Join(folder, "known.key"))
	if err != nil {
		t.Fatal(err)
	}
	to := receiver{t, make(chan pushed, 1)}
	server := httptest.NewUnstartedServer(to)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", filepath.Join(folder, "known.crt"))
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20sesame")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=node7")
	_, _, stop := pushing(t, "", slog.New(slog.DiscardHandler))
	got := to.next(t)
	stop()
	if got.header.Get("Authorization") != "Bearer sesame" || got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.Resource.String(), "node7") {
		t.Errorf("%v from %v", got.header, got.Resource)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", filepath.Join(folder, "other.crt"))
	m, _, stop := pushing(t, "", slog.New(slog.DiscardHandler))
	defer stop()
	awaitFailures(t, m)
}

// awaitFailures waits for three pushes that failed.
func awaitFailures(t *testing.T, m *Metrics) {
	t.Helper()
	for range 600 {
		m.lock.Lock()
		n := m.totals.failures[StepPush]
		m.lock.Unlock()
		if n >= 3 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("no failed pushes are counted")
}

// lockedText is a log that several goroutines write.
type lockedText struct {
	lock sync.Mutex
	strings.Builder
}

func (l *lockedText) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.Builder.Write(text)
}

// A receiver that is not there, refuses, or never answers delays neither turns nor scrapes nor the end. Failures
// are counted, and logged once.
func TestAReceiverThatFails(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	without(t)
	t.Setenv("OTEL_METRIC_EXPORT_TIMEOUT", "100") // after which the SDK tries no more
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	absent := closed.Addr().String()
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections wait in its queue
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "\x1b[31m"+strings.Repeat("no", 1<<10), http.StatusForbidden)
	}))
	defer refusing.Close()
	senseless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		fmt.Fprint(w, "\xff\xff\xff")
	}))
	defer senseless.Close()
	var idle atomic.Bool
	overloaded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !idle.Load() {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer overloaded.Close()
	for name, c := range map[string]struct{ base, says string }{
		"absent": {"http://" + absent, "refused"}, "silent": {"http://" + silent.Addr().String(), "time"}, "refusing": {refusing.URL, "403"},
		"senseless": {senseless.URL, "proto"}, "overloaded": {overloaded.URL, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			var said lockedText
			m, registry, stop := pushing(t, c.base, slog.New(slog.NewTextHandler(&said, nil)))
			awaitFailures(t, m)
			m.AddTurn(aTurn())
			if text := scraped(t, registry, "text/plain"); !strings.Contains(text, "chronoscope_turns_total 4\n") || strings.Contains(text, `{step="push"} 0`) {
				t.Error("a scrape lacks the turn or the failures")
			}
			idle.Store(name == "overloaded") // its last push would wait otherwise
			stop()
			said.lock.Lock()
			defer said.lock.Unlock()
			if text := said.String(); strings.Count(text, "level=WARN") != 1 || len(text) > 1000 || strings.Contains(text, "\x1b") || !strings.Contains(text, c.says) {
				t.Errorf("the log says %q, want %q in it", text, c.says)
			}
		})
	}
}

func TestFailedPushesAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		m := NewMetrics(About{}, nil, nil)
		failed := Push{Metrics: m, Log: slog.New(slog.NewTextHandler(&said, nil))}.failed()
		for range 600 { // ten minutes
			failed(errors.New("no route to host"))
			time.Sleep(time.Second)
		}
		if n := strings.Count(said.String(), "level=WARN"); n != 10 || m.totals.failures[StepPush] != 600 {
			t.Errorf("%d lines for %d failures", n, m.totals.failures[StepPush])
		}
	})
}

func TestPushURL(t *testing.T) {
	for _, c := range []struct {
		base      string
		variables map[string]string
		want      string // a URL, or a part of the error
	}{
		{"", nil, ""},
		{"http://localhost:4318", nil, "http://localhost:4318/v1/metrics"},
		{"https://a.example/otlp/", nil, "https://a.example/otlp/v1/metrics"},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1/x"}, "http://b:1/x/v1/metrics"},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:2/m"}, "http://c:2/m"},
		{"http://a:1", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:2/m"}, "http://a:1/v1/metrics"},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1", "OTEL_SDK_DISABLED": "true"}, ""},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1", "OTEL_METRICS_EXPORTER": "none"}, ""},
		{"http://a:4317", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http/protobuf only"},
		{"http://a:1", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf"}, "http://a:1/v1/metrics"},
		{"localhost:4318", nil, "http://HOST:PORT"},
		{"grpc://a:1", nil, "http://HOST:PORT"},
		{"http://", nil, "http://HOST:PORT"},
		{"http://me:secret@a:1", nil, "OTEL_EXPORTER_OTLP_HEADERS"},
		{"http://me:secret@a:%1", nil, "is no URL"},
		{"http://a:1?x=1", nil, "more than scheme, host and path"},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "a"}, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is not"},
	} {
		got, err := PushURL(c.base, func(name string) string { return c.variables[name] })
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%q with %v: %q, want %q", c.base, c.variables, got, c.want)
		}
	}
}
