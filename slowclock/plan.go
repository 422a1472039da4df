package slowclock

import (
	"math"

	"chronoscope/stats"
)

// z95 is the factor in the source's equations for a probability of 95 %.
const z95 = 1.96

// Epsilon returns the error that a number of significant digits of a duration allows, in the
// duration's unit. For one digit it is the duration itself (Lambert 2008, table 1).
func Epsilon(durationNs float64, digits int) float64 {
	return durationNs * math.Pow(10, float64(1-digits))
}

// Trials returns the number of Bernoulli trials, if these were independent, after which a clock of
// this tick gives a duration within ± epsilon, at 95 %: equation (3) of Lambert 2008. All arguments
// are in nanoseconds. It is NaN for a duration that is not positive, or not shorter than a tick:
// every trial sees a tick in such an event, so no number of trials shows how long it is.
func Trials(durationNs, tickNs, epsilonNs float64) float64 {
	if !(0 < durationNs && durationNs < tickNs && epsilonNs > 0) {
		return math.NaN()
	}
	p := durationNs / tickNs
	return z95 * z95 * tickNs * tickNs * p * (1 - p) / (epsilonNs * epsilonNs)
}

// ticksNeeded returns how many ticks of the clock have to pass until a mean is known within ±
// precision, as a share of it. share is the share of the loop's time in timed regions. A tick
// either falls into a timed region or not, and gives no other information.
func ticksNeeded(share, precision float64) float64 {
	return z95 * z95 * (1 - share) / (share * precision * precision)
}

// Row is a line of a trial plan: the trials and the times that a result with a number of
// significant digits needs.
type Row struct {
	Digits    int     `json:"digits"`
	EpsilonNs float64 `json:"epsilon_ns"`
	// Trials is the number of Bernoulli trials by equation (3).
	Trials stats.Float `json:"trials"`
	// SourceNs is the time of the trials if each consists of the event only, as in the source.
	// BernoulliNs is their time here, with everything around the event.
	SourceNs    stats.Float `json:"source_ns"`
	BernoulliNs stats.Float `json:"bernoulli_ns"`
	// DiscreteNs is the time until the clock has ticked as often as the interval needs, in trials
	// and in the empty trials that measure the overhead. Without pauses neighbouring edges depend
	// on one another, and it takes 1.5 times as long. A measurement that ends by [Plan.Precision]
	// checks only when the number of ticks has doubled, and may take twice as long.
	DiscreteNs stats.Float `json:"discrete_ns"`
	// CounterNs is the time that a counting thread takes, extrapolated from its first result;
	// missing if there is none.
	CounterNs stats.Float `json:"counter_ns"`
}

// Costs are the parts of a trial in addition to the event, in nanoseconds.
type Costs struct {
	// OverheadNs is the part of a trial within the timed region in addition to the event, and
	// BetweenNs the time from the end of a trial to the start of the next.
	OverheadNs, BetweenNs float64
	// Dither says that there are pauses, as [Lab.Dither] requests.
	Dither bool
	// CounterNs is the time that a counting thread took for a first result, 0 if there is none,
	// and CounterHalfNs the half-width of its interval. Disturbances of the events limit that
	// width, not the period of the counter.
	CounterNs, CounterHalfNs float64
}

// MakePlan returns a row for each number of digits from 1 to digits.
func MakePlan(durationNs, tickNs float64, digits int, c Costs) []Row {
	rows := make([]Row, 0, max(0, digits))
	loop := c.loopNs(durationNs, tickNs)
	for d := 1; d <= digits; d++ {
		epsilon := Epsilon(durationNs, d)
		n := Trials(durationNs, tickNs, epsilon)
		rows = append(rows, Row{
			Digits: d, EpsilonNs: epsilon, Trials: stats.FloatOf(n),
			SourceNs: stats.FloatOf(n * durationNs), BernoulliNs: stats.FloatOf(n * loop),
			DiscreteNs: stats.FloatOf(c.discreteNs(durationNs, tickNs, epsilon)),
			CounterNs:  stats.FloatOf(c.counterNs(tickNs, epsilon)),
		})
	}
	return rows
}

// loopNs returns the time from one trial to the next for an event of this length, with its share of
// the pauses.
func (c Costs) loopNs(eventNs, tickNs float64) float64 {
	loop := eventNs + c.OverheadNs + c.BetweenNs
	if c.Dither {
		every, most := pauses(tickNs / loop)
		loop += most * tickNs / 2 / float64(every)
	}
	return loop
}

// discreteNs returns the time that discrete trials take. The squared errors of trials and empty
// trials add up, and their shares of the ticks add up to 1.
func (c Costs) discreteNs(eventNs, tickNs, epsilonNs float64) float64 {
	ticks := func(event, share float64) float64 {
		timed := event + c.OverheadNs
		if timed <= 0 {
			return 0
		}
		return ticksNeeded(math.Min(1, timed/c.loopNs(event, tickNs)), epsilonNs/timed) / share
	}
	return tickNs * math.Max(1, ticks(eventNs, 1-overheadShare)+ticks(0, overheadShare))
}

// counterNs returns the time that a counting thread takes: its interval narrows with the square
// root of the time, and needs a minimum number of rounds.
func (c Costs) counterNs(tickNs, epsilonNs float64) float64 {
	if !(c.CounterNs > 0 && c.CounterHalfNs > 0) {
		return math.NaN()
	}
	const fewestTicks = enoughRounds * (1 + trialsPerEmpty)
	return math.Max(fewestTicks*tickNs, c.CounterNs*math.Pow(c.CounterHalfNs/epsilonNs, 2))
}
