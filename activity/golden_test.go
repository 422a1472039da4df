package activity

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// figure reads a trace as printed in Bryant 2003, with the clock rate from which its milliseconds
// were computed, and the source's timer interval of 10 ms.
func figure(t *testing.T, number string, mhz float64) *Trace {
	t.Helper()
	f, err := os.Open("../testdata/papers/bryant2003-figure" + number + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := ReadList(f, 1e3/mhz)
	if err != nil {
		t.Fatal(err)
	}
	trace.Kernel.TickHz = 100
	return trace
}

// labels returns the labels of gaps in a trace whose first period has the number first.
func labels(gaps []int, first int) []string {
	var names []string
	for _, g := range gaps {
		names = append(names, fmt.Sprintf("I%d", first+g))
	}
	return names
}

// Figure 9.3 and homework 9.9: the process was active for 95.1 % of the 66.9 ms. Timer interrupts
// began the seven periods that are whole intervals apart. Serving one takes at least 247,113 cycles
// (I5). The true clock rate follows from six intervals in 32,831,112 cycles: 547.2 MHz.
func TestFigure93(t *testing.T) {
	trace := figure(t, "9.3", 549.9)
	a := Analyse(trace)
	if len(trace.Gaps) != 10 || math.Abs(a.ActiveRatio.Value()-0.951) > 0.0005 || math.Abs(trace.Ns(trace.Length)/1e6-66.9) > 0.05 {
		t.Errorf("%d gaps in %.2f ms, active %.4f", len(trace.Gaps), trace.Ns(trace.Length)/1e6, a.ActiveRatio.Value())
	}
	if a.Tick == nil {
		t.Fatalf("no timer tick among %+v", a.Combs)
	}
	if got, want := labels(a.Tick.Gaps, 0), []string{"I0", "I2", "I4", "I5", "I6", "I8", "I9"}; !slices.Equal(got, want) {
		t.Errorf("begun by a timer interrupt: %v, want %v", got, want)
	}
	if got := a.Tick.MinNs.Value() / trace.TickNs; math.Abs(got-247113) > 0.5 {
		t.Errorf("least cost %.1f cycles, want 247113", got)
	}
	if got, want := a.ClockHz.Value()/1e6, float64(36557620-3726508)/6/10e3; math.Abs(got-want) > 0.02 {
		t.Errorf("true clock rate %.3f MHz, want %.3f", got, want)
	}
	for _, i := range []int{1, 3, 7} {
		if trace.Gaps[i].Cause == TimerTick {
			t.Errorf("I%d is put down to the timer", i)
		}
	}
}

// Figure 9.5 and practice problem 9.2: the process was active for 53.0 % of 89.8 ms. Timer
// interrupts came at 358.93 ms and every 10 ms (5,471,860 cycles) after that: five begin a gap, and
// four fell into time when the other process ran.
func TestFigure95(t *testing.T) {
	trace := figure(t, "9.5", 548.1)
	a := Analyse(trace)
	if len(trace.Gaps) != 8 || math.Abs(a.ActiveRatio.Value()-0.530) > 0.0005 || math.Abs(trace.Ns(trace.Length)/1e6-89.8) > 0.05 {
		t.Errorf("%d gaps in %.2f ms, active %.4f", len(trace.Gaps), trace.Ns(trace.Length)/1e6, a.ActiveRatio.Value())
	}
	if a.Tick == nil {
		t.Fatalf("no timer tick among %+v", a.Combs)
	}
	if got, want := labels(a.Tick.Gaps, 48), []string{"I48", "I50", "I52", "I53", "I55"}; !slices.Equal(got, want) {
		t.Errorf("begun by a timer interrupt: %v, want %v", got, want)
	}
	if a.Tick.Hidden != 4 {
		t.Errorf("%d interrupts while the process was inactive, want 4: one each in I50, I52, I53 and I55", a.Tick.Hidden)
	}
}

// Writing a trace as a list and reading it gives the same trace.
func TestListRoundTrip(t *testing.T) {
	trace := figure(t, "9.3", 549.9)
	var b strings.Builder
	if err := WriteList(&b, trace); err != nil {
		t.Fatal(err)
	}
	again, err := ReadList(strings.NewReader(b.String()), trace.TickNs)
	if err != nil || again.Length != trace.Length || !slices.Equal(again.Gaps, trace.Gaps) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestReadListRefusesWhatIsNone(t *testing.T) {
	for _, text := range []string{
		"nonsense\n",
		"A0 Time 0 (0 ms), Duration 5 (0 ms)\nI0 Time 6 (0 ms), Duration 1 (0 ms)\n",
		"A0 Time 99999999999999999999 (0 ms), Duration 5 (0 ms)\n",
		"A0 Time -1 (0 ms), Duration 5 (0 ms)\n",
	} {
		if trace, err := ReadList(strings.NewReader(text), 1); err == nil {
			t.Errorf("%q is read as %+v", text, trace)
		}
	}
}

// Practice problem 9.7: with segments of 50 ms, work of t ms runs undisturbed with probability 1 -
// t/50; three such runs take 5 trials at t = 20 and 15 at 40.
func TestExpectedTrials(t *testing.T) {
	segments := []float64{50e6, 50e6, 50e6}
	for _, c := range []struct{ ms, probability, trials float64 }{
		{20, 0.6, 5}, {40, 0.2, 15}, {0, 1, 3}, {50, 0, math.Inf(1)}, {60, 0, math.Inf(1)},
	} {
		r := &room{lengthsNs: []float64{c.ms * 1e6}, roomNs: make([]float64, 1)}
		for _, s := range segments {
			r.add(s)
		}
		p, n := r.trials(0)
		if math.Abs(p-c.probability) > 1e-12 || (n != c.trials && math.Abs(n-c.trials) > 1e-9) {
			t.Errorf("%v ms: %v, %v; want %v, %v", c.ms, p, n, c.probability, c.trials)
		}
	}
}

func FuzzReadList(f *testing.F) {
	f.Add("A0\tTime\t0\t(0.00 ms),\tDuration\t3726508\t(6.776448 ms)\nI0\tTime\t3726508\t(6.78 ms),\tDuration\t275025\t(0.500118 ms)\n")
	f.Add("I0 Time 5 (x), Duration 0 (y) preempted\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadList(strings.NewReader(text), 1)
		if err != nil {
			return
		}
		if trace.Inactive() > trace.Length || trace.Inactive() < 0 {
			t.Fatalf("inactive for %d of %d ticks", trace.Inactive(), trace.Length)
		}
		Analyse(trace)
	})
}
