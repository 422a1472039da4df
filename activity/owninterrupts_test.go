package activity

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
)

// The kernel counts how many gaps were its own interrupts, but not which. An earlier version
// attributed 11.1 ms and 0.16 ms to 500 interrupts of 2 µs and 100 gaps of the host of 100 µs. The
// time of either cause lies between what is attributed to it and that plus what is unexplained.
func TestHostsGapsAreNotTheKernelsInterrupts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all, next := clocktest.Cases(t, 1) > 1, 0
	lengths := []float64{600, 2e3, 10e3, 100e3}
	counts := []int{0, 5, 100, 500}
	for seed, own := range lengths {
		for _, host := range lengths {
			for _, owns := range counts {
				for _, hosts := range counts {
					if next++; !all && next%5 != 0 {
						continue
					}
					rng := rand.New(rand.NewPCG(uint64(seed), 12))
					w := world{lengthNs: 1e9, hz: 250, virtual: true, others: []source{
						{cause: Interrupt, perSecond: float64(owns), leastNs: own, spreadNs: own / 4},
						{cause: Hypervisor, perSecond: float64(hosts), leastNs: host, spreadNs: host / 4}}}
					trace := w.simulate(rng)
					trace.Joins = nil // the kernel saw none of the host's gaps
					truth := map[Cause]float64{}
					for i, c := range trace.truth {
						truth[c] += trace.Ns(trace.Gaps[i].Ticks)
					}
					a := Analyse(trace.Trace)
					name := fmt.Sprintf("%d own of %.4g ns, %d of the host of %.4g ns", owns, own, hosts, host)
					for _, c := range []Cause{Interrupt, Hypervisor} {
						least := a.Causes[c].TotalNs
						if most := least + a.Causes[Unexplained].TotalNs; truth[c] < 0.999*least || truth[c] > 1.001*most {
							t.Errorf("%s: %s took %.4g ms, said to be %.4g to %.4g", name, c, truth[c]/1e6, least/1e6, most/1e6)
						}
					}
					if hosts == 0 && owns >= 100 && float64(a.Causes[Interrupt].Count) < 0.8*float64(len(trace.Gaps)) {
						t.Errorf("%s: %d of %d gaps are the kernel's", name, a.Causes[Interrupt].Count, len(trace.Gaps))
					}
				}
			}
		}
	}
}

// Interrupts that wake other threads fall into these threads' turns. So the kernel's count of them
// is no reason to call other gaps interrupts.
func TestInterruptsThatWakeOthersAreNotCountedTwice(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: 0, Length: 100e6, Kernel: Kernel{Known: true, OtherInterrupts: 20, Virtual: true}}
	for i := range 20 {
		gap := Gap{Start: int64(i)*4_000_000 + int64(i*i*i*7919%3_000_000), Ticks: 5000}
		if i%2 == 0 {
			gap.Ticks = 50_000
			trace.Joins = append(trace.Joins, Join{From: i, Gap: i, Ticks: 100_000, Use: machine.ThreadUse{WaitNs: 49_000, CPUNs: 51_000, InvoluntarySwitches: 1}})
		}
		trace.Gaps = append(trace.Gaps, gap)
	}
	if a := Analyse(trace); a.Causes[Preempted].Count != 10 || a.Causes[Interrupt].Count != 0 || a.Causes[Unexplained].Count != 10 {
		t.Errorf("%+v", a.Causes)
	}
}

