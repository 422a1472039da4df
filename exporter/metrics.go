package exporter

import (
	"maps"
	"sync"
	"time"

	client "github.com/prometheus/client_golang/prometheus"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Metrics adds up turns and keeps the last survey. It is a prometheus.Collector that copies them, and reads what the kernel
// counts, when it is scraped. Make it with [NewMetrics].
type Metrics struct {
	// Kernel returns what the kernel has counted so far, as [Probe.Kernel]; nil if it can't be read.
	Kernel func() Kernel

	gaps    client.Histogram
	elapsed func() time.Duration
	usedCPU func() time.Duration

	lock  sync.Mutex
	state // under lock
}

// state is what a scrape exports, except the histogram.
type state struct {
	about            About
	totals           totals
	turn             Turn // the last one
	survey           Survey
	untrusted        map[string]int // by clock: surveys in a row, up to the last one, that did not trust it; replaced, not changed
	turned, surveyed time.Duration  // when they ended, since the start
}

// About describes an exporter; it does not change while it runs.
type About struct {
	Version string
	// Tier names the properties that two machines must share for their figures to be compared.
	Tier string
	// Budget is the share of one CPU that may be used.
	Budget float64
	// MostNames is the largest number of [Disturber]s that the metrics show by name.
	MostNames int
}

// totals are sums since the start.
type totals struct {
	turns, surveys, pauses int
	watches                int // turns that watched a CPU
	watched                time.Duration
	lost                   map[activity.Cause]float64
	shares, squares        float64 // sums over the watches, of the share of time lost
	failures               map[Step]int
	names                  names
}

// NewMetrics returns the metrics of an exporter that has not measured anything yet. elapsed returns the time
// since the start, by a clock that is never set; usedCPU returns the CPU time of this process.
func NewMetrics(about About, elapsed, usedCPU func() time.Duration) *Metrics {
	return &Metrics{
		elapsed: elapsed, usedCPU: usedCPU,
		gaps: client.NewHistogram(client.HistogramOpts{
			Name: namespace + "gap_seconds", Help: "Lengths of the gaps in which a watched CPU did not run the watching thread, in seconds.",
			Buckets:                     []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
		}),
		state: state{about: about, untrusted: map[string]int{}, totals: totals{lost: map[activity.Cause]float64{}, failures: map[Step]int{}, names: newNames(about.MostNames)}},
	}
}

// AddTurn adds the results of a turn.
func (m *Metrics) AddTurn(t Turn) {
	for _, seconds := range t.Gaps {
		m.gaps.Observe(seconds)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	m.turn, m.turned = t, m.elapsed()
	m.totals.turns++
	m.countFailures(t.Failures)
	if t.Watched <= 0 {
		return
	}
	m.totals.watches++
	m.totals.watched += t.Watched
	for cause, seconds := range t.Lost {
		m.totals.lost[cause] += seconds
	}
	share := t.lostShare()
	m.totals.shares += share
	m.totals.squares += share * share
	m.totals.names.add(t.Disturbers)
}

// AddSurvey replaces the results of the last survey.
func (m *Metrics) AddSurvey(s Survey) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.survey, m.surveyed = s, m.elapsed()
	m.totals.surveys++
	m.countFailures(s.Failures)
	m.untrusted = maps.Clone(m.untrusted)
	for _, c := range s.Clocks {
		m.untrusted[c.Name]++
		if c.Verdict == stats.Trusted {
			m.untrusted[c.Name] = 0
		}
	}
}

// AddPause counts a turn that was skipped because the machine was busy.
func (m *Metrics) AddPause() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.totals.pauses++
}

// AddFailure counts a step that failed.
func (m *Metrics) AddFailure(f Failure) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.countFailures([]Failure{f})
}

func (m *Metrics) countFailures(all []Failure) {
	for _, f := range all {
		m.totals.failures[f.Step]++
	}
}

const namespace = "chronoscope_"

// descriptions are the descriptions of all metrics except the histogram, which describes itself.
var descriptions []*client.Desc

// desc adds a metric to descriptions.
func desc(name, help string, labels ...string) *client.Desc {
	d := client.NewDesc(namespace+name, help, labels, nil)
	descriptions = append(descriptions, d)
	return d
}

