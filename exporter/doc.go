// Package exporter measures a machine all the time, in short turns within a hard budget of CPU time,
// and exports the results to Prometheus.
//
// A [Prober] takes turns at random times, and about once an hour a survey. A turn times known work and
// watches one CPU for gaps; a survey rates the clocks and runs the checks of chronoscope doctor.
// [Metrics] adds up the results and is a prometheus.Collector: a scrape reads the last results, and
// never waits for a turn. A [Server] answers scrapes over HTTP or TLS.
package exporter
