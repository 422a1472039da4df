package stats

import (
	"fmt"
	"math"
)

// Verdict says how far a result can be trusted.
type Verdict string

// The verdicts, from best to worst.
const (
	Trusted  Verdict = "trusted"  // there is no reason against the result
	Suspect  Verdict = "suspect"  // usable with the reasons in mind
	Unusable Verdict = "unusable" // not to be used
)

// If half the width of a 95 % interval exceeds the share WideShare of its value, a result is suspect,
// unless a wider interval was asked for. If it exceeds UselessShare, the result is unusable.
const WideShare, UselessShare = 0.05, 0.25

// WidthVerdict returns the best verdict that the width of the interval allows. asked is the relative
// half-width that was asked for, 0 if none was.
func (e Estimate) WidthVerdict(asked float64) Verdict {
	switch width := e.RelativeHalfWidth(); {
	case !(width <= UselessShare): // also true if there is no interval
		return Unusable
	case width > math.Max(WideShare, asked):
		return Suspect
	}
	return Trusted
}

// rank returns the place of a verdict in the order from best to worst.
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

// Judgement is a verdict with its reasons. The zero value is not a judgement; use [NewJudgement].
type Judgement struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"` // empty, never nil, when trusted
}

// NewJudgement returns a trusted judgement without reasons.
func NewJudgement() Judgement { return Judgement{Verdict: Trusted, Reasons: []string{}} }

// Lower adds a reason, and lowers the verdict to v if it was better.
func (j *Judgement) Lower(v Verdict, format string, args ...any) {
	if v == Trusted {
		panic("stats: a reason that leaves the verdict at trusted is a caveat, not a reason")
	}
	if v.WorseThan(j.Verdict) {
		j.Verdict = v
	}
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
}

// JudgeWidth lowers the verdict if the interval of e is too wide, and says what would narrow it.
func (j *Judgement) JudgeWidth(e Estimate, asked float64, remedy string) {
	switch v := e.WidthVerdict(asked); {
	case v == Trusted:
	case math.IsNaN(e.RelativeHalfWidth()):
		j.Lower(v, "it has no interval: %s", remedy)
	default:
		j.Lower(v, "the interval is ± %s wide: %s", Share(e.RelativeHalfWidth()), remedy)
	}
}

// Join adds the reasons of other, and takes its verdict if that is worse.
func (j *Judgement) Join(other Judgement) {
	if other.Verdict.WorseThan(j.Verdict) {
		j.Verdict = other.Verdict
	}
	j.Reasons = append(j.Reasons, other.Reasons...)
}
