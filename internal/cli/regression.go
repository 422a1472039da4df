package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"chronoscope/program"
	"chronoscope/stats"
	"chronoscope/view"
)

// regressionError says that something became slower than allowed: exit status 3.
type regressionError struct{ text string }

func (e *regressionError) Error() string { return e.text }

// maxRegression is the usual name of the flag that limits regressions; some commands have another
// name for it.
const maxRegression = "max-regression"

// allowedRegression returns the share that a flag allows, 0 or more; NaN if the flag is not given.
// A number such as 5 without a percent sign is an error, since it would be a limit of 500 %.
func allowedRegression(flag, text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	share, err := parseShare(text)
	switch {
	case err != nil || share < 0:
		return 0, usagef("%s: invalid value %q: give a share of 0 or more, such as 5%%", flag, text)
	case share >= 1 && !strings.Contains(text, "%"):
		return 0, usagef("%s: %s is %g %%: write %[2]s%% for %[2]s percent, or %g%%", flag, strings.TrimSpace(text), 100*share, 100*share)
	}
	return share, nil
}

// parseShare reads 5% or 0.05.
func parseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		share /= 100
	}
	if err == nil && (math.IsNaN(share) || math.IsInf(share, 0)) {
		err = errors.New("not finite")
	}
	return share, err
}

// precisionOf returns the half-width that --precision requests.
func precisionOf(text string) (float64, error) {
	share, err := parseShare(text)
	if err != nil || share <= 0 || share >= 1 {
		return 0, usagef("--precision: invalid value %q: give a share above 0 and below 100%%, such as 1%%", text)
	}
	return share, nil
}

// A rival is something that may not be slower, or worse, than something else by more than a share.
type rival struct {
	// ratio is the rival's time over the other's: above 1 it is slower.
	ratio stats.Estimate
	// joint bounds the ratio together with those of all rivals. Its lower end is NaN if the
	// comparison can't show that anything is slower.
	joint stats.Joint
	// slower says that the rival is slower beyond chance, if this comparison is judged alone;
	// undecided that the comparison is undecided; optional that it may be undecided if another
	// comparison is decided; missing that it was not measured.
	slower, undecided, optional, missing bool
	// side says on which side of the limit the ratio is, if a suite was judged as a whole, and limit is that limit, as a
	// share: each metric may have its own.
	side  stats.Side
	limit stats.Float
	// name names the rival, finding says how much slower it is, question asks whether it is, and
	// why says why that is undecided.
	name, finding, question, why string
	// undecidedWhy says why a comparison that was made is undecided.
	undecidedWhy string
}

// isWithoutRatio reports whether the rival is worse, and one of the two figures is 0.
func (r rival) isWithoutRatio() bool { return r.slower && !stats.IsFinite(r.ratio.Value) }

// unanswered returns a rival without any result.
func unanswered(question, why string) rival {
	return rival{ratio: stats.Estimate{Hi: math.NaN()}, joint: stats.Joint{Lo: math.NaN()}, undecided: true, missing: true, name: question, question: question, why: why}
}

// rivalsOf returns the rivals in pairs that were measured together.
func rivalsOf(pairs []stats.Pair) (all []rival) {
	for _, p := range pairs {
		name, slower, measure := p.B, "slower", fmt.Sprintf("%s takes %.4g times as long as %s", p.B, p.Ratio.Value, p.A)
		if p.Metric != "" {
			name, slower = p.Metric+" of "+p.B, "worse"
			measure = fmt.Sprintf("%s is worse than %s by a factor of %.4g", name, p.A, p.Ratio.Value)
			if !stats.IsFinite(p.Ratio.Value) {
				measure = fmt.Sprintf("%s is worse than %s, and there is no ratio, since too many values are 0", name, p.A)
			}
		}
		why := ""
		switch {
		case p.Zeros > 0 && !stats.IsFinite(p.Ratio.Hi):
			why = "too many values are 0 to bound the ratio: look at both values"
		case p.Zeros > 0 && p.Ratio.Lo <= 1 && p.Joint != nil && !p.Joint.Hi.Known():
			why = "too many values are 0 to bound the ratio at each look: look at both values, or measure for longer (--max-time)"
		}
		all = append(all, rival{
			ratio: p.Ratio, joint: jointOf(p), why: why, slower: p.Outcome == stats.Slower, undecided: p.Outcome == stats.Undecided,
			finding: measure,
			side:    p.Side(), limit: p.Limit(), name: name, question: fmt.Sprintf("%s is %s than %s", name, slower, p.A), undecidedWhy: p.Why,
		})
	}
	return all
}

