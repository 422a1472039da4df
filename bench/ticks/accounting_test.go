package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// readTimeline reads the timeline of Figures 9.2 and 9.7, whose letters stand for
// thirds of the 10 ms interval, and the ticks at its ends.
func readTimeline(t *testing.T, name string) (spans []Span, ticksNs []float64) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/papers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	thirds := 0.0
	at := func() float64 { return thirds * 10e6 / 3 } // exact at the ends of intervals
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, interval := range strings.Fields(line) {
			for _, third := range interval {
				s := Span{Process: strings.ToUpper(string(third)), System: strings.ContainsRune("AB", third), StartNs: at()}
				thirds++
				s.EndNs = at()
				spans = append(spans, s)
			}
			ticksNs = append(ticksNs, at())
		}
	}
	return spans, ticksNs
}

// Figures 9.2 and 9.7 and their text: A is charged 110 + 40 ms where it used
// 120.0 + 33.3, and B 70 + 30 ms where it used 73.3 + 23.3.
func TestFigure97(t *testing.T) {
	spans, ticksNs := readTimeline(t, "bryant2003-figure9.7.txt")
	accounts, err := Charge(spans, ticksNs, 10e6)
	if err != nil {
		t.Fatal(err)
	}
	for process, want := range map[string]struct{ charged, used CPUTime }{
		"A": {CPUTime{UserNs: 110e6, SystemNs: 40e6}, CPUTime{UserNs: 120e6, SystemNs: 33.3e6}},
		"B": {CPUTime{UserNs: 70e6, SystemNs: 30e6}, CPUTime{UserNs: 73.3e6, SystemNs: 23.3e6}},
	} {
		a := accounts[process]
		if a.Charged() != want.charged || math.Abs(a.Used.UserNs-want.used.UserNs) > 0.05e6 || math.Abs(a.Used.SystemNs-want.used.SystemNs) > 0.05e6 {
			t.Errorf("%s: charged %v, used %v; want %+v", process, a.Charged(), a.Used, want)
		}
		checkBounds(t, process, a)
	}
}

// checkBounds checks that the time really used is within what the ticks imply.
func checkBounds(t interface{ Errorf(string, ...any) }, process string, a Account) {
	above, below := a.Bounds()
	if used := a.Used.SumNs(); used < above || used == above && above > 0 || used >= below && a.Segments > 0 {
		t.Errorf("%s used %v ns in %d segments, out of (%v, %v) as %d ticks imply", process, used, a.Segments, above, below, a.Ticks())
	}
}

