package stats_test

import (
	"encoding/json"
	"math"
	"testing"

	"chronoscope/stats"

	"github.com/google/go-cmp/cmp"
)

var verdicts = []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable} // best first

func TestVerdictsAreOrdered(t *testing.T) {
	for i, v := range verdicts {
		for j, other := range verdicts {
			if v.WorseThan(other) != (i > j) {
				t.Errorf("%s worse than %s: %v", v, other, v.WorseThan(other))
			}
		}
	}
}

// An interval beyond 5 % is suspect, unless a wider one was asked for, and one beyond 25 % is unusable.
func TestJudgeWidth(t *testing.T) {
	for _, c := range []struct {
		value, half, asked float64
		want               stats.Verdict
	}{
		{100, 4.9, 0.01, stats.Trusted}, {100, 5.1, 0.01, stats.Suspect}, {-100, 5.1, 0, stats.Suspect}, {100, 9, 0.1, stats.Trusted},
		{100, 24.9, 0, stats.Suspect}, {100, 25.1, 0, stats.Unusable}, {100, 101, 0.5, stats.Unusable}, {0, 1, 0, stats.Unusable}, {100, math.NaN(), 0, stats.Unusable},
	} {
		j := stats.NewJudgement()
		j.JudgeWidth(stats.Estimate{Value: c.value, Lo: c.value - c.half, Hi: c.value + c.half}, c.asked, "more time")
		if j.Verdict != c.want || (len(j.Reasons) == 1) != (c.want != stats.Trusted) {
			t.Errorf("%g ± %g, asked %g: %s %q, want %s", c.value, c.half, c.asked, j.Verdict, j.Reasons, c.want)
		}
	}
}

// It said "the interval is ± 9.8e+02 % wide".
func TestWidthIsWrittenInDigits(t *testing.T) {
	j := stats.NewJudgement()
	j.JudgeWidth(stats.Estimate{Value: 1, Lo: -8.8, Hi: 10.8}, 0.01, "more time")
	if want := "the interval is ± 980 % wide: more time"; len(j.Reasons) != 1 || j.Reasons[0] != want {
		t.Errorf("%q, want %q", j.Reasons, want)
	}
}

// An unknown or empty verdict, for example from a document, must not count as a good one.
func TestUnknownVerdictIsAsBadAsUnusable(t *testing.T) {
	for _, v := range []stats.Verdict{"", "splendid", "Trusted"} {
		if !v.WorseThan(stats.Suspect) || v.WorseThan(stats.Unusable) || stats.Unusable.WorseThan(v) {
			t.Errorf("%q ranks elsewhere", v)
		}
	}
}

func TestLowerNeverRaises(t *testing.T) {
	j := stats.NewJudgement()
	for _, step := range []struct {
		to, want stats.Verdict
	}{{stats.Suspect, stats.Suspect}, {stats.Unusable, stats.Unusable}, {stats.Suspect, stats.Unusable}} {
		j.Lower(step.to, "%d %% of the samples", len(j.Reasons)+1)
		if j.Verdict != step.want {
			t.Errorf("lowered to %s the verdict is %s, want %s", step.to, j.Verdict, step.want)
		}
	}
	want := []string{"1 % of the samples", "2 % of the samples", "3 % of the samples"}
	if diff := cmp.Diff(want, j.Reasons); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLowerToTrustedIsAMistake(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a trusted result was given a reason")
		}
	}()
	j := stats.NewJudgement()
	j.Lower(stats.Trusted, "all is well")
}

func TestJoinTakesTheWorse(t *testing.T) {
	for i, v := range verdicts {
		for k, other := range verdicts {
			j := judgement(v, "mine")
			j.Join(judgement(other, "theirs"))
			if want := verdicts[max(i, k)]; j.Verdict != want {
				t.Errorf("%s joined with %s is %s, want %s", v, other, j.Verdict, want)
			}
			want := append(judgement(v, "mine").Reasons, judgement(other, "theirs").Reasons...)
			if diff := cmp.Diff(want, j.Reasons); diff != "" {
				t.Errorf("%s with %s: (-want +got)\n%s", v, other, diff)
			}
		}
	}
}

// judgement returns a judgement with the verdict v, and with the reason if v is not trusted.
func judgement(v stats.Verdict, reason string) stats.Judgement {
	j := stats.NewJudgement()
	if v != stats.Trusted {
		j.Lower(v, "%s", reason)
	}
	return j
}

func TestJudgementInJSON(t *testing.T) {
	for want, j := range map[string]stats.Judgement{
		`{"verdict":"trusted","reasons":[]}`:               stats.NewJudgement(),
		`{"verdict":"suspect","reasons":["one CPU only"]}`: judgement(stats.Suspect, "one CPU only"),
	} {
		got, err := json.Marshal(j)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// Join must not write into the reasons of a judgement that shares memory.
func TestJoinLeavesTheOtherAlone(t *testing.T) {
	other := judgement(stats.Suspect, "theirs")
	j := judgement(stats.Unusable, "mine")
	j.Join(other)
	j.Lower(stats.Suspect, "one more")
	if diff := cmp.Diff(judgement(stats.Suspect, "theirs"), other); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