// Without /proc, an earlier version attributed other threads' time to the hypervisor, and said that
// the thread kept its CPU.
func TestWithoutProcNothingIsTheHypervisors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 11))
	w := world{lengthNs: 2e9, hz: 250, tick: someTick(rng, 250), virtual: true, others: []source{
		{cause: Preempted, periodNs: 16e6, phaseNs: 1e6, leastNs: 12e6, spreadNs: 5e3}}}
	trace := w.simulate(rng)
	trace.Joins, trace.Unwatched = nil, true
	trace.Kernel.Known = false
	a := Analyse(trace.Trace)
	for _, c := range []Cause{Hypervisor, Interrupt, Preempted} {
		if a.Causes[c].Count > 0 {
			t.Errorf("%+v are put down to %s", a.Causes[c], c)
		}
	}
	if a.Causes[Unexplained].TotalNs < 0.5*w.lengthNs {
		t.Errorf("unexplained: %+v", a.Causes[Unexplained])
	}
	for _, u := range a.Undisturbed {
		if u.LengthNs >= 10e6 && u.Unpreempted > 0.1 {
			t.Errorf("work of %v ns keeps its CPU with a probability of %v", u.LengthNs, u.Unpreempted)
		}
	}
}

// Gaps far shorter than any tick are the host's, however many interrupts the kernel counted: those had the same way in
// and out as the tick.
func TestGapsShorterThanAnyInterruptAreTheHosts(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: 0, Length: 2e9, Kernel: Kernel{Known: true, Virtual: true, TickHz: 250, TimerInterrupts: 500, OtherInterrupts: 300}}
	for i := range int64(500) {
		trace.Gaps = append(trace.Gaps, Gap{Start: i * 4_000_000, Ticks: 16_000})
		at := i*4_000_000 + 200_000 + i*i*i*7919%3_500_000
		trace.Gaps = append(trace.Gaps, Gap{Start: at, Ticks: 1500 + i})
		if i%5 == 0 {
			trace.Gaps = append(trace.Gaps, Gap{Start: at + 50_000, Ticks: 8000})
		}
	}
	a := Analyse(trace)
	if a.Causes[TimerTick].Count != 500 || a.Causes[Hypervisor].Count != 500 || a.Causes[Interrupt].Count != 100 || a.Own.Gaps != 100 {
		t.Errorf("%+v, own %+v", a.Causes, a.Own)
	}
}

// Between two spells the Go runtime takes the thread away in a gap of the recording's own; a tick just before it stays
// one.
func TestTheRuntimeTakesOnlyTheRecordingsOwnGaps(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: 0, Length: 1e9, Kernel: Kernel{Known: true, TickHz: 250, TimerInterrupts: 250}}
	for i := range int64(250) {
		trace.Gaps = append(trace.Gaps, Gap{Start: i * 4_000_000, Ticks: 9000}, Gap{Start: i*4_000_000 + 9000, Ticks: 12_000, Own: true})
		if i%10 == 0 {
			n := len(trace.Gaps)
			trace.Joins = append(trace.Joins, Join{From: n - 2, Gap: n - 1, Ticks: 40_000_000, Between: true, Use: machine.ThreadUse{CPUNs: 40_000_000}})
		}
	}
	if a := Analyse(trace); a.Causes[TimerTick].Count != 250 || a.Causes[Runtime].Count != 250 {
		t.Errorf("%+v", a.Causes)
	}
}

// If others had the CPU for much of the time, the kernel's interrupts may have been these others' timers: no gap is called
// an interrupt because the kernel counted many.
func TestInterruptsOfOthersAreNotTheRecordings(t *testing.T) {
	trace := &Trace{TickNs: 1, CPU: 0, Length: 1e9, Kernel: Kernel{Known: true, Virtual: true, OtherInterrupts: 3000}}
	for i := range int64(100) {
		n := len(trace.Gaps)
		trace.Gaps = append(trace.Gaps, Gap{Start: i * 10_000_000, Ticks: 8_000_000}, Gap{Start: i*10_000_000 + 9_000_000 + i*i*i*7919%500_000, Ticks: 20_000})
		trace.Joins = append(trace.Joins, Join{From: n, Gap: n, Ticks: 10_000_000, Use: machine.ThreadUse{WaitNs: 8_000_000, CPUNs: 2_000_000, InvoluntarySwitches: 1}})
	}
	if a := Analyse(trace); a.Causes[Preempted].Count != 100 || a.Causes[Interrupt].Count != 0 {
		t.Errorf("%+v", a.Causes)
	}
}
