package kbest

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/machine"
	"chronoscope/stats"
)

// look is what the CPU lost during one stretch of short chains between the samples. All times are in
// nanoseconds.
type look struct {
	// ranNs is the length of the stretch without the losses.
	ranNs float64
	// atNs has the moments of the losses, in order, counted in ranNs. lostNs has the sum of the losses up to
	// and including each of these.
	atNs, lostNs []float64
	// breaksNs has the moments, counted in ranNs, at which time is missing: others had the CPU, or a hypervisor took
	// it for long.
	breaksNs []float64
}

// add appends a running time, and what was lost at its end.
func (l *look) add(ranNs, lostNs float64) {
	l.ranNs += ranNs
	if lostNs > 0 {
		l.atNs, l.lostNs = append(l.atNs, l.ranNs), append(l.lostNs, l.total()+lostNs)
	}
}

// total returns the sum of all losses.
func (l *look) total() float64 { return l.before(len(l.lostNs)) }

// before returns the sum of the first n losses.
func (l *look) before(n int) float64 {
	if n == 0 {
		return 0
	}
	return l.lostNs[n-1]
}

// between returns how much time was lost between two moments, which are counted in ranNs.
func (l *look) between(from, to float64) float64 {
	first, _ := slices.BinarySearch(l.atNs, from)
	last, _ := slices.BinarySearch(l.atNs, to)
	return l.before(last) - l.before(first)
}

// room tells where in a look runs of a given length can begin without meeting a break: ns is the total length of such
// moments, and places about how many separate runs fit. It is zero if there is none.
type room struct{ ns, places float64 }

// roomFor returns the room for runs of the given length.
func (l *look) roomFor(runNs float64) (r room) {
	for begin, end := range l.parts() {
		if ns := end - begin - runNs; ns > 0 {
			r.ns, r.places = r.ns+ns, r.places+1+ns/runNs
		}
	}
	return r
}

// fewestPlaces is the least number of places for runs in a look. With one place, every draw would show the same losses.
const fewestPlaces = 5

// beginOf returns the begin of the run that has the given length of its room before it.
func (l *look) beginOf(runNs, before float64) float64 {
	for begin, end := range l.parts() {
		here := math.Max(0, end-begin-runNs)
		if before < here {
			return begin + before
		}
		before -= here
	}
	return 0
}

// parts yields the begins and ends of the parts of a look between its breaks.
func (l *look) parts() iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) {
		begin := 0.0
		for _, at := range l.breaksNs {
			if !yield(begin, at) {
				return
			}
			begin = at
		}
		yield(begin, l.ranNs)
	}
}

// looks holds the looks of a measurement. One is made before the samples and the others between them, since a
// CPU's losses change from second to second.
type looks struct {
	all []look
	// ranNs and lostNs are the sums over all looks. awayNs is the part of both that the CPU time lacks, and
	// awayErrorNs the error of that.
	ranNs, lostNs, awayNs, awayErrorNs float64
	// chainNs is the length of a chain, which is how exactly the moments of losses are known.
	chainNs float64
}

const (
	lookNs = 20e6
	// lookShare is the time of all looks as a share of the samples' time, shortLookShare that share for
	// samples up to escapeNs: few interruptions hit these, so that they say little about interruptions.
	lookShare, shortLookShare = 0.25, 1
	lookWindow                = 48  // chains between two readings of the kernel's counts
	mostWindows               = 256 // that are tried in one look
	// leastPauseShare is a share of the pause between two windows, for a look at the kernel's counts, that is more
	// than pauses differ without a loss.
	leastPauseShare = 0.5
	// leastLossNs, and leastLossShare of a chain, are more than chains differ without a loss.
	leastLossNs, leastLossShare = 200, 0.03
	// If a single loss of more than stolenNs is missing from the CPU time, a hypervisor took it. Looks leave
	// such losses out, since samples that lose as much are corrected by their CPU time.
	stolenNs = 2e5
)

