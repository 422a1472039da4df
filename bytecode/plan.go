package bytecode

import (
	"math"
	"slices"
	"time"
)

// plannedStart is a start of a virtual machine that is planned.
type plannedStart struct {
	alone    bool
	methods  []Method
	duration time.Duration
}

// The number of virtual machines that are started. Each lays out code anew, and the intervals come from
// the scatter between machines.
const (
	referenceStartTime              = 2500 * time.Millisecond
	leastReferences, mostReferences = 5, 24
	compiledStarts                  = 2 // few, because each start compiles everything
	jointStartTime                  = 25 * time.Second
	leastJoints, mostJoints         = 4, 24
	// If time is short, fewer are started, so that each has at least shortestStart; otherwise most
	// of the time would be spent on starting. Fewer than fewestStarts give no useful interval.
	shortestStart = time.Second
	fewestStarts  = 3
)

// usual returns the number of starts in the duration d, from least to most, if a start takes the time
// each.
func usual(each time.Duration, least, most int, d time.Duration) int {
	return max(least, min(most, int(d/each)))
}

// fitting reduces the usual number of starts if the duration d is short.
func fitting(usual int, d time.Duration) int {
	return min(usual, max(fewestStarts, int(d/shortestStart)))
}

// A sequence is timed for about usualStretch at once. A group has at most sequencesAGroup sequences.
// In addition it has the empty sequence, which takes the time of emptyStretches sequences, and two
// sentinels.
const (
	usualStretch    = 40 * time.Millisecond
	leastStretch    = 4 * time.Millisecond
	sequencesAGroup = 10
	emptyStretches  = 2
	besideAGroup    = emptyStretches + 2
)

// blockTime is the length of a block of trials, short enough that few blocks are interrupted.
const blockTime = 50 * time.Microsecond

// A sequence is given up after mostLosses lost machines, a run after mostFalseRuns starts without a
// result.
const mostLosses, mostFalseRuns = 2, 3

// plan returns the starts; those of the reference are spread among the others.
func (r *running) plan() []plannedStart {
	var starts []plannedStart
	if len(r.joint) > 0 {
		all := r.Duration
		if r.library == "" && !r.NoReference {
			all += r.ReferenceDuration // without a reference, its time goes to the joint starts
		}
		n := fitting(usual(jointStartTime, leastJoints, mostJoints, all), all)
		methods := slices.Clone(r.joint)
		if r.library != "" {
			methods = append(methods, TSC)
		}
		for range n {
			starts = append(starts, plannedStart{false, methods, all / time.Duration(n)})
		}
	}
	if r.library == "" {
		return starts
	}
	n := fitting(usual(referenceStartTime, leastReferences, mostReferences, r.ReferenceDuration), r.ReferenceDuration)
	if r.Mode != Interpreter {
		n = compiledStarts
	}
	joints := len(starts)
	for i := range n {
		at := i + i*joints/n // after the earlier reference starts and a proportional part of the joint ones
		starts = slices.Insert(starts, at, plannedStart{true, []Method{TSC}, r.ReferenceDuration / time.Duration(n)})
	}
	return starts
}

// leastOfPlan is the share of its planned time that a start keeps, however late the run is.
const leastOfPlan = 0.5

// shortened returns the time for the first of the remaining starts; left is the time for all of them.
// Earlier starts may have taken longer than planned, as they do on a busy machine.
func shortened(starts []plannedStart, left time.Duration) time.Duration {
	var planned time.Duration
	for _, p := range starts {
		planned += p.duration
	}
	share := float64(left) / float64(planned)
	return time.Duration(float64(starts[0].duration) * min(1, max(leastOfPlan, share)))
}

// passes is what a start has to do: time all sequences in a random order, again and again.
type passes struct {
	order   []*sequence
	next    int
	group   int // number of sequences that share one empty sequence and the sentinels
	stretch time.Duration
	// end is when the start should be done, including an allowance for what is done once, such as
	// loading classes.
	end time.Time
}

// allowance is the factor by which a start may exceed its planned time before its stretches are
// shortened.
const allowance = 1.1

// inTime returns the length of the next stretch; left is the time for all remaining stretches.
func (p *passes) inTime(left time.Duration) time.Duration {
	return max(leastStretch, min(p.stretch, time.Duration(float64(left)/p.stretches(len(p.order)-p.next+1))))
}

// stretches returns how many stretches of time the given number of sequences takes: one each, and for each group
// besideAGroup more, for the empty sequence and the sentinels.
func (p *passes) stretches(sequences int) float64 {
	return float64(sequences) * (1 + besideAGroup/float64(p.group))
}

// passes plans as many passes as fit into the time. A group holds no sequence twice, so that each
// time of a sequence has its own overhead and sentinels.
func (r *running) passes(d time.Duration) passes {
	others := slices.DeleteFunc(slices.Clone(r.all), func(s *sequence) bool {
		return s.name == emptyName || s.name == fastSentinel || s.name == slowSentinel
	})
	p := passes{group: max(1, min(sequencesAGroup, len(others))), end: time.Now().Add(time.Duration(allowance * float64(d)))}
	count := p.stretches(len(others) + 1) // the sentinels are timed once more at the end
	n := max(1, int(math.Round(float64(d)/count/float64(usualStretch))))
	p.stretch = max(leastStretch, time.Duration(float64(d)/count/float64(n)))
	for range n {
		r.random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		p.order = append(p.order, others...)
	}
	if len(others) == 0 { // only sentinels were asked for
		p.order = make([]*sequence, n)
	}
	return p
}
