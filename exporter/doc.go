// Package exporter measures a machine all the time, in short turns within a hard budget of CPU time, and
// exports what it found to Prometheus.
//
// A [Prober] takes turns at random times and, now and then, a survey: a turn times known work and watches
// one CPU for gaps; a survey rates the clocks and asks the doctor. [Metrics] adds the turns up and is a
// prometheus.Collector: a scrape reads what the last turn left, and never waits for one. A [Server] answers
// scrapes over HTTP or TLS.
package exporter
