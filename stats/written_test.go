package stats

import (
	"fmt"
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		ns     float64
		digits int
		want   string
	}{
		{0, 3, "0 ns"}, {1.5, 3, "1.50 ns"}, {999.4, 3, "999 ns"}, {999.6, 3, "1.00 µs"}, {-2500, 3, "-2.50 µs"},
		{1.23456e6, 4, "1.235 ms"}, {999987, 3, "1.00 ms"}, {-999.99e6, 3, "-1.00 s"}, {42e9, 3, "42.0 s"}, {7199e9, 3, "7199 s"}, {3 * 3600e9, 2, "3.0 hours"},
		{49 * 3600e9, 2, "2.0 days"}, {225 * 365.25 * 86400e9, 3, "225 years"}, {math.NaN(), 3, "?"}, {math.Inf(1), 3, "?"},
	} {
		if got := Duration(c.ns, c.digits); got != c.want {
			t.Errorf("%v with %d digits: %q, want %q", c.ns, c.digits, got, c.want)
		}
	}
}

func TestShareAndPercent(t *testing.T) {
	for share, want := range map[float64][2]string{
		0: {"0", "0.0 %"}, 1: {"100 %", "100.0 %"}, 0.0123: {"1.2 %", "1.2 %"}, 0.00005: {"50 ppm", "0.0 %"},
		8.996: {"900 %", "900 %"}, -0.00005: {"-50 ppm", "-0.0 %"}, math.NaN(): {"?", "?"},
	} {
		if got := [2]string{Share(share), Percent(share)}; got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

// A value and its interval are shown in one unit, with two digits of the uncertainty. The interval was
// once "(0 to 36013349)" next to a value in milliseconds, and once "1.23 ms (991.02 to 1481.0)".
func TestValueAndIntervalInOneUnit(t *testing.T) {
	for _, c := range []struct {
		lo, value, hi    float64
		error, writtenAs string
	}{
		{10.746e6, 10.79e6, 11.167e6, "10.79 ms -0.04 +0.38 ms", "10.75 to 11.17 ms"},
		{0, 20e6, 36013349, "20 ms ± 18 ms", "0.00 to 36.01 ms"},
		{991020, 1.23e6, 1481000, "1.23 ms ± 0.24 ms", "0.991 to 1.481 ms"},
		{6.13e5, 8.5e5, 1.104e6, "850 µs ± 246 µs", "613 to 1104 µs"},
		{98.4491e6, 98.4512e6, 98.4533e6, "98.4512 ms ± 0.0021 ms", "98.4491 to 98.4533 ms"},
		{5, 5, 5, "5.000 ns", "5.000 to 5.000 ns"},
		{math.NaN(), 5, math.NaN(), "5.000 ns", "?"},
		{math.NaN(), math.NaN(), math.NaN(), "?", "?"},
		{-1, 0, 2000, "0 ns", "-0.001 to 2.000 µs"},
		{383.2e3, 468e3, 1074.1e3, "468 µs -85 +606 µs", "383 to 1074 µs"},
	} {
		e := Estimate{Lo: c.lo, Value: c.value, Hi: c.hi}
		if got := e.TimeWithError(); got != c.error {
			t.Errorf("%v: %q, want %q", e, got, c.error)
		}
		if got := e.Range(); got != c.writtenAs {
			t.Errorf("%v: %q, want %q", e, got, c.writtenAs)
		}
	}
}

// A unit that the user asked for holds for every form of a time, with the digits that are known.
func TestTimesInAChosenUnit(t *testing.T) {
	e := Estimate{Value: 10.79e6, Lo: 10.58e6, Hi: 11.0e6, N: 100, Unit: "ns"}
	tails := TailsOf([]float64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6})
	for _, c := range []struct{ got, want string }{
		{Second.Duration(1234567, 3), "0.00123 s"},
		{Microsecond.Duration(1234567, 3), "1235 µs"},
		{Millisecond.Duration(1234567, 3), "1.23 ms"},
		{TimeUnit{}.Duration(1234567, 3), "1.23 ms"},
		{Second.Duration(math.NaN(), 3), "?"},
		{Second.Time(e), "0.01079 s"},
		{Second.TimeWithError(e), "0.01079 s ± 0.00021 s"},
		{Microsecond.TimeWithError(e), "10790 µs ± 210 µs"},
		{Second.Range(e), "0.01058 to 0.01100 s"},
		{Microsecond.Range(e), "10580 to 11000 µs"},
		{tails.In(Second), "p50 0.0040 s (0.001000 to 0.007000 s), worst 0.00700 s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	if got := Count(1, "run") + ", " + Count(0, "run"); got != "1 run, 0 runs" {
		t.Error(got)
	}
}

func TestTimeWithError(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		value, lo, hi float64
		want          string
	}{
		{51.3549e6, 51.303e6, 51.407e6, "51.355 ms ± 0.052 ms"},
		{985e6, 984e6, 986e6, "985.0 ms ± 1.0 ms"},
		{1.5e9, 1.4e9, 1.55e9, "1.500 s -0.100 +0.050 s"}, // it was once "± 0.075 s", although the interval is not symmetric
		{1.5e9, 1.43e9, 1.58e9, "1.500 s ± 0.075 s"},
		{452e3, 400e3, 470e3, "452 µs -52 +18 µs"},
		{100, 0, 300, "100 ns -100 +200 ns"},
		{2e6, 2e6, 2e6, "2.000 ms"},
		{2e6, nan, nan, "2.000 ms"},
		{nan, nan, nan, "?"},
		{123456789.4, 123456789.3, 123456789.5, "123.4568 ms ± 0.0000 ms"}, // seven digits at most
	} {
		if got := (Estimate{Value: c.value, Lo: c.lo, Hi: c.hi}).TimeWithError(); got != c.want {
			t.Errorf("%v from %v to %v: %q, want %q", c.value, c.lo, c.hi, got, c.want)
		}
	}
}

// An Estimate is printed in words; once it was printed as {3172.2500000000005 3031.88 ...}.
func TestEstimateIsPrintedInWords(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		estimate Estimate
		want     string
	}{
		{Estimate{3172.2500000000005, 3031.88, 3310.5, "ns", "mean", 200000, 0}, "3.17 µs (3.032 to 3.311 µs), mean of 200000"},
		{Estimate{Value: 2596130166, Lo: 2596130100, Hi: 2596130200, Unit: "Hz", Statistic: "slope", N: 40}, "2596130166 Hz (2596130100 to 2596130200 Hz), slope of 40"},
		{Estimate{Value: 1.25, Lo: 1.2, Hi: 1.3, Statistic: "ratio", N: 12}, "1.250 (1.200 to 1.300), ratio of 12"},
		{Estimate{Value: 1500, Lo: nan, Hi: nan, Unit: "ns", Statistic: "median", N: 1}, "1.500 µs, median of 1"},
		{Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ns"}, "?"},
	} {
		if got := fmt.Sprint(c.estimate); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