var (
	buildInfo   = desc("build_info", "1, labelled with the version of the exporter.", "version")
	machineInfo = desc("machine_info", "1, labelled with the tier of the machine: machines of one tier should give the same figures.", "tier")

	budget        = desc("budget_ratio", "Share of one CPU that this process may use in any hour.")
	cpuSeconds    = desc("own_cpu_seconds_total", "CPU time that this process has used, in seconds.")
	turns         = desc("turns_total", "Turns of measuring that were taken.")
	pauses        = desc("pauses_total", "Turns that were skipped because the machine was busy.")
	surveys       = desc("surveys_total", "Surveys of clocks and settings that were made.")
	failures      = desc("failures_total", "Steps of turns and surveys, and pushes, that failed.", "step")
	turnAge       = desc("turn_age_seconds", "Time since the last turn, or since the start if there was none, in seconds.")
	surveyAge     = desc("survey_age_seconds", "Time since the last survey, in seconds.")
	watched       = desc("watched_seconds_total", "Time for which a CPU was watched for gaps, in seconds.")
	lost          = desc("lost_seconds_total", "Time that gaps took while a CPU was watched, in seconds, by cause.", "cause")
	lostShares    = desc("turn_lost_ratio", "Share of the watched time that gaps took, over turns.")
	lostSquares   = desc("turn_lost_ratio_squares_total", "Sum of the squares of chronoscope_turn_lost_ratio, for its variance.")
	worst         = desc("worst_gap_seconds", "Longest gap of the last turn, in seconds.")
	disturber     = desc("disturber_seconds_total", "Time that a disturber took while a CPU was watched, in seconds. The kind others is the sum of those without a name here.", "kind", "name")
	stolen        = desc("stolen_seconds_total", "Time for which the hypervisor kept this machine's CPUs from running, over all CPUs since the machine started, in seconds.")
	runQueueWait  = desc("runqueue_wait_seconds_total", "Time in which some thread of the machine waited for a CPU, in seconds.")
	throttled     = desc("throttled_seconds_total", "Time for which the control groups of this process were stopped by their CPU quota, summed over CPUs and groups, in seconds.")
	work          = desc("work_seconds", "Time that known work takes alone on the machine, in seconds.", "work")
	workLower     = desc("work_lower_seconds", "Lower bound of the 95 % interval of chronoscope_work_seconds.", "work")
	workUpper     = desc("work_upper_seconds", "Upper bound of the 95 % interval of chronoscope_work_seconds.", "work")
	workVerdict   = desc("work_verdict", "1 for the present verdict on chronoscope_work_seconds, 0 for the others.", "work", "verdict")
	clockQuality  = desc("clock_quality_ratio", "Quality of a clock, from 0 to 1, by its accuracy, its cost and the spread of its cost.", "clock")
	clockCost     = desc("clock_cost_seconds", "Median time that one reading of a clock takes, in seconds.", "clock")
	clockAccuracy = desc("clock_accuracy_seconds", "Distance between two values that a clock can show, in seconds.", "clock")
	clockVerdict  = desc("clock_verdict", "1 for the present verdict on a clock, 0 for the others.", "clock", "verdict")
	untrusted     = desc("clock_untrusted_surveys", "Surveys in a row, up to the last one, that did not trust a clock.", "clock")
	checks        = desc("clock_checks", "Number of checks of a clock by their verdict.", "clock", "verdict")
	checkFailed   = desc("clock_check_info", "1 for each check of a clock whose verdict is not trusted.", "clock", "check", "verdict")
	offset        = desc("clock_cpu_offset_seconds", "Largest offset between the readings of a clock on two CPUs, in seconds.", "clock")
	offsetLower   = desc("clock_cpu_offset_lower_seconds", "Lower bound of chronoscope_clock_cpu_offset_seconds.", "clock")
	offsetUpper   = desc("clock_cpu_offset_upper_seconds", "Upper bound of chronoscope_clock_cpu_offset_seconds.", "clock")
	drift         = desc("clock_drift_ratio", "Rate of a clock against the reference, less 1.", "clock")
	driftLower    = desc("clock_drift_lower_ratio", "Lower bound of the 95 % interval of chronoscope_clock_drift_ratio.", "clock")
	driftUpper    = desc("clock_drift_upper_ratio", "Upper bound of the 95 % interval of chronoscope_clock_drift_ratio.", "clock")
	finding       = desc("finding_info", "1 for each finding about the machine that affects measurements; chronoscope doctor says what to do about it.", "topic", "severity")
)

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *client.Desc) {
	for _, d := range descriptions {
		to <- d
	}
	m.gaps.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- client.Metric) {
	m.gaps.Collect(to)
	m.lock.Lock()
	s := m.state
	s.totals.lost, s.totals.failures = maps.Clone(m.totals.lost), maps.Clone(m.totals.failures)
	s.totals.names.took = maps.Clone(m.totals.names.took)
	m.lock.Unlock()
	out := sink(to)
	out.gauge(buildInfo, 1, label(s.about.Version))
	out.gauge(machineInfo, 1, label(s.about.Tier))
	out.gauge(budget, s.about.Budget)
	out.counter(cpuSeconds, m.usedCPU().Seconds())
	if m.Kernel != nil { // not from the last turn: turns are rare, and none is taken while the machine is busy
		m.Kernel().send(out)
	}
	s.sendTotals(out)
	out.gauge(turnAge, (m.elapsed() - s.turned).Seconds())
	if s.totals.turns > 0 {
		s.sendTurn(out)
	}
	if s.totals.surveys > 0 {
		out.gauge(surveyAge, (m.elapsed() - s.surveyed).Seconds())
		s.sendSurvey(out)
	}
}