// Practice problem 9.3 on a timeline of our own, whose figure is lost: ticks at
// 10, 20 ... 80 ms find Au, As, Bu, Bu, nobody, Bs, Au and Au.
func TestChargeByHand(t *testing.T) {
	ms := func(process string, system bool, from, to float64) Span {
		return Span{process, system, from * 1e6, to * 1e6}
	}
	spans := []Span{
		ms("A", false, 0, 14), ms("A", true, 14, 22), // a tick at the very start of a span belongs to the one before
		ms("B", true, 22, 24), ms("B", false, 24, 40), // ... and at the very end to the one that ends
		ms("B", true, 52, 60), ms("A", false, 60, 85),
	}
	got, err := Charge(spans, []float64{10e6, 20e6, 30e6, 40e6, 50e6, 60e6, 70e6, 80e6}, 10e6)
	want := map[string]Account{
		"A": {IntervalNs: 10e6, UserTicks: 3, SystemTicks: 1, Segments: 2, Used: CPUTime{UserNs: 39e6, SystemNs: 8e6}},
		"B": {IntervalNs: 10e6, UserTicks: 2, SystemTicks: 1, Segments: 2, Used: CPUTime{UserNs: 16e6, SystemNs: 10e6}},
		"":  {IntervalNs: 10e6, UserTicks: 1},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

func TestChargeRefusesSpansOutOfOrder(t *testing.T) {
	nan := math.NaN()
	for _, spans := range [][]Span{
		{{"A", false, 0, 10}, {"B", false, 9, 12}},
		{{"A", false, 10, 9}},
		{{"A", false, nan, 9}}, {{"A", false, 0, nan}},
	} {
		if a, err := Charge(spans, []float64{5}, 10); err == nil {
			t.Errorf("%v: %v", spans, a)
		}
	}
}

// No narrower bounds hold: for each count of ticks and segments there is a
// timeline as near to either as one likes.
func TestTimeBoundsAreTight(t *testing.T) {
	const interval, little = 1000.0, 1.0
	for segments := 1; segments <= 4; segments++ {
		for n := segments; n <= 9; n++ {
			var long, short []Span
			var ticks []float64
			for i := range 40 {
				ticks = append(ticks, float64(i)*interval)
			}
			tick := 1.0
			for s := range segments {
				m := float64(n / segments)
				if s < n%segments {
					m++
				}
				long = append(long, Span{"A", false, tick*interval + little, (tick+m+1)*interval - little})
				short = append(short, Span{"A", false, tick*interval - little, (tick + m - 1) * interval})
				tick += m + 1
			}
			for _, spans := range [][]Span{long, short} {
				accounts, err := Charge(spans, ticks, interval)
				if err != nil {
					t.Fatal(err)
				}
				a := accounts["A"]
				above, below := a.Bounds()
				if used := a.Used.SumNs(); a.Ticks() != n || a.Segments != segments || math.Min(used-above, below-used) > 2*little*float64(segments) {
					t.Errorf("%d ticks in %d segments: used %v of (%v, %v)", a.Ticks(), a.Segments, used, above, below)
				}
			}
		}
	}
}

// On any timeline each tick is charged once, to whom a look at every span
// finds; and the time used is within the bounds, in all and in each mode.
func TestChargeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := float64(rapid.IntRange(1, 1000).Draw(t, "interval"))
		spans := rapidSpans(t)
		end := 0.0
		if len(spans) > 0 {
			end = spans[len(spans)-1].EndNs
		}
		var ticks []float64
		for at := float64(rapid.IntRange(0, int(interval)-1).Draw(t, "phase")); at <= end+interval; at += interval {
			ticks = append(ticks, at)
		}
		accounts, err := Charge(spans, ticks, interval)
		if err != nil {
			t.Fatal(err)
		}
		charged := 0
		for process, a := range accounts {
			charged += a.Ticks()
			if user, system := chargedByHand(spans, ticks, process); a.UserTicks != user || a.SystemTicks != system {
				t.Errorf("%q is charged %d + %d ticks, want %d + %d", process, a.UserTicks, a.SystemTicks, user, system)
			}
			if process != "" {
				checkBounds(t, process, a)
			}
		}
		if charged != len(ticks) {
			t.Errorf("%d ticks charged, of %d", charged, len(ticks))
		}
		for _, s := range spans { // a mode is accounted for like a process
			alone, err := Charge([]Span{s}, ticks, interval)
			if err != nil {
				t.Fatal(err)
			}
			checkBounds(t, "a single span", alone[s.Process])
		}
	})
}

// rapidSpans draws a timeline of three processes, with idle time here and there.
func rapidSpans(t *rapid.T) []Span {
	var spans []Span
	at := 0.0
	for range rapid.IntRange(0, 30).Draw(t, "spans") {
		if rapid.IntRange(0, 4).Draw(t, "idle") == 0 {
			at += float64(rapid.IntRange(0, 1500).Draw(t, "idle time"))
		}
		s := Span{Process: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "process"), System: rapid.Bool().Draw(t, "system"), StartNs: at}
		at += float64(rapid.IntRange(1, 3000).Draw(t, "time"))
		s.EndNs = at
		spans = append(spans, s)
	}
	return spans
}

// chargedByHand counts the ticks that fall behind the start of a span of the
// process and up to its end, or of "" into none.
func chargedByHand(spans []Span, ticks []float64, process string) (user, system int) {
	for _, at := range ticks {
		i := slices.IndexFunc(spans, func(s Span) bool { return s.StartNs < at && at <= s.EndNs })
		switch {
		case i < 0 && process == "", i >= 0 && spans[i].Process == process && !spans[i].System:
			user++
		case i >= 0 && spans[i].Process == process:
			system++
		}
	}
	return user, system
}