// chainWindow is lookWindow chains in a row: how long each took, and the pause since the previous window, which is NaN
// in the first window and after a break.
type chainWindow struct {
	chainsNs [lookWindow]float64
	pauseNs  float64
}

// takeLook runs short chains for a while. The time by which a chain exceeds the typical chain is a loss, as is
// that by which a pause between two windows of chains exceeds the typical pause. Windows in which others had the
// CPU are left out.
func (s *Station) takeLook(o overhead, seen *looks) {
	if s.Spin == nil || s.Use == nil {
		return
	}
	windows := make([]chainWindow, 0, mostWindows) // growing it would lengthen a pause
	var ranNs, awayNs float64
	var ended int64 // reading at the end of the previous window; 0 after a break
	var since machine.ThreadUse
	for try := 0; try < mostWindows && ranNs < lookNs; try++ {
		w := chainWindow{pauseNs: math.NaN()}
		before := s.look()
		first := s.Clock.Start()
		last := first
		for i := range w.chainsNs {
			s.Spin()
			now := s.Clock.End()
			w.chainsNs[i] = s.Clock.Ns(now - last)
			last = now
		}
		after := s.look()
		use := after.Since(before)
		if left(before, after) {
			ended = 0
			continue
		}
		typical, longest := w.typicalNs(), slices.Max(w.chainsNs[:])
		away := s.Clock.Ns(last-first) - (float64(use.CPUNs) - o.lookNs)
		if longest-typical > stolenNs && away > (longest-typical)/2 {
			ended = 0
			continue
		}
		if ended != 0 && !left(since, before) && s.Clock.Ns(first-ended) < stolenNs {
			w.pauseNs = s.Clock.Ns(first - ended)
		}
		ended, since = last, after
		ranNs += typical * lookWindow
		awayNs += away
		windows = append(windows, w)
	}
	if len(windows) == 0 {
		return
	}
	l := lookOf(windows)
	seen.all, seen.chainNs = append(seen.all, l), windows[0].typicalNs()
	seen.ranNs, seen.lostNs, seen.awayNs = seen.ranNs+l.ranNs, seen.lostNs+l.total(), seen.awayNs+awayNs
	seen.awayErrorNs = math.Hypot(seen.awayErrorNs, 2*o.lookSpreadNs*math.Sqrt(float64(len(windows)))+3e3)
}

// left reports whether the thread left its CPU between two looks at its counters.
func left(before, after machine.ThreadUse) bool {
	use := after.Since(before)
	return use.WaitNs > 0 || use.InvoluntarySwitches+use.VoluntarySwitches > 0 || after.CPU != before.CPU
}

// typicalNs returns the time of a chain without losses.
func (w chainWindow) typicalNs() float64 {
	sorted := w.chainsNs
	slices.Sort(sorted[:])
	return stats.Quantile(sorted[:], 0.25)
}

// lookOf puts windows together to a look.
func lookOf(windows []chainWindow) (l look) {
	var pauses []float64
	for _, w := range windows {
		if !math.IsNaN(w.pauseNs) {
			pauses = append(pauses, w.pauseNs)
		}
	}
	slices.Sort(pauses)
	pause := stats.Quantile(pauses, 0.25)
	for i, w := range windows {
		if i > 0 && math.IsNaN(w.pauseNs) {
			l.breaksNs = append(l.breaksNs, l.ranNs)
		} else if i > 0 {
			l.take(w.pauseNs, pause, leastPauseShare)
		}
		typical := w.typicalNs()
		for _, ns := range w.chainsNs {
			l.take(ns, typical, leastLossShare)
		}
	}
	return l
}

// take appends a time that is typically typicalNs. What exceeds that by more than leastLossNs and a share of it is a
// loss.
func (l *look) take(ns, typicalNs, share float64) {
	if lost := ns - typicalNs; lost > math.Max(leastLossNs, share*typicalNs) {
		l.add(typicalNs, lost)
	} else {
		l.add(ns, 0)
	}
}