// worseRival returns the rival of a figure whose ratio to another one is known. better is the direction in which the figure
// improves: the rival's ratio is above 1 where it is worse. canBeWorse says whether the comparison, which is one of several,
// may show that. The caller says what was found, and what is slower or undecided.
func worseRival(quantity, name, better string, ratio stats.Estimate, comparisons int, canBeWorse bool) rival {
	if better == view.Higher {
		ratio.Value, ratio.Lo, ratio.Hi = 1/ratio.Value, 1/ratio.Hi, 1/ratio.Lo
	}
	r := rival{ratio: ratio, joint: stats.Joint{Lo: math.NaN()}, name: quantity + " of " + name}
	if canBeWorse {
		r.joint = stats.JointOf(ratio, comparisons)
	}
	return r
}

// jointOf returns the bounds of a pair's ratio together with those of all pairs.
func jointOf(p stats.Pair) stats.Joint {
	j := stats.Joint{Lo: math.NaN(), Hi: math.NaN()}
	if p.Joint == nil {
		return j
	}
	j.FalseAlarms, j.Comparisons, j.Lo = p.Joint.FalseAlarms, p.Joint.Comparisons, p.Joint.Lo.Value()
	return j
}

// gateRule is the rule that a flag, usually --max-regression, sets for comparisons.
type gateRule struct {
	allowed     float64 // a share; NaN allows everything
	flag, given string
	// undecidedPasses says that an undecided comparison leads to a warning, not an error.
	undecidedPasses bool
}

// A gateVerdict is the result of applying a rule to comparisons.
type gateVerdict struct {
	rule gateRule
	// slower are the rivals that exceed the limit, at the false-alarm rate of the whole suite;
	// missing those that were not measured; and undecided those that may exceed it or not.
	slower, missing, undecided []rival
	compared, told             int
}

// gate applies a rule to comparisons. A regression is a ratio whose joint interval lies completely
// above the limit, or whose side is above it, if the suite was judged as a whole. If nothing got
// slower, the probability of any regression is at most [stats.FalseAlarms], or what the user chose,
// however many comparisons there are. A comparison is undecided if, judged alone, the rival is
// slower or may be, unless even the upper end of its own interval is allowed. A slower rival counts as told from chance
// even if it is undecided, unless its own interval lies above what is allowed. A slower rival without a ratio stays
// undecided even if it is optional.
func gate(all []rival, rule gateRule) gateVerdict {
	v := gateVerdict{rule: rule, compared: len(all)}
	limit := 1 + rule.allowed
	for _, r := range all {
		isOpen := (r.undecided || r.slower) && !(r.ratio.Hi <= limit) // also without a ratio
		isBeyond := r.joint.Lo > limit
		if r.side != "" {
			isOpen, isBeyond = r.side == stats.Open, r.side == stats.Beyond
		}
		if !isOpen || r.slower && !(r.ratio.Lo > limit) {
			v.told++
		}
		switch {
		case isBeyond:
			v.slower = append(v.slower, r)
		case !isOpen || r.optional && !r.isWithoutRatio():
		case r.missing:
			v.missing = append(v.missing, r)
		default:
			v.undecided = append(v.undecided, r)
		}
	}
	return v
}

