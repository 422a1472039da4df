package fidelity

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

const (
	busyShare  = 0.1   // a thread that is idle for less of a sample is busy in it
	idleShare  = 0.2   // and one that is idle for more sleeps in it
	stillShare = 0.9   // a counter that loses this share of the sleep stands still in it
	steadyMAD  = 0.1   // the share lost varies by less of itself: it is the same each time
	farOff     = 1e-3  // a rate further off than this is no matter of calibration
	leastBusy  = 5     // fewer busy samples don't tell a rate
	leastMoves = 3     // fewer samples between two CPUs don't tell an offset
	seldom     = 0.02  // jumps happen in no more of the samples
	wander     = 2e-6  // two oscillators drift apart by less as they warm and cool
	leastShare = 20e-6 // less of the sleep is no share of it but a rate that wanders
)

// observed is a sample among those of all workloads.
type observed struct {
	Sample
	workload int
	// offNs is how much the counter is ahead of the reference at the counter's own
	// rate, and boundNs how much of that may be the reading's.
	offNs, boundNs float64
}

// off reports that a sample's error is beyond what its readings explain.
func (o observed) off() bool { return math.Abs(o.offNs) > o.boundNs }

// diagnosis looks for what is wrong with a counter, in the samples of all
// workloads together: one workload alone can't tell a counter that stops in sleep
// from one that was always slow.
type diagnosis struct {
	counter, reference clock.Rated
	all                []observed
	rate               span // of the counter, in ticks a nanosecond
	findings           []finding
	explained          []bool // samples that a finding explains
}

// diagnose finds the faults in samples of the workloads.
func diagnose(counter, reference clock.Rated, samples [][]Sample) *diagnosis {
	d := &diagnosis{counter: counter, reference: reference}
	for w := range samples {
		for _, s := range samples[w] {
			if !disturbed(counter, s) {
				d.all = append(d.all, observed{Sample: s, workload: w})
			}
		}
	}
	d.explained = make([]bool, len(d.all))
	if len(d.all) == 0 {
		return d
	}
	d.rate = d.ownRate()
	d.measure()
	d.findIdle()
	d.findRate()
	d.findOffset()
	d.findRest()
	return d
}

// disturbed reports that a clock of CPU time can't be judged by a sample, since the
// thread lost its CPU.
func disturbed(counter clock.Rated, s Sample) bool {
	return counter.CountsSleep == clock.No && s.Counted &&
		s.Use.WaitNs+s.Use.VoluntarySwitches+s.Use.InvoluntarySwitches > 0
}

// ownRate is the rate that the counter keeps: that of all samples, or where busy
// samples follow another one, theirs. Where there are only idle ones, far from the
// rate that the counter is believed to have, it is that which they are off from.
func (d *diagnosis) ownRate() span {
	common := func(samples []Sample, least int) (span, bool) {
		e := fitRate(samples, d.stepTicks())
		return span{e.Lo, e.Hi}, e.Statistic == "agreement" && e.N >= least
	}
	all, agree := common(d.where(func(observed) bool { return true }), 1)
	busy, known := common(d.where(func(o observed) bool { return o.IdleNs < busyShare*o.ReferenceNs }), leastBusy)
	switch believed, ok := d.believed(); {
	case known && (!agree || !all.meets(busy)):
		return busy
	case known || !ok:
		return all
	case !agree || math.Abs(all.middle()/believed.middle()-1) > farOff:
		return believed
	}
	return all
}

func (d *diagnosis) where(keep func(observed) bool) []Sample {
	var kept []Sample
	for _, o := range d.all {
		if keep(o) {
			kept = append(kept, o.Sample)
		}
	}
	return kept
}

// believed is the rate that the counter's tick stands for, false where it is not
// known.
func (d *diagnosis) believed() (span, bool) {
	tick := d.counter.TickNs
	if !(tick.Value > 0 && tick.Lo > 0 && tick.Hi > 0) {
		return span{}, false
	}
	return span{1 / tick.Hi, 1 / tick.Lo}, true
}