// known reports whether there was a look.
func (l *looks) known() bool { return len(l.all) > 0 }

// share returns the time lost as a share of the running time; 0 if there was no look.
func (l *looks) share() float64 { return l.lostNs / math.Max(1, l.ranNs) }

// eachNs returns how long typical interruptions are: half of the lost time is in ones that are at most as long, so that
// neither many short ones nor a rare long one hides the ticks. It is 0 if nothing was lost.
func (l *looks) eachNs() float64 {
	var each []float64
	for _, one := range l.all {
		for i := range one.lostNs {
			each = append(each, one.lostNs[i]-one.before(i))
		}
	}
	slices.Sort(each)
	sum := 0.0
	for _, ns := range each {
		if sum += ns; sum >= l.lostNs/2 {
			return ns
		}
	}
	return 0
}

// due reports whether it is time for another look, after samples of tookNs each that took samplesNs in all.
func (l *looks) due(samplesNs, tookNs float64) bool {
	share := lookShare
	if tookNs <= escapeNs {
		share = shortLookShare
	}
	return l.known() && float64(len(l.all))*lookNs < share*samplesNs
}

// disturbances is a model of what a CPU adds to the running time of a sample: the losses that the looks saw,
// replayed from random moments.
type disturbances struct {
	looks    *looks
	switches switchCost // the cost of a switch
}

// scenario is one possible truth about the disturbances.
type scenario struct {
	// looks are drawn with replacement from those of the measurement, as many as there are (a bootstrap).
	looks []*look
	// factor is the true loss divided by the loss that the looks saw. In half of the scenarios it is up to
	// machine.NoiseError more, as the looks' chains have no data that interrupts could displace. held is the share of the
	// losses that CPU time includes, as kernels may leave interrupts out of it.
	factor, held float64
	// longerNs is added to the length of stretches, since the moments of losses are only known to within a chain.
	longerNs float64
	// sticky is the probability that a sample which is longer than a look continues with the same look. Losses
	// change slowly: samples of hundreds of milliseconds differ by more than if each were put together from looks
	// at random, and the shorter ones lost less than usual.
	sticky float64
	// rooms has the room in each of the looks for runs of roomNs.
	rooms  []room
	roomNs float64
	// switchNs is the cost of a switch. hiddenNs is what the CPU time holds of the interruption that causes it, as a
	// tick may: looks don't see that one. It is 0 in half of the scenarios, and up to half of a typical interruption in
	// the others, as that ends in another thread: with three loops on the EPYC, figures of 60 ms were off by 0.5 %, or
	// 6 µs a switch, where interruptions take 20 µs.
	switchNs, hiddenNs float64
	// unseenPerNs is the rate of interruptions so rare that the looks missed them, unseenNs their length.
	unseenPerNs, unseenNs float64
}

const (
	// looksSpread is the standard deviation of the logarithm of a scenario's factor, however many looks there are: on
	// a machine that lost 6 to 8 %, long chains, short chains and gaps between readings agreed within 5 % of that.
	// oneLookSpread, divided by the number of looks, is added to it: how far many looks may be off follows from their
	// own differences.
	looksSpread, oneLookSpread = 0.05, 0.4
	// leastUnseenNs and mostUnseenNs bound the length of an interruption that the looks can have missed.
	leastUnseenNs, mostUnseenNs = 1e3, 2e5
)

