package stats

import (
	"fmt"
	"math"
)

// Verdict says how far a result can be trusted.
type Verdict string

// The verdicts, from best to worst.
const (
	Trusted  Verdict = "trusted"  // nothing speaks against the result
	Suspect  Verdict = "suspect"  // usable with the reasons in mind
	Unusable Verdict = "unusable" // not to be used
)

// Half the width of a 95 % interval, as a share of its value: beyond WideShare a result is suspect,
// unless a wider interval was asked for, and beyond UselessShare it is unusable.
const WideShare, UselessShare = 0.05, 0.25

// WidthVerdict is the verdict that the width of the interval alone allows. asked is the relative
// half-width that was asked for, 0 where none was.
func (e Estimate) WidthVerdict(asked float64) Verdict {
	switch width := e.RelativeHalfWidth(); {
	case !(width <= UselessShare): // also where there is no interval
		return Unusable
	case width > math.Max(WideShare, asked):
		return Suspect
	}
	return Trusted
}

// rank orders verdicts from best to worst.
func (v Verdict) rank() int {
	switch v {
	case Trusted:
		return 0
	case Suspect:
		return 1
	}
	return 2
}

// WorseThan reports whether v is a worse verdict than other.
func (v Verdict) WorseThan(other Verdict) bool { return v.rank() > other.rank() }

// Judgement is a verdict with its reasons. The zero value is not a judgement;
// start from [NewJudgement].
type Judgement struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"` // empty, never nil, when trusted
}

// NewJudgement is the judgement of a result that nothing speaks against yet.
func NewJudgement() Judgement { return Judgement{Verdict: Trusted, Reasons: []string{}} }

// Lower adds a reason, and lowers the verdict to v where it was better.
func (j *Judgement) Lower(v Verdict, format string, args ...any) {
	if v == Trusted {
		panic("stats: a reason that leaves the verdict at trusted is a caveat, not a reason")
	}
	if v.WorseThan(j.Verdict) {
		j.Verdict = v
	}
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
}

// JudgeWidth lowers the verdict where the interval of e is too wide, and says what narrows it.
func (j *Judgement) JudgeWidth(e Estimate, asked float64, remedy string) {
	switch v := e.WidthVerdict(asked); {
	case v == Trusted:
	case math.IsNaN(e.RelativeHalfWidth()):
		j.Lower(v, "it has no interval: %s", remedy)
	default:
		j.Lower(v, "the interval is ± %.2g %% wide: %s", 100*e.RelativeHalfWidth(), remedy)
	}
}

// Join adds the reasons of other, and its verdict where that is worse.
func (j *Judgement) Join(other Judgement) {
	if other.Verdict.WorseThan(j.Verdict) {
		j.Verdict = other.Verdict
	}
	j.Reasons = append(j.Reasons, other.Reasons...)
}
