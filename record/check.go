package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"chronoscope/bytecode/analysis"
	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// mostText is the greatest length of a text, which is enough for a command line.
const mostText = 1 << 20

// checkDocument returns an error if a document contains impossible or misleading values.
func checkDocument(d Document) error {
	if err := d.Head().check(); err != nil {
		return err
	}
	if err := checkValue("", reflect.ValueOf(d)); err != nil {
		return err
	}
	return checkReferences(d)
}

// check returns an error if a header contains impossible or misleading values.
func (h Header) check() error {
	if h.Machine == nil {
		return malformed("it has no machine")
	}
	if h.Started.IsZero() {
		return malformed("it has no time at which it was started")
	}
	return checkValue("", reflect.ValueOf(h))
}

// checkReferences checks values that name or number something else in the document.
func checkReferences(d Document) error {
	switch d := d.(type) {
	case Card:
		return checkBest(d.Ranking)
	case Clocks:
		return checkBest(d.Ranking)
	case Programs:
		for _, p := range d.Results {
			for _, o := range p.Outliers {
				if o.Run < 0 || o.Run >= len(p.Runs) {
					return malformed("results: an outlier of %.40q is run %d, and there are %d", p.Command, o.Run, len(p.Runs))
				}
			}
		}
	case Validation:
		for _, r := range d.Reach {
			if r.MinDurationNs.Known() != r.MaxDurationNs.Known() {
				return malformed("reach: that of %.40q at load %d has one end", r.Scheme, r.Load)
			}
		}
	case Comparison:
		return d.checkSubjects()
	case History:
		return d.CheckPlaces()
	}
	return nil
}

// checkBest checks that the best clocks are among the ranked ones.
func checkBest(r timermeter.Ranking) error {
	for _, name := range []*string{r.Best.Wall, r.Best.CPU, r.Best.Timestamp, r.Best.Counter} {
		if name != nil && !slices.ContainsFunc(r.Clocks, func(c timermeter.Rating) bool { return c.Name == *name }) {
			return malformed("best: %.40q is not among the clocks", *name)
		}
	}
	return nil
}

// signed are the names of integers that may be negative; all others are counts, or numbers of CPUs.
var signed = []string{"exit_code", "perf_event_paranoid", "counter_ticks", "start_ticks", "duration_ticks"}

// spans are the names of times that are lengths, and so can't be negative. Times with other names
// are differences of two measured times, or their bounds.
var spans = strings.Fields(`
	duration_ns wall_ns user_ns system_ns unit_ns threshold_ns period_ns
	total_ns tick_ns elapsed_ns length_ns from_ns to_ns watched_ns requested_ns event_ns epsilon_ns tsc_hz core_hz`)

// shares are the names of numbers that lie between 0 and 1.
var shares = []string{"spread", "quality", "active_ratio", "probability", "unpreempted_probability", "p_value"}

// checkValue checks a value and everything in it. name is the name of its field.
func checkValue(name string, v reflect.Value) error {
	if checked, err := checkTyped(name, v); checked {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkValue(name, v.Elem())
		}
	case reflect.Struct:
		return checkFields(v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkValue(name, v.Index(i)); err != nil {
				return within(fmt.Sprintf("[%d]", i), err)
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if err := checkValue(name, value); err != nil {
				return within(fmt.Sprintf(".%.40s", key), err)
			}
		}
	case reflect.String:
		if v.Len() > mostText {
			return malformed("a text of %d bytes, as no record has", v.Len())
		}
	default:
		return checkNumber(name, v)
	}
	return nil
}

// within adds a place to an error; callers add places from the inside out.
func within(place string, err error) error {
	if bad, ok := err.(*MalformedError); ok {
		bad.Where = place + bad.Where
	}
	return err
}

// checkTyped checks values whose type determines what is valid. checked says that the value needs
// no further check.
func checkTyped(name string, v reflect.Value) (checked bool, err error) {
	switch x := v.Interface().(type) {
	case stats.Float:
		return true, checkFloat(name, x.Value())
	case stats.Estimate:
		return true, checkEstimate(x)
	case stats.Verdict:
		return true, checkWord(x, stats.Trusted, stats.Suspect, stats.Unusable)
	case clock.Kind:
		return true, checkWord(x, clock.KindWall, clock.KindCPU, clock.KindCounter)
	case machine.Severity:
		return true, checkWord(x, machine.OK, machine.Note, machine.Warning)
	case analysis.Summary: // a time of compiled code may be negative, after the overhead is subtracted
		return true, nil
	case time.Time:
		return true, nil
	}
	return false, nil
}

func checkEstimate(e stats.Estimate) error {
	switch {
	case e.Lo > e.Hi:
		return malformed("an interval from %g to %g", e.Lo, e.Hi)
	case e.N < 0 || e.Discarded < 0:
		return malformed("an estimate from %d samples, with %d left out", e.N, e.Discarded)
	}
	return nil
}

func checkWord[T ~string](x T, allowed ...T) error {
	if !slices.Contains(allowed, x) {
		return malformed("%.40q is none of %q", string(x), allowed)
	}
	return nil
}

// checkFields checks the fields that appear in JSON.
func checkFields(v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if err := checkValue(name, v.Field(i)); err != nil {
			if name != "" { // an embedded struct has no name of its own
				err = within("."+name, err)
			}
			return err
		}
	}
	return nil
}

// checkNumber checks that a number is in the range that its name implies.
func checkNumber(name string, v reflect.Value) error {
	switch {
	case v.CanInt():
		if v.Int() < 0 && !slices.Contains(signed, name) {
			return malformed("%d is negative", v.Int())
		}
	case v.CanFloat():
		return checkFloat(name, v.Float())
	}
	return nil
}

// checkFloat checks a number that may be missing, which is NaN, as checkNumber does.
func checkFloat(name string, x float64) error {
	switch {
	case x < 0 && slices.Contains(spans, name):
		return malformed("%g is negative", x)
	case (x < 0 || x > 1) && slices.Contains(shares, name):
		return malformed("%g is no share from 0 to 1", x)
	}
	return nil
}
