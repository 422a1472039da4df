package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]value{
		"0": {0, 0}, "1234": {1234, 0}, "-5": {-5, 0}, "+7": {7, 0},
		"9223372036854775807": {math.MaxInt64, 0}, "1763719000123456789.5": {1763719000123456789, 0.5},
		"1.25": {1, 0.25}, "-0.25": {-1, 0.75}, "-2": {-2, 0}, ".5": {0, 0.5}, "3.": {3, 0},
		"2.5e-1": {0, 0.25}, "1e3": {1000, 0}, "1E3": {1000, 0}, "-0.0": {0, 0},
	} {
		if got, err := parseValue(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "x", "NaN", "inf", "-Inf", "0x10", "1_000", "1,5", "--1", "1e999", "9223372036854775808", "1e300", "١",
		"1.2.3", "1e", "e5", ".", "-", strings.Repeat("1", longestValue+1), "1 2",
	} {
		if got, err := parseValue(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// Differences of readings are kept, whatever the readings' size, unit and number of digits.
func TestScaleKeepsDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unitNs := rapid.SampledFrom([]float64{0.4, 1, 100, 1e3, 1e6, 1e9}).Draw(t, "unit")
		digits := rapid.IntRange(0, 6).Draw(t, "digits")
		base := rapid.Int64Range(-1e15, 2e18).Draw(t, "base")
		steps := rapid.SliceOfN(rapid.Int64Range(0, 1e6), 2, 20).Draw(t, "steps")
		var readings []value
		var units []float64
		sum, grain := int64(0), int64(math.Pow10(digits))
		for _, s := range steps {
			sum += s
			v, err := parseValue(fmt.Sprintf("%d.%0*d", base+sum/grain, digits+1, 10*(sum%grain)))
			if base+sum/grain < 0 {
				return // for negative values the fraction has the other sign, and the text would be wrong
			}
			if err != nil {
				t.Fatal(err)
			}
			readings, units = append(readings, v), append(units, float64(sum)/float64(grain))
		}
		s := newScale(readings, unitNs)
		first, err := s.reading(readings[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range readings {
			got, err := s.reading(r)
			off := float64(got-first)*s.tickNs(unitNs) - (units[i]-units[0])*unitNs
			// Each reading may be off by what counts as the rounding of floating-point numbers.
			if most := 2.1 * math.Max(finestTickNs, rounding*s.tickNs(unitNs)); err != nil || math.Abs(off) > most {
				t.Fatalf("reading %d is off by %g ns, %v", i, off, err)
			}
		}
	})
}

// The coarsest decimal tick of which all readings are multiples is found, even if the readings contain
// rounding errors of floating-point numbers. If there is none, the tick is the finest.
func TestScaleOfFractions(t *testing.T) {
	ms := func(ns ...float64) (all []value) {
		for _, x := range ns {
			v, err := parseValue(fmt.Sprintf("%.17g", 26000+x/1e6-25000))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	for _, c := range []struct {
		readings []value
		unitNs   float64
		tickNs   float64
	}{
		{[]value{{5, 0}, {5, 0}, {9, 0}}, 1, 1},
		{[]value{{5, 0.5}, {5, 0}, {9, 0}}, 1, 0.1},
		{ms(0, 40, 81, 131, 140070), 1e6, 1},                     // performance.now
		{[]value{{0, 0}, {0, 0x1p-22}, {0, 0x3p-22}}, 1e9, 1e-3}, // time.time
	} {
		if got := newScale(c.readings, c.unitNs).tickNs(c.unitNs); math.Abs(got/c.tickNs-1) > 1e-9 {
			t.Errorf("%v in %g ns: a tick of %g ns, want %g", c.readings, c.unitNs, got, c.tickNs)
		}
	}
}

// A timer of seconds that moves by tenths may show the same whole second in all its first readings. Its
// later readings keep their fractions.
func TestScaleOfConstantReadings(t *testing.T) {
	s := newScale([]value{{12, 0}, {12, 0}, {12, 0}}, 1e9)
	before, err1 := s.reading(value{12, 0})
	after, err2 := s.reading(value{12, 0.4})
	if ns := float64(after-before) * s.tickNs(1e9); err1 != nil || err2 != nil || math.Abs(ns-0.4e9) > 1 {
		t.Errorf("%v ns, %v, %v; want 0.4 s", ns, err1, err2)
	}
}

func TestReadingsTooFarApart(t *testing.T) {
	for _, s := range []scale{{1, 0}, {1, math.MinInt64}, {1, math.MaxInt64}, {1e12, 0}} {
		for _, whole := range []int64{math.MinInt64, math.MaxInt64} {
			if whole == s.base {
				continue
			}
			if got, err := s.reading(value{whole, 0.5}); err == nil {
				t.Errorf("%d on %+v is %d", whole, s, got)
			}
		}
	}
}

const goodHello = `{"protocol":1,"runtime":"r","version":"1","timers":[{"name":"a","kind":"wall","unit_ns":1},{"name":"b","kind":"cpu","unit_ns":0.5,"api":"b()"}]}`

func TestHello(t *testing.T) {
	h, err := parseHello(goodHello)
	if err != nil || len(h.Timers) != 2 || h.Timers[0].Scope != "machine" || h.Timers[1].Scope != "process" ||
		h.Timers[0].CountsSuspend != "unknown" || h.Timers[0].API != "a" || h.Timers[1].API != "b()" {
		t.Errorf("%+v, %v", h, err)
	}
	for name, change := range map[string][2]string{
		"no JSON":              {"{", "hello {"},
		"a list":               {goodHello, "[1]"},
		"another protocol":     {`"protocol":1`, `"protocol":2`},
		"no runtime":           {`"r"`, `""`},
		"slash in a runtime":   {`"r"`, `"a/b"`},
		"escape in version":    {`"version":"1"`, `"version":"\u001b[31m"`},
		"C1 escape in version": {`"version":"1"`, `"version":"\u009b31m"`},
		"turned text":          {`"api":"b()"`, `"api":"\u202eb()"`},
		"no timers":            {`[{"name":"a","kind":"wall","unit_ns":1},{"name":"b","kind":"cpu","unit_ns":0.5,"api":"b()"}]`, `[]`},
		"blank in a name":      {`"name":"a"`, `"name":"a b"`},
		"newline in a name":    {`"name":"a"`, `"name":"a\nquit"`},
		"empty name":           {`"name":"a"`, `"name":""`},
		"long name":            {`"name":"a"`, `"name":"` + strings.Repeat("a", longestName+1) + `"`},
		"name taken":           {`"name":"a"`, `"name":"b"`},
		"reserved name":        {`"name":"a"`, `"name":"none"`},
		"unknown kind":         {`"wall"`, `"sun"`},
		"unknown scope":        {`"api":"b()"`, `"scope":"galaxy"`},
		"unknown suspend":      {`"api":"b()"`, `"counts_suspend":"perhaps"`},
		"no unit":              {`"unit_ns":1}`, `"unit_ns":0}`},
		"negative unit":        {`"unit_ns":1}`, `"unit_ns":-1}`},
		"huge unit":            {`"unit_ns":1}`, `"unit_ns":1e300}`},
		"text for a unit":      {`"unit_ns":1}`, `"unit_ns":"ns"}`},
		"something behind it":  {goodHello, goodHello + " {}"},
	} {
		changed := strings.Replace(goodHello, change[0], change[1], 1)
		if changed == goodHello {
			t.Errorf("%s: nothing was changed", name)
		}
		if h, err := parseHello(changed); err == nil {
			t.Errorf("%s: taken for %+v", name, h)
		}
	}
	many, _ := json.Marshal(map[string]any{"protocol": 1, "runtime": "r", "timers": make([]Description, mostTimers+1)})
	if _, err := parseHello(string(many)); err == nil {
		t.Error("too many timers are taken")
	}
}

// Whatever a probe answers, the answer is refused, or has the requested number of values, each of which
// can be converted to ticks or gives an error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"1 2 3", "1,2 3,4", "0.5,2e-7 -3,1e3", "9223372036854775807,1 -9223372036854775808,2", ",,, ,", "\xff\x00", "1e308 -1e308"} {
		f.Add(seed, 2, 2, 1.0)
	}
	f.Fuzz(func(t *testing.T, answer string, words, perWord int, unitNs float64) {
		words, perWord = 1+(words%100+100)%100, 1+(perWord%2+2)%2
		if !(unitNs >= leastUnitNs && unitNs <= mostUnitNs) {
			unitNs = 1
		}
		values, err := parseAnswer(answer, words, perWord)
		if err != nil {
			return
		}
		if len(values) != words*perWord {
			t.Fatalf("%d values of %d", len(values), words*perWord)
		}
		s := newScale(values, unitNs)
		for _, v := range values {
			if v.fraction < 0 || v.fraction >= 1 {
				t.Fatalf("a fraction of %g", v.fraction)
			}
			for _, ticks := range []inTicks{s.reading, s.duration} {
				if x, err := ticks(v); err == nil && (x > 1<<62 || x < -1<<62) {
					t.Fatalf("%v makes %d ticks, whose differences overflow", v, x)
				}
			}
			thread(v, 4)
		}
	})
}

// Whatever a probe's hello contains, it is refused or within the limits.
func FuzzHello(f *testing.F) {
	f.Add(goodHello)
	f.Add(`{"protocol":1,"runtime":"r","timers":[{"name":"a","kind":"wall","unit_ns":1e-6,"scope":"thread","calendar":true}]}`)
	f.Fuzz(func(t *testing.T, answer string) {
		h, err := parseHello(answer)
		if err != nil {
			return
		}
		for _, d := range h.Timers {
			if strings.ContainsAny(d.Name, " \n\t\r") || d.Name == "" || !(d.UnitNs > 0) || math.IsInf(d.UnitNs, 0) || d.Scope == "" || d.API == "" {
				t.Fatalf("%+v", d)
			}
		}
	})
}

// Whatever a probe writes, a line is never longer than the limit.
func FuzzLine(f *testing.F) {
	f.Add("one\ntwo\r\nthree", 4)
	f.Add(strings.Repeat("x", 5000), 20)
	f.Fuzz(func(t *testing.T, stream string, most int) {
		most = (most%1000 + 1000) % 1000
		r := bufio.NewReaderSize(strings.NewReader(stream), 16)
		for read := 0; ; {
			line, err := readLine(r, most)
			if len(line) > most+2 || strings.Contains(line, "\n") && err == nil {
				t.Fatalf("%d bytes in a line of %d at most: %q", len(line), most, line)
			}
			if read += len(line) + 1; err != nil || read > len(stream)+1 {
				return
			}
		}
	})
}