func (d *diagnosis) stepTicks() float64 { return stepTicks(d.counter) }

// stepTicks is the counter's step in its ticks: one where the tick's length is not
// known.
func stepTicks(counter clock.Rated) float64 {
	if !(counter.TickNs.Value > 0) {
		return 1
	}
	return stepNs(counter) / counter.TickNs.Value
}

// measure finds how far each sample is off the counter's own rate.
func (d *diagnosis) measure() {
	rate := d.rate.middle()
	for i := range d.all {
		o := &d.all[i]
		o.offNs = float64(o.CounterTicks)/rate - o.ReferenceNs
		o.boundNs = o.PairingNs + d.stepTicks()/rate + o.ReferenceNs*(d.rate.hi-d.rate.lo)/(2*rate)
	}
}

// blame records a finding and the samples that it explains.
func (d *diagnosis) blame(shown []int, fault func(observed) Fault) {
	for _, i := range shown {
		d.explained[i] = true
	}
	d.findings = append(d.findings, finding{shown, fault})
}

// findIdle looks whether time is lost while the thread sleeps. The samples that it
// sleeps in tell which share; all others that lost some of their sleep follow.
func (d *diagnosis) findIdle() {
	if d.counter.CountsSleep == clock.No {
		return // it is to stand still then
	}
	asleep, lost := 0, 0
	var shares []float64
	for _, o := range d.all {
		if o.IdleNs <= idleShare*o.ReferenceNs {
			continue
		}
		asleep++
		shares = append(shares, -o.offNs/o.IdleNs)
		if o.off() {
			lost++
		}
	}
	share := stats.Median(shares)
	least := leastShare
	if d.disciplined() {
		least = clock.SlewLimit
	}
	if 2*lost <= asleep || !(math.Abs(share) > least) {
		return
	}
	steady := stats.MAD(shares) < steadyMAD*math.Abs(share)
	d.blame(d.losing(share, steady), idleFault(share, steady))
}

// losing are the samples that are off in the direction of the share of their sleep
// that is lost, and by no more than that and some; where it varies, by no more than
// all of it.
func (d *diagnosis) losing(share float64, steady bool) []int {
	most := 1.5 * math.Abs(share)
	if !steady {
		most = math.Max(most, 1)
	}
	var shown []int
	for i, o := range d.all {
		if o.off() && o.offNs*share < 0 && math.Abs(o.offNs) <= o.boundNs+most*o.IdleNs {
			shown = append(shown, i)
		}
	}
	return shown
}

// findRate compares the rate that the counter keeps with the one that it is
// believed to have. The reference's own rate may be off as well, and either may have
// wandered since the counter was calibrated.
func (d *diagnosis) findRate() {
	believed, ok := d.believed()
	reference := d.rate.middle() * (d.reference.TickNs.RelativeHalfWidth() + wander)
	if !ok || believed.meets(span{d.rate.lo - reference, d.rate.hi + reference}) {
		return
	}
	ppm := 1e6 * (d.rate.middle()/believed.middle() - 1)
	all := make([]int, len(d.all))
	for i := range all {
		all[i] = i
	}
	d.findings = append(d.findings, finding{all, rateFault(ppm, d.disciplined())})
}

// disciplined reports that the system may change the rate of one of the clocks
// (adjtimex(2)). It leaves CLOCK_MONOTONIC_RAW alone.
func (d *diagnosis) disciplined() bool {
	adjusted := func(c *clock.Clock) bool { return c.Kind == clock.KindWall && c.Name != "monotonic-raw" }
	return adjusted(d.counter.Clock) || adjusted(d.reference.Clock)
}

// cpuPair is two CPUs, the lower number first.
type cpuPair struct{ a, b int }

