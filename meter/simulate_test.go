package meter

import (
	"math"
	"math/rand/v2"

	"chronoscope/clock"
	"chronoscope/stats"
)

// simulated is a simulated machine with a coarse clock that is read for nothing.
type simulated struct {
	rng    *rand.Rand
	nowNs  float64
	tickNs float64
	skewNs float64      // by which the coarse clock was set
	shown  func() int64 // by the coarse clock, where it does not keep to its ticks
}

func newWorld(seed uint64, tickNs float64) *simulated {
	rng := rand.New(rand.NewPCG(seed, 0x3e7e5))
	return &simulated{rng: rng, nowNs: 1e12 + rng.Float64()*tickNs, tickNs: math.Round(tickNs)}
}

// coarse is the clock's reading, in nanoseconds as the kernel gives it.
func (w *simulated) coarse() int64 {
	if w.shown != nil {
		return w.shown()
	}
	return int64(math.Floor((w.nowNs+w.skewNs)/w.tickNs)) * int64(w.tickNs)
}

func (w *simulated) source() Source {
	c := clock.New(clock.Clock{Name: "simulated-coarse", Scope: clock.ScopeMachine, UnitNs: 1}, w.coarse)
	return Source{
		clock: c, tickNs: w.tickNs, perTick: int64(w.tickNs),
		costNs: &stats.Estimate{Unit: "ns"},
		fine:   func() int64 { return int64(w.nowNs) }, sameTime: true,
	}
}

// seed lets the simulated choose which calls a meter measures, whatever shard counts them.
func (w *simulated) seed(m *Meter) {
	salt := w.rng.Uint64()
	for i := range m.shards.all {
		m.shards.all[i].salt = salt
	}
}

// duration draws how long something takes, in nanoseconds.
type duration func(*rand.Rand) float64

func constant(ns float64) duration { return func(*rand.Rand) float64 { return ns } }

func exponential(ns float64) duration {
	return func(r *rand.Rand) float64 { return ns * r.ExpFloat64() }
}

// around is uniform between half and one and a half times ns.
func around(ns float64) duration {
	return func(r *rand.Rand) float64 { return ns * (0.5 + r.Float64()) }
}

// preempted is a call of that length during which the CPU is taken away now and then,
// for a time slice, and once in a given CPU time on average.
func preempted(ns, everyNs, sliceNs float64) duration {
	return func(r *rand.Rand) float64 {
		total := ns
		for left := everyNs * r.ExpFloat64(); left < ns; left += everyNs * r.ExpFloat64() {
			total += sliceNs * (0.9 + 0.2*r.Float64())
		}
		return total
	}
}

// worker calls the measured code again and again.
type worker struct {
	call, pause duration
	start       Start
	running     bool
	dueNs       float64
}

// run lets workers make calls of the meter, side by side, n in all.
func (w *simulated) run(m *Meter, n int, workers ...*worker) {
	for _, k := range workers {
		k.dueNs = w.nowNs + k.pause(w.rng)*w.rng.Float64()
	}
	for n > 0 {
		next := workers[0]
		for _, k := range workers[1:] {
			if k.dueNs < next.dueNs {
				next = k
			}
		}
		w.nowNs = next.dueNs
		if next.running {
			m.Stop(next.start)
			next.dueNs += next.pause(w.rng)
			n--
		} else {
			next.start = m.Start()
			next.dueNs += next.call(w.rng)
		}
		next.running = !next.running
	}
}

// keepTime lets one worker call at fixed times, a period apart from a place in the
// tick on, each up to a jitter later.
func (w *simulated) keepTime(m *Meter, n int, periodNs, jitterNs float64, call duration) {
	begun := w.nowNs + w.tickNs*w.rng.Float64()
	for i := range n {
		w.nowNs = max(w.nowNs, begun+float64(i)*periodNs+jitterNs*w.rng.Float64())
		start := m.Start()
		w.nowNs += call(w.rng)
		m.Stop(start)
	}
}
