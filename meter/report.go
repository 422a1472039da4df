package meter

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// fewEdges is the number of edges below which the interval is wider than the mean itself.
const fewEdges = 10

// Report is the evaluation of a snapshot: mean, total, percentiles and a verdict.
type Report struct {
	Name string `json:"name"`
	// Calls, Measured and Edges are sums over all parts.
	Calls    uint64 `json:"calls"`
	Measured uint64 `json:"measured"`
	Edges    uint64 `json:"edges"`
	// Mean is the mean duration of a call, Total the time of all calls, including those that sampling
	// left out. Both are in nanoseconds. Their intervals include the scatter of the edges and the
	// uncertainty of the clock's own cost, and become narrower with more edges.
	Mean  stats.Estimate `json:"mean"`
	Total stats.Estimate `json:"total"`
	// TickBias is the bias, in nanoseconds, that the mean may have because the tick itself sets work
	// off: 0, with the bounds Lo and Hi. Neither more edges nor more meters reduce it. The interval of
	// Mean does not include it; that of [Report.MeanWithBias] does.
	TickBias stats.Estimate `json:"tick_bias"`
	// Tails are percentiles of the time from Start to Stop; nil without [WithTails]. FromIntended are
	// percentiles of the time from the moment at which a call should have begun; nil if none was started by
	// [Meter.StartAt].
	Tails        *stats.Tails `json:"tails,omitempty"`
	FromIntended *stats.Tails `json:"from_intended,omitempty"`
	stats.Judgement
	// Caveats have to be kept in mind whatever the verdict is.
	Caveats []string `json:"caveats"`
}

// Report says what was counted, and how far it can be trusted.
//
// Means of several parts are weighted by their calls, and so are the distances of
// their bounds, squared (Zou and Donner, "Construction of confidence limits about
// effect measures: a general approach", Statistics in Medicine 27, 2008). The bias of the tick is the
// same everywhere and does not average out, so that the biases of all parts are added.
func (s Snapshot) Report() Report {
	r := Report{Name: s.Name, Judgement: stats.NewJudgement(), Caveats: []string{}}
	mean := stats.Estimate{Unit: "ns", Statistic: "mean"}
	var calls, below, above, atTicks float64 // of the parts with measured calls
	for _, p := range s.Parts {
		r.Calls = saturating(r.Calls, p.Calls)
		r.Measured = saturating(r.Measured, p.Measured)
		r.Edges = saturating(r.Edges, p.Edges)
		if p.Measured == 0 {
			continue
		}
		own, n := p.MeanNs(), float64(p.Calls)
		calls += n
		mean.Value += n * own.Value
		below = math.Hypot(below, n*(own.Value-own.Lo))
		above = math.Hypot(above, n*(own.Hi-own.Value))
		atTicks += n * p.atTheTickNs()
	}
	mean.N = saturatedInt(r.Measured)
	mean.Lo, mean.Hi = math.Max(0, mean.Value-below), mean.Value+above
	r.Mean = mean.Scaled(1/calls, "ns") // NaN if no call was measured
	r.Total = r.Mean.Scaled(float64(r.Calls), "ns")
	r.Total.Statistic = "total"
	r.TickBias = stats.Estimate{Lo: -atTicks, Hi: atTicks, Unit: "ns", Statistic: "bias", N: mean.N}.Scaled(1/calls, "ns")
	r.Tails = s.tails(func(t *TailCounts) Histogram { return t.Calls })
	r.FromIntended = s.tails(func(t *TailCounts) Histogram { return t.FromIntended })
	r.judge(s.Parts)
	return r
}

// MeanWithBias returns the mean with an interval that includes [Report.TickBias]. The distances of the
// bounds are added as squares, since scatter and bias are independent.
func (r Report) MeanWithBias() stats.Estimate {
	e := r.Mean
	e.Lo = math.Max(0, e.Value-math.Hypot(e.Value-e.Lo, r.TickBias.Lo))
	e.Hi = e.Value + math.Hypot(e.Hi-e.Value, r.TickBias.Hi)
	return e
}

// atTheTick is the share of the mean by which it may be biased, however many edges or meters there
// are. The interrupt that advances a coarse clock also wakes threads that wait for timers, and
// reschedules, so that calls are in progress at an edge more or less often than on average. For an
// HTTP server on one processor this was up to 1.7 %, scatter of the edges included.
const atTheTick = 0.015

// atTheTickNs returns the bias of the mean that the tick may cause, in ns; 0 if each call is timed.
func (p Part) atTheTickNs() float64 {
	if p.Lengths != nil {
		return 0
	}
	return atTheTick * float64(p.Ticks) / float64(p.Measured) * p.TickNs
}

// MeanNs returns the mean duration of the calls that were counted with this clock, in nanoseconds,
// without the clock's own cost. The interval includes scatter and the cost's bounds, but not
// [Report.TickBias].
func (p Part) MeanNs() stats.Estimate {
	e := p.ticksPerCall().Scaled(p.TickNs, "ns")
	n := float64(p.Measured)
	cost, costLo, costHi := p.CostNs/n, p.CostLoNs/n, p.CostHiNs/n
	below, above := math.Hypot(e.Value-e.Lo, costHi-cost), math.Hypot(e.Hi-e.Value, cost-costLo)
	net := e.Value - cost
	e.Value, e.Lo, e.Hi = math.Max(0, net), math.Max(0, net-below), math.Max(0, net+above)
	return e
}