// findOffset looks for pairs of CPUs between which samples are off by the same.
func (d *diagnosis) findOffset() {
	moved := map[cpuPair][]int{}
	for i, o := range d.all {
		if o.StartCPU >= 0 && o.EndCPU >= 0 && o.StartCPU != o.EndCPU && !d.explained[i] {
			pair := cpuPair{min(o.StartCPU, o.EndCPU), max(o.StartCPU, o.EndCPU)}
			moved[pair] = append(moved[pair], i)
		}
	}
	byPair := func(p, q cpuPair) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) }
	for _, pair := range slices.SortedFunc(maps.Keys(moved), byPair) {
		d.judgePair(pair, moved[pair])
	}
	d.findOddCPUs()
}

// findOddCPUs looks for CPUs whose samples are all off by the same, whichever other CPU
// they involve: on machines with many CPUs few samples have both ends in common.
func (d *diagnosis) findOddCPUs() {
	touching := map[int][]int{}
	for i, o := range d.all {
		if o.StartCPU >= 0 && o.EndCPU >= 0 && o.StartCPU != o.EndCPU {
			touching[o.StartCPU] = append(touching[o.StartCPU], i)
			touching[o.EndCPU] = append(touching[o.EndCPU], i)
		}
	}
	for _, cpu := range slices.Sorted(maps.Keys(touching)) {
		d.judgeCPU(cpu, touching[cpu])
	}
}

// judgeCPU blames a CPU's offset for what nothing else explains. It shows in samples
// that come to the CPU and in ones that leave it; a jump shows in one of them.
func (d *diagnosis) judgeCPU(cpu int, touching []int) {
	ahead := func(o observed) float64 {
		if o.EndCPU == cpu {
			return o.offNs
		}
		return -o.offNs
	}
	var offsets []float64
	for _, i := range touching {
		offsets = append(offsets, ahead(d.all[i]))
	}
	offset := stats.Median(offsets)
	came, left, fit := false, false, 0
	var shown []int
	for _, i := range touching {
		o := d.all[i]
		if !o.off() || math.Abs(ahead(o)-offset) > o.boundNs {
			continue
		}
		came, left, fit = came || o.EndCPU == cpu, left || o.StartCPU == cpu, fit+1
		if !d.explained[i] {
			shown = append(shown, i)
		}
	}
	if came && left && 2*fit > len(touching) && len(shown) > 0 {
		d.blame(shown, offsetFault(fmt.Sprintf("between CPU %d and the others", cpu), offset))
	}
}

// judgePair blames an offset for what it explains: samples that are off without it,
// and are not with it.
func (d *diagnosis) judgePair(pair cpuPair, moved []int) {
	towardsB := func(o observed) float64 {
		if o.StartCPU == pair.a {
			return o.offNs
		}
		return -o.offNs
	}
	var offsets []float64
	for _, i := range moved {
		offsets = append(offsets, towardsB(d.all[i]))
	}
	offset := stats.Median(offsets)
	var shown []int
	for _, i := range moved {
		if o := d.all[i]; o.off() && math.Abs(towardsB(o)-offset) <= o.boundNs {
			shown = append(shown, i)
		}
	}
	if len(shown) >= leastMoves && 2*len(shown) > len(moved) {
		d.blame(shown, offsetFault(fmt.Sprintf("between CPU %d and CPU %d", pair.a, pair.b), offset))
	}
}

// findRest names what is left: a few jumps, a rate that is being changed, or
// nothing that is known.
func (d *diagnosis) findRest() {
	var rest []int
	slewed := d.disciplined()
	for i, o := range d.all {
		if math.Abs(o.offNs) > o.boundNs+wander*o.ReferenceNs && !d.explained[i] {
			rest = append(rest, i)
			slewed = slewed && math.Abs(o.offNs) <= o.boundNs+clock.SlewLimit*o.ReferenceNs
		}
	}
	switch {
	case len(rest) == 0:
	case slewed:
		d.blame(rest, slewFault)
	case len(rest) <= max(1, int(seldom*float64(len(d.all)))) && d.counter.CountsSleep != clock.No:
		d.blame(rest, jumpFault(len(rest), d.reference.Clock))
	default:
		d.blame(rest, unexplainedFault(d.counter.Clock))
	}
}
