package kbest

import (
	"math"
	"math/rand/v2"
	"time"

	"chronoscope/repeat"
)

// series is the measurement of one subject.
type series struct {
	subject *Subject
	station *Station
	plan    Plan
	n       int // calls in a trial
	// surveyCalls is the number of calls in a survey, 0 if none is made. surveys is the number of surveys made,
	// which ran for surveyedNs.
	surveyCalls, surveys int
	surveyedNs           float64
	trials               int
	samples              []Sample
	ranNs                float64
	tookNs               float64 // of a trial when warmed up
	setUpNs              float64 // spent on setting up
	mostCalls            int     // in a trial
	done                 bool
	rng                  *rand.Rand
	// tooSlow is set if a call exceeded the limit.
	tooSlow *TooSlowError
}

const (
	// shortestNs is the least length of a sample. The clock could time shorter ones exactly, but compared with
	// them the work around a sample would take too long.
	shortestNs = 20e3
	// mostCalls is the largest number of calls in a trial. If that many take no time, there is no work.
	mostCalls = 1 << 30
	// One trial in halfEvery has half the calls, to see that time grows with them.
	halfEvery = 4
	// One of surveyEvery trials is a survey: many calls in one sample, to see slow calls that are too rare for
	// the short samples. Most surveys are over by FewestTrials. Together they have up to surveyedCalls calls,
	// in up to surveyNs, and up to surveyShare of the plan's time.
	surveyEvery, mostSurveys = 8, FewestTrials / 8
	surveyedCalls            = 100_000
	surveyNs, surveyShare    = 150e6, 0.3
	// fewestLooked is the number of trials before the samples are first examined. This may happen before
	// [FewestTrials] if the trials ran for enoughNs.
	fewestLooked, enoughNs = 8, 200e6
	// longTrialNs is the length of a trial that takes longer than examining the samples.
	longTrialNs = 5e6
	// keptAtFirst is the number of samples for which there is room from the start.
	keptAtFirst = 4096
)

func newSeries(station *Station, subject *Subject, plan Plan) *series {
	return &series{subject: subject, station: station, plan: plan, mostCalls: mostCalls, samples: make([]Sample, 0, min(plan.MaxTrials, keptAtFirst)), rng: rand.New(rand.NewPCG(plan.Seed, 0x57a6))}
}

// sampleNs returns the length of a sample at which the clock's part of the error stays below half of epsilon:
// two readings, each off by at most the accuracy and by what its cost varies. Longer samples are more often
// interrupted and no better.
func (s *series) sampleNs() float64 {
	c := s.station.Clock
	err := c.AccuracyNs + math.Max(0, c.MedianCostNs-c.MinCostNs)
	return math.Max(shortestNs, 2*err/math.Max(s.plan.Epsilon, 1e-5))
}

// warmUp calls the subject for the first times, and finds how many calls make a trial long enough. It begins
// with one call, so that a slow subject shows.
func (s *series) warmUp(o overhead) {
	want := s.sampleNs()
	for s.n = 1; ; {
		took := s.least() - o.clockNs
		s.tookNs = took
		switch {
		case s.n == 1 && took > float64(s.plan.CallLimit):
			s.tooSlow = &TooSlowError{Subject: s.subject.Name, Took: time.Duration(took), Limit: s.plan.CallLimit}
			s.done = true
			return
		case took >= want || !s.subject.batched() || s.n >= s.mostCalls:
			s.planSurveys()
			return
		}
		grow := math.Min(10, 1.2*want/math.Max(took, want/100))
		s.n = min(s.mostCalls, 2*int(math.Ceil(float64(s.n)*grow/2)))
	}
}

// planSurveys sets the number of calls in a survey.
func (s *series) planSurveys() {
	ns := math.Min(surveyNs, surveyShare*float64(s.plan.MaxTime)) / mostSurveys
	calls := min(s.mostCalls, surveyedCalls/mostSurveys, int(ns/math.Max(s.tookNs, 1)*float64(s.n)))
	if s.subject.batched() && calls >= 2*s.n && !s.station.off.surveys {
		s.surveyCalls = calls
	}
}

// least returns the least running time of three trials that are not kept; of one if it is slow.
func (s *series) least() float64 {
	least := inf
	for range 3 {
		x := s.station.take(s.subject, s.n)
		least = math.Min(least, x.spentNs())
		if s.subject.Setup != nil {
			s.mostCalls = min(s.mostCalls, x.setUp.mostSetUp(s.n))
		}
		if x.WallNs > 1e6 {
			break
		}
	}
	return least
}

// trial takes one more sample.
func (s *series) trial() {
	n := s.n
	survey := s.surveyCalls > 0 && s.surveys < mostSurveys && s.trials%surveyEvery == 1
	switch {
	case survey:
		n = s.surveyCalls
	case s.trials%halfEvery == halfEvery-1 && n >= 2:
		n /= 2
	}
	s.station.turns(s.longTurn())
	s.stagger()
	x := s.station.take(s.subject, n)
	s.samples = append(s.samples, x)
	s.trials++
	s.ranNs += x.spentNs()
	s.setUpNs += x.setUp.ns
	if survey {
		s.surveys++
		s.surveyedNs += x.spentNs()
	}
}

// stagger runs chains for a random time before a trial, up to staggerShare of a trial and staggerNs. Interrupts may
// come at regular times, as a timer's do. Trials at regular times could keep step with them, so that nearly all
// escaped, or nearly none. The model of the disturbances takes that for unlikely: work of 0.953 ms beside interrupts
// each millisecond came out 2.3 % short.
func (s *series) stagger() {
	if s.station.Spin == nil || s.tookNs <= escapeNs {
		return
	}
	wait := s.rng.Float64() * math.Min(staggerShare*s.tookNs, staggerNs)
	began := s.station.Clock.Start()
	for n := 0; n < mostStaggers && s.station.Clock.Ns(s.station.Clock.End()-began) < wait; n++ {
		s.station.Spin()
	}
}

// mostStaggers is a number of chains that take longer than staggerNs, if the clock goes on.
const staggerShare, staggerNs, mostStaggers = 0.25, 250e3, 1000

// longTurn reports whether the next trial asks for long time slices. A sample with fewer switches needs less
// correction. If some samples have more switches than others, they show what a switch takes. So five of eight
// trials ask.
func (s *series) longTurn() bool {
	return s.tookNs > escapeNs && s.trials%8 != 1 && s.trials%8 != 4 && s.trials%8 != 6
}

// spent reports whether trials or time are used up, whatever the samples showed.
func (s *series) spent() bool {
	return s.trials >= s.plan.MaxTrials ||
		s.trials >= max(s.plan.MinTrials, s.plan.K) && math.Max(s.ranNs, s.setUpNs/mostSetUpTimes) >= float64(s.plan.MaxTime)
}

// due reports whether it is time to examine whether the samples suffice. The first examination comes after
// FewestTrials trials, or after they ran for enoughNs. If trials take less time than an examination,
// examinations are rarer.
func (s *series) due() bool {
	if s.trials < FewestTrials && s.ranNs < enoughNs {
		return false
	}
	growth := repeat.UsualGrowth
	if s.tookNs <= longTrialNs {
		growth = 2
	}
	return repeat.Due(s.trials, fewestLooked, growth)
}