// err returns the error with which the command ends.
func (v gateVerdict) err() error {
	flag := v.rule.flag
	untold := v.missing
	if !v.rule.undecidedPasses {
		untold = append(slices.Clip(untold), v.undecided...)
	}
	switch {
	case math.IsNaN(v.rule.allowed):
		return nil
	case v.compared == 0:
		return fmt.Errorf("%s: nothing stands in both that could be held against it: measure the same on both sides", flag)
	case len(v.slower) > 0:
		return &regressionError{fmt.Sprintf("%s: more than %s %s allows", findings(v.slower), flag, v.rule.given)}
	case len(untold) > 0:
		others := ""
		if len(untold) > 1 {
			others = fmt.Sprintf(" (nor of %s)", listed(namesOf(untold[1:])))
		}
		return fmt.Errorf("%s: %s can't be told: %s%s", flag, untold[0].untold(), untold[0].unknown(v.rule.allowed), others)
	case v.told == 0 && !v.rule.undecidedPasses:
		return fmt.Errorf("%s: none of %d figures in both can be told from chance, and so nothing was held against the limit", flag, v.compared)
	}
	return nil
}

// mostListed is the largest number of comparisons that a warning names one by one.
const mostListed = 5

// listed returns the names, the first few of them one by one.
func listed(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		names = append(slices.Clone(names[:mostListed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// warning names the undecided comparisons that pass; empty if there are none.
func (v gateVerdict) warning() string {
	if math.IsNaN(v.rule.allowed) || !v.rule.undecidedPasses || len(v.undecided) == 0 {
		return ""
	}
	of := ""
	if len(v.undecided) > 1 {
		of = "of the first, "
	}
	return fmt.Sprintf("%s %s: %d of %d comparisons pass undecided: %s: %s%s (--undecided fail ends with 1 instead)",
		v.rule.flag, v.rule.given, len(v.undecided), v.compared, listed(namesOf(v.undecided)), of, v.undecided[0].unknown(v.rule.allowed))
}

func namesOf(rivals []rival) (names []string) {
	for _, r := range rivals {
		names = append(names, r.name)
	}
	return names
}

// findings says, for each comparison that exceeds the limit, how much slower its subject is, with the lower
// bound of the ratio.
func findings(slower []rival) string {
	var all []string
	for _, r := range slower {
		if r.isWithoutRatio() {
			all = append(all, r.finding)
			continue
		}
		bound := fmt.Sprintf("%s (at least %.4g times", r.finding, r.joint.Lo)
		if r.joint.Comparisons > 1 {
			bound += fmt.Sprintf(": the lower ends of all %d comparisons hold at once at %.3g %%", r.joint.Comparisons, 100*(1-r.joint.FalseAlarms))
		}
		all = append(all, bound+")")
	}
	return strings.Join(all, "; ")
}

// untold says what can't be told.
func (r rival) untold() string {
	if r.isWithoutRatio() {
		return r.question + ", and whether by more than the limit"
	}
	return "whether " + r.question
}

// unknown says why it is undecided on which side of the limit the ratio lies. allowed is the limit of rivals that have
// none of their own.
func (r rival) unknown(allowed float64) string {
	switch {
	case r.isWithoutRatio() && r.why == "":
		return "one of the two values is 0, so there is no ratio: look at both values"
	case r.why != "":
		return r.why
	case math.IsNaN(r.ratio.Hi) && r.undecidedWhy == program.BelowZero:
		return r.undecidedWhy
	case math.IsNaN(r.ratio.Hi) && r.undecidedWhy != "":
		return r.undecidedWhy + ": see the reasons of both"
	case math.IsNaN(r.ratio.Hi):
		return "the ratio has no interval, as the runs of one or both are too few or unusable: see their reasons"
	case r.ratio.Lo > 1+r.limit.Or(allowed):
		return fmt.Sprintf("by itself it is beyond the limit (a ratio of %.4g to %.4g), but too few pairs were measured to rule out a false alarm: measure for longer (--max-time)", r.ratio.Lo, r.ratio.Hi)
	case r.ratio.Hi <= 1+r.limit.Or(allowed):
		return fmt.Sprintf("by itself it is within the limit (a ratio of %.4g to %.4g), but too few pairs were measured to be sure: measure for longer (--max-time)", r.ratio.Lo, r.ratio.Hi)
	}
	return fmt.Sprintf("the interval of the ratio is %.4g to %.4g; measure for longer (--max-time), or on a calmer machine", r.ratio.Lo, r.ratio.Hi)
}