// ticksPerCall returns the mean in ticks, including the clock's cost.
func (p Part) ticksPerCall() stats.Estimate {
	if p.Lengths != nil {
		return p.meanLength()
	}
	independent := p.sums().Mean(1)
	n, mean := float64(p.Measured), independent.Value
	if p.Edges == 0 || math.IsNaN(mean) {
		return independent
	}
	perCall := float64(p.Squares)/n - mean*mean
	e := independent
	e.Lo, e.Hi = p.interval(mean, max(p.Groups.variance(mean, n*perCall), p.Batches.ofBatches(mean), endsVariance)/n)
	return e
}

// endsVariance is the least variance of a sum of ticks, even of regular calls: that of the parts of a
// tick before the first edge and after the last, which are uniformly distributed.
const endsVariance = 1.0 / 6

// interval returns the bounds of the 95 % interval of the mean, in ticks. variance is the variance of the sum of all
// ticks, divided by the number of calls.
//
// If calls are independent and equally long, this is the variance of rounding to whole ticks. It is larger if calls
// differ in length, or if several calls see the same edge. The excess is estimated from the calls that saw edges; its
// degrees of freedom follow from independentEdges. The variance is smaller if calls follow one another on few
// processors. If the mean is below one tick, each tick, and not each call, is then one chance to see an edge, with
// the probability that a call is in progress.
func (p Part) interval(mean, variance float64) (lo, hi float64) {
	n := float64(p.Measured)
	rounding := (mean - math.Floor(mean)) * (1 - mean + math.Floor(mean))
	switch {
	case variance >= rounding:
		s := stats.Scatter{Units: n, Dispersion: 1, Extra: (variance - rounding) * n / math.Max(1, n-1)}
		if s.Extra > 0 {
			s.Freedom = p.independentEdges() * math.Pow(variance/s.Extra, 2)
		}
		return stats.ScoreInterval(mean, s)
	case mean < 1:
		callsPerTick := (1 - math.Max(variance, 0)/mean) / mean
		lo, hi := stats.ScoreInterval(mean*callsPerTick, stats.Scatter{Units: n / callsPerTick, Dispersion: 1})
		return lo / callsPerTick, hi / callsPerTick
	}
	return stats.ScoreInterval(mean, stats.Scatter{Units: n, Dispersion: math.Max(variance, 0) / rounding})
}

// independentEdges is the effective number of independent edges: at most the number of groups, and less if few
// calls saw most of the ticks.
func (p Part) independentEdges() float64 {
	weighted := float64(p.Ticks) / float64(p.Squares) * float64(p.Ticks)
	return math.Max(1, min(weighted, float64(p.Groups.Count)-1))
}

// meanLength is the mean, in ticks, of calls that were timed one by one, with the interval for many
// independent samples. The variance is that of the buckets; their width changes it by less than a
// part in a thousand.
func (p Part) meanLength() stats.Estimate {
	n := float64(p.Measured)
	mean := float64(p.Ticks) / n
	var squares float64
	for bucket, count := range p.Lengths {
		from, to := bucketFrom(bucket)
		off := (float64(from)+float64(to)-1)/2 - mean
		squares += float64(count) * off * off
	}
	half := math.NaN()
	if n > 1 {
		half = quantile975(n-1) * math.Sqrt(squares/(n-1)/n)
	}
	return stats.Estimate{Value: mean, Lo: mean - half, Hi: mean + half, Unit: "ticks", Statistic: "mean", N: saturatedInt(p.Measured)}
}

func quantile975(freedom float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: min(freedom, 1e6)}.Quantile(0.975)
}

// Quantile returns the bounds of the bucket, in nanoseconds and without the clock's own cost, that holds
// the q-quantile of the calls' lengths. ok is false if there is no distribution, as with a coarse clock.
func (p Part) Quantile(q float64) (loNs, hiNs float64, ok bool) {
	if p.Lengths == nil || p.Measured == 0 || !(q >= 0 && q <= 1) {
		return 0, 0, false
	}
	cost := p.CostNs / float64(p.Measured)
	rank := q * float64(p.Measured-1)
	var below float64
	for bucket, n := range p.Lengths {
		if below += float64(n); below > rank {
			from, to := bucketFrom(bucket)
			return math.Max(0, float64(from)*p.TickNs-cost), math.Max(0, float64(to)*p.TickNs-cost), true
		}
	}
	return 0, 0, false
}

// String returns the report and its snapshot as JSON, so that package expvar can publish a meter:
// expvar.Publish("encode", m).
func (m *Meter) String() string {
	s := m.Snapshot()
	text, err := json.Marshal(struct {
		Report
		Snapshot Snapshot `json:"snapshot"`
	}{s.Report(), s})
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return string(text)
}

func saturatedInt(n uint64) int { return int(min(n, math.MaxInt)) }
