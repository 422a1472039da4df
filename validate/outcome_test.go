package validate

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

const ms = time.Millisecond

// made returns an outcome with the error err, whose interval contains the truth if covered is set.
func made(scheme string, load int, d time.Duration, err float64, covered bool) Outcome {
	o := Outcome{Scheme: scheme, Work: Chain, Regime: Regime{Load: load}, DurationNs: d.Nanoseconds(), Error: stats.FloatOf(err), Covered: &covered, Judgement: stats.NewJudgement()}
	o.Estimate = stats.Estimate{Value: 100, Lo: 100 - 10*float64(load), Hi: 100 + 10*float64(load)}
	return o
}

func of(k Kind, o Outcome) Outcome {
	o.Kind = k
	return o
}

func unusable(scheme string, load int, d time.Duration) Outcome {
	o := made(scheme, load, d, math.NaN(), false)
	o.Covered = nil
	o.Lower(stats.Unusable, "nothing")
	return o
}

func TestCoverage(t *testing.T) {
	silent := made(TestingB, 1, ms, 0.2, false)
	silent.Covered = nil
	silent.Estimate.Lo, silent.Estimate.Hi, silent.NoTruth = nan, nan, true
	nobodyKnows := made("a", 1, 5*ms, 3, false)
	nobodyKnows.Covered, nobodyKnows.NoTruth = nil, true
	uncounted := made("b", 1, ms, 0, false) // comes first, but its scheme does not
	uncounted.Covered = nil
	got := CoverageOf([]Outcome{
		uncounted, made("a", 1, ms, 0, true), made("a", 2, ms, 0, true), made("b", 1, ms, 0, false),
		made("a", 1, 2*ms, 0, false), unusable("a", 1, 3*ms), made("a", 1, 4*ms, 0, true), silent, nobodyKnows, unusable("c", 1, ms),
		of(Sleep, made("a", 1, ms, 0.3, false)), of(Server, made("a", 1, ms, 0, true)),
	})
	tenth, fifth, alone := stats.FloatOf(0.1), stats.FloatOf(0.2), Regime{1, NoNeighbours}
	want := []Coverage{
		{"a", alone, Compute, 3, 2, 1, 1, tenth}, {"a", Regime{2, Loops}, Compute, 1, 1, 0, 0, fifth}, {"b", alone, Compute, 1, 0, 0, 0, tenth},
		{"c", alone, Compute, 0, 0, 1, 0, stats.Float{}}, {"a", alone, Sleep, 1, 0, 0, 0, tenth}, {"a", alone, Server, 1, 1, 0, 0, tenth},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestReach(t *testing.T) {
	nobodyKnows := made("times", 1, 100*ms, 0, false) // within the reach of 10 ms to 1 s, which must not bridge it
	nobodyKnows.NoTruth = true
	unknown := made("left out", 1, ms, 0, false)
	unknown.NoTruth = true
	all := []Outcome{
		// These errors are typical of interval counting, which is too coarse for short work.
		made("times", 1, 1*ms, -1, true), made("times", 1, 10*ms, 0.2, true), made("times", 1, 50*ms, -0.09, true), made("times", 1, 1000*ms, 0.004, true),
		// These errors are typical of the source's K-best, which fails for work longer than a time
		// slice. Cells come in any order, and the work with the greatest error counts.
		made("k", 11, 30*ms, 9, false), made("k", 11, 1*ms, 0.0005, true), made("k", 11, 1*ms, 0.02, true), made("k", 11, 3*ms, 0.0009, true),
		nobodyKnows, unknown, made("none", 1, 1*ms, 0.5, true), unusable("none", 1, 2*ms),
		// Two series of durations are equally long.
		made("twice", 1, 1*ms, 0.01, true), made("twice", 1, 2*ms, 0.3, true), made("twice", 1, 3*ms, -0.01, true),
		// Each kind has a separate reach.
		of(Sleep, made("k", 11, 1*ms, 0.09, true)),
	}
	want := map[string][2]float64{
		"times 1 0.1": {1000, 1000}, "times 1 0.01": {1000, 1000}, "times 1 0.001": {0, 0},
		"k 11 0.1": {1, 3}, "k 11 0.01": {3, 3}, "k 11 0.001": {3, 3},
		"none 1 0.1": {0, 0}, "none 1 0.01": {0, 0}, "none 1 0.001": {0, 0},
		"k 11 0.1 sleep": {1, 1}, "k 11 0.01 sleep": {0, 0}, "k 11 0.001 sleep": {0, 0},
		"twice 1 0.1": {3, 3}, "twice 1 0.01": {3, 3}, "twice 1 0.001": {0, 0},
	}
	rows := ReachOf(all)
	if len(rows) != len(want) {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		w := want[strings.TrimSpace(strings.Join([]string{r.Scheme, format(r.Load), format(r.Tolerance), string(r.Kind)}, " "))]
		if r.MinDurationNs.Or(0) != w[0]*1e6 || r.MaxDurationNs.Or(0) != w[1]*1e6 {
			t.Errorf("%s at load %d within %v: %v to %v, want %v ms", r.Scheme, r.Load, r.Tolerance, r.MinDurationNs.Or(0), r.MaxDurationNs.Or(0), w)
		}
	}
}

func TestOutcome(t *testing.T) {
	truth := stats.Estimate{Value: 100, Lo: 99, Hi: 101}
	claim := func(value, lo, hi float64) Answer {
		return Answer{Estimate: stats.Estimate{Value: value, Lo: lo, Hi: hi}, Judgement: stats.NewJudgement()}
	}
	claims, silent := Scheme{Name: "a", Claims: true}, Scheme{Name: "b"}
	for _, c := range []struct {
		scheme  Scheme
		answer  Answer
		error   float64
		covered any
	}{
		{claims, claim(102, 101, 103), 0.02, true},
		{claims, claim(102, 101.1, 103), 0.02, false},
		{claims, claim(90, 80, 98.9), -0.1, false},
		{claims, claim(90, 80, 99), -0.1, true},
		{claims, claim(98, 97, 98.9), -0.02, false},
		{silent, claim(90, 80, 99), -0.1, nil},
		{claims, claim(90, nan, nan), -0.1, nil},
	} {
		o := newOutcome(c.scheme, Cell{}, truth, c.answer, nil)
		var covered any
		if o.Covered != nil {
			covered = *o.Covered
		}
		if !(math.Abs(o.Error.Value()-c.error) <= 1e-12) || covered != c.covered || o.Verdict != stats.Trusted {
			t.Errorf("%+v: %+v, covered %v", c.answer.Estimate, o, covered)
		}
	}
	if o := newOutcome(claims, Cell{}, truth, claim(100, 99, 101), []string{"a competitor ended"}); o.Verdict != stats.Trusted || !slices.Equal(o.Marks, []string{"a competitor ended"}) || o.Covered != nil || !o.NoTruth {
		t.Errorf("a marked cell: %+v", o.Judgement)
	}
	// A wide truth must not hide errors: a truth known to ± 5 % once hid an error of 4 %.
	if o := newOutcome(claims, Cell{}, stats.Estimate{Value: 100, Lo: 95, Hi: 105}, claim(104, 103, 105), nil); *o.Covered {
		t.Errorf("103 to 105 holds 100: %+v", o)
	}
	if o := newOutcome(claims, Cell{}, truth, missing("no clock"), nil); o.Verdict != stats.Unusable || o.Error.Known() || o.Covered != nil {
		t.Errorf("no answer: %+v", o)
	}
}

// The source's example: 35.98 ms and 35.89 ms of Figure 9.11 are among the fastest three within 1
// %. Here K-best has to take five samples until the fastest agree.
func TestKBestByHand(t *testing.T) {
	s := &Stream{Cell: Cell{Regime: Regime{Load: 1}}, Empty: Frame{WallNs: 10}}
	for _, wall := range []float64{2010, 1030, 1010.5, 1011, 1010.9, 500} {
		s.Samples = append(s.Samples, Sample{WallNs: wall})
	}
	a := kBest(3, byCounter, false)(s)
	if a.Estimate.Value != 1000.5 || a.Estimate.Hi != 1001 || a.Estimate.Lo != 1000 || a.Estimate.Discarded != 2 || a.Verdict != stats.Trusted {
		t.Errorf("%+v", a)
	}
	if a := kBest(5, byCounter, false)(s); a.Estimate.Value != 490 || a.Verdict != stats.Suspect {
		t.Errorf("K = 5: %+v", a)
	}
	if a := kBest(7, byCounter, false)(s); a.Verdict != stats.Unusable {
		t.Errorf("K = 7 of 6: %+v", a)
	}
	if a := kBest(1, byGettimeofday, false)(s); a.Verdict != stats.Unusable {
		t.Errorf("no gettimeofday: %+v", a)
	}
}

// The expected value is computed by hand: next to the shortest sample a round took 10 ns, so that
// 100 rounds and the start take 1,050 ns, whatever the other samples show.
func TestCompensationByHand(t *testing.T) {
	lost := []float64{300, 80, 500}
	s := &Stream{Cell: Cell{Work: Traced, Regime: Regime{Load: 1}, Duration: 1000}, Rounds: 100, Fit: Fit{StartNs: 50}, Expected: stats.Estimate{Value: 1300}}
	for i, wall := range []float64{1600, 1150, 1700} {
		s.Samples = append(s.Samples, Sample{WallNs: wall, LostNs: stats.FloatOf(lost[i]), BeforeNs: 13, AfterNs: 13})
	}
	s.Samples[1].BeforeNs, s.Samples[1].AfterNs = 9, 11
	s.KBest.Estimate.Value = 1365
	s.Losses = Losses{WatchedNs: 1e6}
	for i := range 1000 { // 60 ns are lost in each microsecond
		s.Losses.All = append(s.Losses.All, Loss{1e3*float64(i) + 500, 60 * float64(i+1)})
	}
	around := Losses{WatchedNs: 1e6} // just before and after the shortest sample 70 ns are lost
	for i := range 1000 {
		around.All = append(around.All, Loss{1e3*float64(i) + 500, 70 * float64(i+1)})
	}
	s.Samples[1].Around = &around
	all := CompensationOf([]*Stream{s})
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	own := 0.05
	want := Compensation{DurationNs: 1000, ErrorNs: 100, LostNs: 80, RemovedNs: 70, Residual: 30.0 / 1050}
	got := all[0]
	if !(math.Abs(got.OwnResidual.Value()-own) <= 1e-12) {
		t.Errorf("kbest is off by %v", got.OwnResidual)
	}
	if got.OwnResidual = (stats.Float{}); got != want {
		t.Errorf("%+v", got)
	}
	s.Load = 2
	if all := CompensationOf([]*Stream{s}); len(all) > 0 {
		t.Errorf("beside a competitor: %+v", all)
	}
}
