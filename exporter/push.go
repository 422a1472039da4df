package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"golang.org/x/time/rate"
)

// Push sends what a registry gathers to a receiver of OTLP at intervals, as protobuf over HTTP. OpenTelemetry's
// environment variables set the rest: OTEL_EXPORTER_OTLP_CERTIFICATE, _HEADERS, _TIMEOUT and others.
type Push struct {
	// URL is the address to send to, from [PushURL].
	URL string
	// Interval is the time between two pushes; 0 for OTEL_METRIC_EXPORT_INTERVAL or, without it, a minute.
	Interval time.Duration
	Version  string
	// Metrics counts the failures.
	Metrics *Metrics
	Log     *slog.Logger
}

// PushURL returns the URL to send metrics to, given the base URL of a receiver, such as http://localhost:4318.
// If base is empty, it is the URL in the environment variables of OpenTelemetry; empty if there is none.
func PushURL(base string, getenv func(string) string) (string, error) {
	source, whole := "the base URL", ""
	if base == "" {
		if getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_METRICS_EXPORTER") == "none" {
			return "", nil
		}
		source, base = "OTEL_EXPORTER_OTLP_ENDPOINT", getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
		if whole = getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"); whole != "" {
			source, base = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", whole
		}
	}
	if base == "" {
		return "", nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := getenv(name); protocol == "http/protobuf" {
			break
		} else if protocol != "" {
			return "", fmt.Errorf("%s is %.40q, but metrics are pushed by http/protobuf only: give the receiver's address for HTTP, whose port is usually 4318, and set it to http/protobuf", name, protocol)
		}
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is no URL: %w", source, errors.Unwrap(err)) // without the text, which may hold a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%s is not of the form http://HOST:PORT or https://HOST:PORT", source)
	case u.User != nil:
		return "", fmt.Errorf("%s has a user: give the password in OTEL_EXPORTER_OTLP_HEADERS, as Authorization=Basic%%20CODE", source)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%s has more than scheme, host and path", source)
	}
	if whole == "" {
		u = u.JoinPath("v1", "metrics")
	}
	return u.String(), nil
}

// Start pushes until stop is called, which pushes once more. A receiver that fails or does not answer delays
// only the pushes. OpenTelemetry has one handler of errors in a process, and Start sets it.
func (p Push) Start(ctx context.Context, registry client.Gatherer) (stop func(), err error) {
	sender, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(p.URL))
	if err != nil {
		return nil, fmt.Errorf("pushing to %s: %w", p.URL, err)
	}
	who, err := p.resource(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	failed := p.failed()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed))
	reader := metric.NewPeriodicReader(sender, metric.WithInterval(p.Interval),
		metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(registry))))
	provider := metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(who))
	p.Log.Info("Pushing OTLP", "url", p.URL)
	return func() {
		stopping, cancel := context.WithTimeout(context.Background(), shutdownWithin)
		defer cancel()
		if err := provider.Shutdown(stopping); err != nil {
			failed(err)
		}
	}, nil
}

// resource describes the sender. Prometheus turns it into the labels job and instance.
func (p Push) resource(ctx context.Context) (*resource.Resource, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		semconv.ServiceName("chronoscope"), semconv.ServiceVersion(label(p.Version)),
		semconv.ServiceInstanceID(label(host)), semconv.HostName(label(host)),
	), resource.WithFromEnv())
}

// logEvery is the shortest time between two lines of the log about pushes that fail.
const logEvery = time.Minute

// failed returns a function that counts failures, and logs one now and then.
func (p Push) failed() func(error) {
	seldom := rate.Sometimes{Interval: logEvery}
	return func(err error) {
		if errors.Is(err, context.Canceled) { // by stop
			return
		}
		p.Metrics.AddFailure(Failure{StepPush, err})
		seldom.Do(func() { p.Log.Warn("a push failed", "url", p.URL, "reason", label(reason(err))) })
	}
}

// reason is what the SDK says, and the statuses of an answer that it tries to get again, which it does not say.
func reason(err error) string {
	if text := err.Error(); strings.Contains(text, "retry-able request failure: body:") {
		return "the receiver answers with status 429, 502, 503 or 504, which ask to push later or less: " + text
	}
	return err.Error()
}
