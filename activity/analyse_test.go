package activity

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"chronoscope/machine"
)

// The trace holds three preemptions, which took 3, 5 and 4 µs beyond the wait, and a stop, which
// does not count as a preemption.
func TestSwitchNs(t *testing.T) {
	trace := &Trace{TickNs: 0.5, CPU: -1, Length: 200e6}
	for i, beyondNs := range []int64{3000, 5000, 4000} {
		trace.Gaps = append(trace.Gaps, Gap{Start: int64(i+1) * 20e6, Ticks: 2 * (4e6 + beyondNs)})
		trace.Joins = append(trace.Joins, Join{From: i, Gap: i, Ticks: 20e6, Use: machine.ThreadUse{WaitNs: 4e6, InvoluntarySwitches: 1}})
	}
	trace.Gaps = append(trace.Gaps, Gap{Start: 100e6, Ticks: 50e6})
	trace.Joins = append(trace.Joins, Join{From: 3, Gap: 3, Ticks: 60e6, Continued: true, Use: machine.ThreadUse{VoluntarySwitches: 1}})
	if a := Analyse(trace); a.SwitchNs.Value() != 4000 || a.Causes[Preempted].Count != 3 || a.Causes[Stopped].Count != 1 {
		t.Errorf("a switch takes %v ns; causes %v", a.SwitchNs, a.Causes)
	}
	if a := Analyse(&Trace{TickNs: 1, Length: 100}); a.SwitchNs.Known() || a.Own != nil {
		t.Errorf("without any switch: %v ns; interrupts %v", a.SwitchNs, a.Own)
	}
}

// Timer interrupts that the kernel counted beyond the tick's are attributed to timers of sleeping
// threads, as far as there are gaps for them. If the trace dropped gaps, the counts are scaled to
// the part that was kept.
func TestTimerCount(t *testing.T) {
	const teeth = 100
	trace := &Trace{TickNs: 1, CPU: -1, Length: 4e6 * teeth, Kernel: Kernel{Known: true, TickHz: 250, TimerInterrupts: teeth + 7}}
	for k := range int64(teeth) {
		trace.Gaps = append(trace.Gaps, Gap{Start: 4e6*k + 1e6, Ticks: 3000 + 10*k%70})
		if k%20 == 9 {
			trace.Gaps = append(trace.Gaps, Gap{Start: 4e6*k + 2e6 + 7919*k*k%1e6, Ticks: 2000})
		}
	}
	a := Analyse(trace)
	if i := a.Interrupts; i == nil || *i.Counted != teeth+7 || i.Count != teeth || i.Hidden != 0 || *i.Sleepers != 5 || a.Causes[Interrupt].Count != 5 {
		t.Errorf("%+v, %v", i, a.Causes)
	}
	if a.Tick != nil && (a.Tick.MinNs.Value() != 3000 || a.Tick.MaxNs.Value() != 3060) {
		t.Errorf("a tick takes %v to %v ns, want 3000 to 3060", a.Tick.MinNs, a.Tick.MaxNs)
	}
	last := trace.Gaps[len(trace.Gaps)-1]
	trace.Dropped, trace.Length, trace.Kernel.TimerInterrupts = 1, 2*last.End(), 2*(teeth+7)
	if a := Analyse(trace); a.Tick == nil || *a.Interrupts.Counted != teeth+7 || a.Tick.Expected != teeth {
		t.Errorf("half dropped: %+v of a tick %+v", a.Interrupts, a.Tick)
	}
}

// foreign counts the lowest costs as those of other gaps if a break separates them from the rest,
// and if their number does not exceed most.
func TestForeign(t *testing.T) {
	var costs []float64
	for i := range 1000 {
		costs = append(costs, 4000+float64(i)*float64(i)/1000)
	}
	two := append([]float64{1500, 2900}, costs...)
	for _, c := range []struct {
		costs      []float64
		most, want int
	}{{costs, 3, 0}, {two, 0, 0}, {two, 1, 1}, {two, 2, 2}, {two, 5, 2}, {two[:5], 2, 0}, {nil, 2, 0}} {
		if got := foreign(c.costs, c.most); got != c.want {
			t.Errorf("of %d costs, %d may be others: %d are, want %d", len(c.costs), c.most, got, c.want)
		}
	}
}

// A comb that a spectrum showed at twice its frequency is found at its own frequency.
func TestCombAtItsHarmonic(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 8))
		periodNs := 6e6 + 6e6*rng.Float64()
		trace := world{lengthNs: 3e9, combs: []source{someHost(rng, periodNs)}, others: usual()}.simulate(rng)
		for _, harmonic := range []float64{1, 2} {
			s := newCombSearch(trace.Trace, nil)
			if !s.tryFrequency(s.arrivals(subset{}), harmonic/periodNs, s.seenNs, 1) {
				t.Errorf("seed %d: no comb at %v times the frequency", seed, harmonic)
			} else if got := s.found[0].Period.Value; math.Abs(got/periodNs-1) > 1e-4 {
				t.Errorf("seed %d: at %v times the frequency a comb of %.0f ns, want %.0f", seed, harmonic, got, periodNs)
			}
		}
	}
}

