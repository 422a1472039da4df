package slowclock

import (
	"math/rand/v2"
	"testing"

	"chronoscope/clock"
	"chronoscope/stats"
)

// trialsOf returns a tally of trials in which the given number of random ones saw a tick.
func trialsOf(trials, ticks int) *tally {
	t := newTally()
	saw := map[int]int64{}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(trials)[:ticks] {
		saw[i] = 1
	}
	for i := range trials {
		t.add(0, saw[i], 0, 0)
	}
	return t
}

// Six empty trials, one of which was preempted, once led to a trusted result of -2.6 ms for an
// event of 30 µs, by a clock of 16 ms.
func TestStarvedEmptyTrials(t *testing.T) {
	lab := &laboratory{Lab: Lab{Clock: Clock{Clock: &clock.Clock{Name: "slow"}, TickNs: 16e6}}}
	for _, c := range []struct {
		name    string
		empty   *tally
		verdict stats.Verdict
	}{
		{"enough, of 80 ns", trialsOf(800_000, 4), stats.Trusted},
		{"one of six preempted", trialsOf(6, 1), stats.Unusable},
		{"one of 2,000 preempted", trialsOf(2_000, 1), stats.Suspect},
	} {
		for method, outcome := range map[Method]outcome{Bernoulli: oneOrNone, Discrete: allTicks} {
			r := lab.result(method, trialsOf(17448, 33), c.empty, outcome)
			if r.Verdict != c.verdict {
				t.Errorf("empty trials, %s: %s of 30 µs is %v ns, %s (%v), want %s", c.name, method, r.Estimate.Value, r.Verdict, r.Reasons, c.verdict)
			}
		}
	}
}