func (k Kernel) send(out sink) {
	for d, total := range map[*client.Desc]stats.Float{stolen: k.Stolen, runQueueWait: k.RunQueueWait, throttled: k.Throttled} {
		if total.Known() {
			out.counter(d, total.Value())
		}
	}
}

func (s state) sendTotals(out sink) {
	t := s.totals
	out.counter(turns, float64(t.turns))
	out.counter(pauses, float64(t.pauses))
	out.counter(surveys, float64(t.surveys))
	for _, step := range steps() {
		out.counter(failures, float64(t.failures[step]), string(step))
	}
	out.counter(watched, t.watched.Seconds())
	for _, cause := range activity.Causes() {
		out.counter(lost, t.lost[cause], cause.String())
	}
	out <- client.MustNewConstSummary(lostShares, uint64(t.watches), t.shares, nil)
	out.counter(lostSquares, t.squares)
	for who, seconds := range t.names.took {
		out.counter(disturber, seconds, who.kind, who.name)
	}
}

func (s state) sendTurn(out sink) {
	t := s.turn
	if t.Watched > 0 {
		longest := 0.0
		for _, seconds := range t.Gaps {
			longest = max(longest, seconds)
		}
		out.gauge(worst, longest)
	}
	for _, w := range t.Works {
		out.estimate(work, workLower, workUpper, w.Time, 1e-9, w.Name)
		out.verdict(workVerdict, w.Verdict, w.Name)
	}
}

func (s state) sendSurvey(out sink) {
	for _, c := range s.survey.Clocks {
		if c.Quality.Known() {
			out.gauge(clockQuality, c.Quality.Value(), c.Name)
		}
		if c.Cost.MedianNs.Known() {
			out.gauge(clockCost, c.Cost.MedianNs.Value()/1e9, c.Name)
		}
		out.gauge(clockAccuracy, c.Accuracy.Value/1e9, c.Name)
		out.verdict(clockVerdict, c.Verdict, c.Name)
		out.gauge(untrusted, float64(s.untrusted[c.Name]), c.Name)
	}
	s.sendChecks(out)
	for _, f := range firsts(s.survey.Findings, func(f machine.Finding) [2]string { return [2]string{f.Topic, string(f.Severity)} }) {
		out.gauge(finding, 1, f.Topic, string(f.Severity))
	}
}

func (s state) sendChecks(out sink) {
	type counted struct {
		clock   string
		verdict stats.Verdict
	}
	counts := map[counted]int{}
	for _, f := range firsts(s.survey.Checks, func(f check.Finding) [2]string { return [2]string{f.Clock, string(f.Check)} }) {
		counts[counted{f.Clock, f.Verdict}]++
		if f.Verdict != stats.Trusted {
			out.gauge(checkFailed, 1, f.Clock, string(f.Check), string(f.Verdict))
		}
		switch {
		case f.Estimate == nil:
		case f.Check == check.CPUOffset:
			out.estimate(offset, offsetLower, offsetUpper, *f.Estimate, 1e-9, f.Clock)
		case f.Check == check.Drift:
			out.estimate(drift, driftLower, driftUpper, *f.Estimate, 1e-6, f.Clock)
		}
	}
	for c, n := range counts {
		out.gauge(checks, float64(n), c.clock, string(c.verdict))
	}
}

// firsts returns the first element of each key: Prometheus refuses a metric that is sent twice.
func firsts[T any, K comparable](all []T, key func(T) K) (first []T) {
	seen := map[K]bool{}
	for _, element := range all {
		if k := key(element); !seen[k] {
			seen[k] = true
			first = append(first, element)
		}
	}
	return first
}

// sink takes the metrics of a scrape.
type sink chan<- client.Metric

func (out sink) gauge(d *client.Desc, value float64, labels ...string) {
	out <- client.MustNewConstMetric(d, client.GaugeValue, value, labels...)
}

func (out sink) counter(d *client.Desc, value float64, labels ...string) {
	out <- client.MustNewConstMetric(d, client.CounterValue, value, labels...)
}

// estimate sends a value and its interval, scaled to the unit of the metrics.
func (out sink) estimate(value, lower, upper *client.Desc, e stats.Estimate, scale float64, labels ...string) {
	out.gauge(value, e.Value*scale, labels...)
	out.gauge(lower, e.Lo*scale, labels...)
	out.gauge(upper, e.Hi*scale, labels...)
}

func (out sink) verdict(d *client.Desc, is stats.Verdict, labels ...string) {
	for _, v := range []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable} {
		value := 0.0
		if v == is {
			value = 1
		}
		out.gauge(d, value, append(labels[:len(labels):len(labels)], string(v))...)
	}
}