// A comb that misses more than half of its teeth is not accepted.
func TestHalfACombIsNone(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 10))
		w := world{lengthNs: 4e9, combs: []source{someHost(rng, 4e6)}}
		w.combs[0].missing = 0.56
		if a := Analyse(w.simulate(rng).Trace); len(a.Combs) > 0 {
			t.Errorf("seed %d: %d of %d teeth are a comb of %.0f ns", seed, len(a.Combs[0].Gaps), a.Combs[0].Expected, a.Combs[0].Period.Value)
		}
	}
}

// The bound on chance holds for the binomial distribution, whose terms are summed one by one, and
// is no looser than sqrt(8 n p (1-p)) times (Ash, Information Theory, 1965, lemma 4.7.2).
func TestDivergenceBoundsTheBinomial(t *testing.T) {
	for _, n := range []int{5, 20, 100} {
		for _, chance := range []float64{0.01, 0.1, 0.4} {
			tail := 0.0
			for k := n; float64(k) > chance*float64(n); k-- {
				lg := func(i int) float64 { v, _ := math.Lgamma(float64(i + 1)); return v }
				tail += math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(chance) + float64(n-k)*math.Log(1-chance))
				share := float64(k) / float64(n)
				bound := math.Exp(-float64(n) * divergence(share, chance))
				slack := math.Max(1, math.Sqrt(8*float64(n)*share*(1-share)))
				if tail > bound*(1+1e-9) || tail*slack < bound*(1-1e-9) {
					t.Errorf("%d or more hits of %d at %v each: probability %.3g, bound %.3g", k, n, chance, tail, bound)
				}
			}
		}
	}
	if d := divergence(0.1, 0.2); d != 0 {
		t.Errorf("fewer hits than chance brings tell %v", d)
	}
}

// An analysis holds what a document needs: each cause by its name, and the periods in ticks and in
// time.
func TestAnalysisAsDocument(t *testing.T) {
	trace := &Trace{Clock: "tsc", TickNs: 0.5, CPU: 1, Threshold: 100, Length: 1000, Gaps: []Gap{
		{Start: 100, Ticks: 200, Own: true}, {Start: 500, Ticks: 150},
	}}
	a := Analyse(trace)
	if periods := trace.TimedPeriods(); len(periods) != 5 || periods[1].Label != "I0" || *periods[1].Cause != Runtime || periods[4].Label != "A2" || periods[4].DurationNs != 175 {
		t.Errorf("%+v", periods)
	}
	if a.ActiveRatio.Value() != 0.65 || a.Causes[Runtime] != (Total{1, 100, 100}) || a.Interrupts != nil || *a.CPU != 1 || a.ThresholdNs != 50 || a.DurationNs != 500 || a.Periods != nil {
		t.Errorf("%+v", a)
	}
	text, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(text), `"causes":{"runtime":{"count":1,"total_ns":100,"max_ns":100},"unexplained":{`) || !strings.Contains(string(text), `"combs":[]`) || !strings.Contains(string(text), `"caveats":[]`) {
		t.Errorf("%s, %v", text, err)
	}
	var back Analysis
	if err := json.Unmarshal(text, &back); err != nil || back.Causes[Runtime] != a.Causes[Runtime] {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"causes": {"moonlight": {}}}`), &back); err == nil || !strings.Contains(err.Error(), "moonlight") {
		t.Errorf("a cause that does not exist: %v", err)
	}
}

// A look that was interrupted accounts for two gaps. If the kernel counted one switch, another
// thread had the CPU only in the longer gap: the other was an interrupt.
func TestOneSwitchIsOneGap(t *testing.T) {
	for switches, want := range map[int64]Cause{1: Unexplained, 2: Preempted} {
		trace := &Trace{TickNs: 1, CPU: -1, Threshold: 80, Length: 1e6, Gaps: []Gap{{Start: 1000, Ticks: 40_000}, {Start: 42_000, Ticks: 100_000}}}
		trace.Joins = []Join{{From: 0, Gap: 1, Ticks: 150_000, Use: machine.ThreadUse{CPUNs: 10_000, WaitNs: 130_000}}}
		trace.Joins[0].Use.InvoluntarySwitches = switches
		if Analyse(trace); trace.Gaps[0].Cause != want || trace.Gaps[1].Cause != Preempted {
			t.Errorf("%d switches: %v, then %v", switches, trace.Gaps[0].Cause, trace.Gaps[1].Cause)
		}
	}
}