// draw draws one scenario into w.
func (d disturbances) draw(rng *rand.Rand, w *scenario) {
	w.switchNs = d.switches.draw(rng)
	w.looks, w.roomNs = w.looks[:0], 0
	n := len(d.looks.all)
	if n == 0 {
		return
	}
	for range n {
		w.looks = append(w.looks, &d.looks.all[rng.IntN(n)])
	}
	w.factor = math.Exp(rng.NormFloat64() * math.Hypot(looksSpread, oneLookSpread/float64(n)))
	w.factor *= 1 + machine.NoiseError*sometimes(rng)
	lackLeast, lackMost := d.looks.lacking()
	w.held = 1 - lackLeast - rng.Float64()*(lackMost-lackLeast)
	w.hiddenNs = w.held * d.looks.eachNs() / 2 * sometimes(rng)
	w.longerNs = d.looks.chainNs * (2*rng.Float64() - 1)
	w.sticky = rng.Float64()
	w.unseenPerNs = rng.ExpFloat64() / d.looks.ranNs
	w.unseenNs = leastUnseenNs * math.Exp(rng.Float64()*math.Log(mostUnseenNs/leastUnseenNs))
}

// sometimes draws the size of an effect that may be absent: 0 in half of the cases, else uniform from 0 to 1.
func sometimes(rng *rand.Rand) float64 { return math.Max(0, 2*rng.Float64()-1) }

// lacking returns the share of the losses that CPU time does not include, at least and at most.
func (l *looks) lacking() (least, most float64) {
	within := func(share float64) float64 { return math.Max(0, math.Min(1, share)) }
	if l.lostNs == 0 {
		return 0, 1
	}
	least, most = within((l.awayNs-l.awayErrorNs)/l.lostNs), within((l.awayNs+l.awayErrorNs)/l.lostNs)
	if most < leastLacking {
		return 0, 0
	}
	return least, most
}

// leastLacking is a share of the losses. If CPU time lacks less than that, the lack is taken for an error, and
// CPU time counts as including all losses. CPU time always includes what a host takes. It includes the
// kernel's interrupts, unless the kernel accounts for them separately (CONFIG_IRQ_TIME_ACCOUNTING).
const leastLacking = 0.25

// add draws what disturbances add to a sample with the given running time.
func (w *scenario) add(rng *rand.Rand, runNs float64, x *Sample) float64 {
	lost := w.lost(rng, runNs, x.switches() == 0)
	if x.Corrected != "" {
		lost *= w.held
	}
	return (w.switchNs+w.hiddenNs)*float64(x.switches()) + lost
}

// lost draws what is lost within a running time. whole says that no other thread had the CPU meanwhile. Then the
// stretch of a look should meet no break, so that regular interrupts, as a timer's, are in it as often as they come.
func (w *scenario) lost(rng *rand.Rand, runNs float64, whole bool) float64 {
	if len(w.looks) == 0 || runNs <= 0 {
		return 0
	}
	var sum float64
	left := math.Max(runNs/2, runNs+w.longerNs)
	for l, start := w.begin(rng, left, whole); left > 0; start = 0 {
		end := math.Min(l.ranNs, start+left)
		sum += l.between(start, end)
		left -= math.Max(end-start, 1)
		if rng.Float64() >= w.sticky {
			l = w.looks[rng.IntN(len(w.looks))]
		}
	}
	sum *= w.factor
	for left := rng.ExpFloat64(); left < w.unseenPerNs*runNs; left += rng.ExpFloat64() {
		sum += w.unseenNs
	}
	return sum
}

// begin draws a look, and the moment in it at which a stretch of runNs begins. If whole, the stretch contains no break,
// unless no look has room for fewestPlaces such stretches.
func (w *scenario) begin(rng *rand.Rand, runNs float64, whole bool) (l *look, start float64) {
	first := rng.IntN(len(w.looks))
	if whole && w.roomNs != runNs {
		w.rooms, w.roomNs = w.rooms[:0], runNs
		for _, l := range w.looks {
			w.rooms = append(w.rooms, l.roomFor(runNs))
		}
	}
	for i := 0; whole && i < len(w.looks); i++ {
		n := (first + i) % len(w.looks)
		if w.rooms[n].places >= fewestPlaces {
			return w.looks[n], w.looks[n].beginOf(runNs, rng.Float64()*w.rooms[n].ns)
		}
	}
	return w.looks[first], rng.Float64() * w.looks[first].ranNs
}
