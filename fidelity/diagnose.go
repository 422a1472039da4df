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
	busyShare  = 0.1   // a thread that is idle for less than this share of a sample is busy in it
	idleShare  = 0.2   // a thread that is idle for more than this share sleeps in it
	stillShare = 0.9   // a counter that loses at least this share of the sleep stands still in it
	steadyMAD  = 0.1   // a lost share whose relative variation is less than this is constant
	farOff     = 1e-3  // a larger relative error of the rate is not explained by calibration
	leastBusy  = 5     // least number of busy samples that tell a rate
	leastMoves = 3     // least number of samples between two CPUs that tell an offset
	seldom     = 0.02  // largest share of samples that may jump
	wander     = 2e-6  // relative drift between two oscillators that changes of temperature explain
	leastShare = 20e-6 // a smaller lost share of the sleep is explained by a drifting rate
)

// observed is one sample of any workload, with its error.
type observed struct {
	Sample
	workload int
	// offNs is how far the counter is ahead of the reference at the counter's own rate, and
	// boundNs is how much of that the error of the readings may explain.
	offNs, boundNs float64
}

// off reports whether a sample's error exceeds what the error of its readings explains.
func (o observed) off() bool { return math.Abs(o.offNs) > o.boundNs }

// diagnosis looks for the faults of a counter in the samples of all workloads together. The samples
// of one workload alone can't tell a counter that stops during sleep from one that is always slow.
type diagnosis struct {
	counter, reference clock.Rated
	all                []observed
	rate               span // of the counter, in ticks per nanosecond
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

// disturbed reports whether a clock of CPU time can't be judged by a sample because the thread lost
// its CPU.
func disturbed(counter clock.Rated, s Sample) bool {
	return counter.CountsSleep == clock.No && s.Counted &&
		s.Use.WaitNs+s.Use.VoluntarySwitches+s.Use.InvoluntarySwitches > 0
}

// ownRate returns the counter's own rate, from which errors are measured. It is the rate of all
// samples, or that of the busy samples if the two differ. If there are too few busy samples, and the
// rate of all samples is far from the rate that the counter is believed to have, it is the believed
// rate.
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

// believed returns the rate that follows from the length of the counter's tick, and false if the
// length is not known.
func (d *diagnosis) believed() (span, bool) {
	tick := d.counter.TickNs
	if !(tick.Value > 0 && tick.Lo > 0 && tick.Hi > 0) {
		return span{}, false
	}
	return span{1 / tick.Hi, 1 / tick.Lo}, true
}

func (d *diagnosis) stepTicks() float64 { return stepTicks(d.counter) }

// stepTicks returns the counter's step in ticks. It is 1 if the length of a tick is not known.
func stepTicks(counter clock.Rated) float64 {
	if !(counter.TickNs.Value > 0) {
		return 1
	}
	return stepNs(counter) / counter.TickNs.Value
}

// measure computes how far each sample is off the counter's own rate.
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

// findIdle examines whether the counter loses time while the thread sleeps. It finds the lost share
// from the samples in which the thread mostly sleeps, and blames sleep for the loss in all other
// samples too.
func (d *diagnosis) findIdle() {
	if d.counter.CountsSleep == clock.No {
		return // such a counter must stand still during sleep
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

// losing returns the samples whose error may be the lost share of their sleep: it has the same
// direction, and is at most 1.5 times as large. If the share is not steady, the error may be as
// large as the whole sleep.
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

// findRate compares the counter's own rate with the rate that it is believed to have. It allows for
// an error of the reference's rate, and for drift of both since the counter was calibrated.
func (d *diagnosis) findRate() {
	believed, ok := d.believed()
	if !ok {
		d.findStill()
		return
	}
	reference := d.rate.middle() * (d.reference.TickNs.RelativeHalfWidth() + wander)
	if believed.meets(span{d.rate.lo - reference, d.rate.hi + reference}) {
		return
	}
	ppm := 1e6 * (d.rate.middle()/believed.middle() - 1)
	d.findings = append(d.findings, finding{d.everySample(), rateFault(ppm, d.disciplined())})
}

func (d *diagnosis) everySample() []int {
	all := make([]int, len(d.all))
	for i := range all {
		all[i] = i
	}
	return all
}

// findStill examines whether a counter with a tick of unknown length advances at all: in most of the
// samples in which it must have taken a step.
func (d *diagnosis) findStill() {
	long, still := 0, 0
	for _, o := range d.all {
		if o.ReferenceNs-o.PairingNs > stepNs(d.counter) {
			long++
			if o.CounterTicks <= 0 {
				still++
			}
		}
	}
	if 2*still > long {
		d.findings = append(d.findings, finding{d.everySample(), stillFault(still, long)})
	}
}

// disciplined reports whether the system may change the rate of one of the clocks (adjtimex(2)). It
// never changes that of CLOCK_MONOTONIC_RAW.
func (d *diagnosis) disciplined() bool {
	adjusted := func(c *clock.Clock) bool { return c.Kind == clock.KindWall && c.Name != "monotonic-raw" }
	return adjusted(d.counter.Clock) || adjusted(d.reference.Clock)
}

// cpuPair is two CPUs, the lower number first.
type cpuPair struct{ a, b int }

// findOffset looks for pairs of CPUs between which the samples are all off by the same amount.
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

// findOddCPUs looks for CPUs whose samples are all off by the same amount, whichever other CPU they
// involve. On machines with many CPUs, few samples have both CPUs in common.
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

// judgeCPU blames an offset of a CPU for samples that nothing else explains. An offset must show in
// samples that end on the CPU and in samples that start on it; a jump shows in only one of them.
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

// judgePair blames an offset between two CPUs for the samples that it explains: those that are off
// without the offset and not off with it.
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

// findRest blames what remains: a few jumps, a rate that is being changed, or an unknown cause.
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
