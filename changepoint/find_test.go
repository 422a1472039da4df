package changepoint

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"chronoscope/clock/clocktest"
)

// simulatedCase is a kind of series. Its noise has the standard deviation 1.
type simulatedCase struct {
	Name string
	draw func(r *rand.Rand) simulated
}

const simulatedPoints = 200

// flat returns series without a step; the following functions return series with one step, with a
// step that is reverted, and with a ramp.
func flat(kind string) simulatedCase {
	return simulatedCase{"flat, " + kind, func(r *rand.Rand) simulated { return simulate(r, simulatedPoints, kind, nil) }}
}

func stepped(size float64, kind string) simulatedCase {
	return simulatedCase{fmt.Sprintf("step of %g, %s", size, kind), func(r *rand.Rand) simulated {
		return simulate(r, simulatedPoints, kind, map[int]float64{15 + r.IntN(simulatedPoints-30): size * float64(1-2*r.IntN(2))})
	}}
}

func mended(size float64) simulatedCase {
	return simulatedCase{fmt.Sprintf("step of %g, mended after 15 to 30", size), func(r *rand.Rand) simulated {
		at := 15 + r.IntN(simulatedPoints-60)
		return simulate(r, simulatedPoints, "white", map[int]float64{at: size, at + 15 + r.IntN(15): -size})
	}}
}

// ramp returns series that rise over 40 points. Any change within these points counts as found.
func ramp(size float64) simulatedCase {
	const length = 40
	return simulatedCase{fmt.Sprintf("ramp of %g over %d", size, length), func(r *rand.Rand) simulated {
		s := simulate(r, simulatedPoints, "white", nil)
		at := 30 + r.IntN(simulatedPoints-60-length)
		for i := range s.points {
			s.points[i].Value += size * math.Max(0, math.Min(1, float64(i-at)/length))
		}
		s.steps = map[int]float64{at + length/2: size}
		s.reach = length/2 + near
		return s
	}}
}

func simulatedCases() (all []simulatedCase) {
	for _, kind := range noiseKinds {
		all = append(all, flat(kind))
	}
	for size := 1.0; size <= 5; size++ {
		all = append(all, stepped(size, "white"))
	}
	for _, kind := range noiseKinds[1:] {
		all = append(all, stepped(2, kind), stepped(5, kind))
	}
	return append(all, mended(2), mended(3), ramp(3), ramp(5))
}

// tallied evaluates the given number of series of a case on all CPUs.
func (c simulatedCase) tallied(series int) tally {
	tallies := make([]tally, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for w := range tallies {
		wait.Go(func() {
			for i := w; i < series; i += len(tallies) {
				s := c.draw(rand.New(rand.NewPCG(uint64(i), 7)))
				tallies[w].countFound(s, Find(s.points, FalseChanges))
			}
		})
	}
	wait.Wait()
	total := tallies[0]
	for _, t := range tallies[1:] {
		total.add(t)
	}
	return total
}

// TestSimulatedTable prints the table of docs/history.md: CHANGEPOINT_SERIES=3000 go test -run SimulatedTable -v -timeout 2h
func TestSimulatedTable(t *testing.T) {
	series, _ := strconv.Atoi(os.Getenv("CHANGEPOINT_SERIES"))
	if series == 0 {
		t.Skip("takes an hour: CHANGEPOINT_SERIES says how many flat series of each kind, and four times as many as others")
	}
	for _, c := range simulatedCases() {
		n := series
		if c.Name[:4] != "flat" {
			n /= 4
		}
		got := c.tallied(n)
		fmt.Printf("%-36s series %d, with a false change %d; found %s, at the commit %s; size covered %s, place covered %s; half width %.2f\n",
			c.Name, got.series, got.seriesWrong, share(got.found, got.steps), share(got.exact, got.steps), share(got.covered, got.sizes), share(got.placesCovered, got.sizes), got.width/math.Max(1, float64(got.sizes)))
	}
}

func share(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}

// TestDump writes the series for bench/history/beside_otava.py: CHANGEPOINT_DUMP=series.json go test -run Dump
func TestDump(t *testing.T) {
	file := os.Getenv("CHANGEPOINT_DUMP")
	if file == "" {
		t.Skip("CHANGEPOINT_DUMP names the file")
	}
	type dumped struct {
		Case   string          `json:"case"`
		Values []float64       `json:"values"`
		Steps  map[int]float64 `json:"steps"`
		Reach  int             `json:"reach"`
		Found  []int           `json:"found"`
	}
	all := []dumped{}
	for _, c := range simulatedCases() {
		for i := range 100 {
			s := c.draw(rand.New(rand.NewPCG(uint64(i), 7)))
			d := dumped{Case: c.Name, Steps: s.steps, Reach: s.within(), Found: []int{}}
			for _, p := range s.points {
				d.Values = append(d.Values, 100+p.Value)
			}
			for _, change := range Find(s.points, FalseChanges).Changes {
				d.Found = append(d.Found, change.At)
			}
			all = append(all, d)
		}
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A step of two standard deviations is found within three commits, and a flat series has no change. A
// method that finds 96 of 100 steps, and makes one false change in 10,000 series, passes the bounds
// nearly always.
func TestFindSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	series := clocktest.Cases(t, 100)
	for _, kind := range noiseKinds {
		if got := flat(kind).tallied(series); 100*got.seriesWrong > max(100, series) {
			t.Errorf("flat, %s: %d of %d series have a change", kind, got.seriesWrong, series)
		}
	}
	for _, want := range []struct {
		simulatedCase
		found, covered int
	}{{stepped(2, "white"), 90, 89}, {stepped(3, "white"), 98, 89}, {stepped(5, "ar0.6"), 95, 86}, {stepped(3, "unequal intervals"), 95, 89}, {stepped(5, "outliers"), 97, 89}} {
		got := want.tallied(series)
		if 100*got.found < want.found*series {
			t.Errorf("%s: %d of %d found within %d commits, want %d in 100", want.Name, got.found, series, near, want.found)
		}
		if 100*got.covered < want.covered*got.sizes {
			t.Errorf("%s: %d of %d sizes are covered, want %d in 100", want.Name, got.covered, got.sizes, want.covered)
		}
	}
}

func TestFindExact(t *testing.T) {
	constant := make([]Point, 60)
	for i := range constant {
		constant[i].Value = 5
		if i >= 25 {
			constant[i].Value = 6
		}
	}
	r := Find(constant, FalseChanges)
	if len(r.Changes) != 1 || r.Changes[0].At != 25 || math.Abs(r.Changes[0].Shift.Value-1) > 1e-9 {
		t.Errorf("a count that goes from 5 to 6 at 25: %+v", r.Changes)
	}
	for n := range FewestPoints {
		if got := Find(constant[:n], FalseChanges); len(got.Changes) != 0 || n > 0 && len(got.Regimes) != 1 {
			t.Errorf("%d points: %+v", n, got)
		}
	}
	// Intervals that are wider than the differences between points hide nothing, because all points
	// then have the same weight.
	for i := range constant {
		constant[i].Value += float64(i*7%5) / 500
		constant[i].StandardError = 0.02
	}
	r = Find(constant, FalseChanges)
	if len(r.Changes) != 1 || r.Changes[0].At != 25 || math.Abs(r.Noise.EquivalentPoints-60) > 1e-6 {
		t.Errorf("wide intervals: %+v", r)
	}
	same := make([]Point, 100)
	if got := Find(same, FalseChanges); len(got.Changes) != 0 || got.Regimes[0].Level != 0 {
		t.Errorf("zeros: %+v", got)
	}
}

// The series are published together with the changes that other tools find in them: Apache Otava's
// demonstration (its tests/tigerbeetle_test.py; with its usual settings it finds 15, 61, 71, 95, 117,
// 131, 192 and 212), and the long series of MongoDB's signal-processing-algorithms
// (tests/data/long_series.json; its test expects four changes).
func TestFindPublic(t *testing.T) {
	for _, c := range []struct {
		file string
		want []int
	}{
		{"tigerbeetle", []int{15, 61, 71, 95, 131, 192, 212}},
		{"mongodb_long_series", []int{205, 395, 594, 794}},
	} {
		text, err := os.ReadFile("testdata/" + c.file + ".json")
		var values []float64
		if err == nil {
			err = json.Unmarshal(text, &values)
		}
		if err != nil {
			t.Fatal(err)
		}
		points := make([]Point, len(values))
		for i, v := range values {
			points[i].Value = v
		}
		var got []int
		for _, change := range Find(points, FalseChanges).Changes {
			got = append(got, change.At)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: changes at %d, want %d", c.file, got, c.want)
		}
	}
}

// A series of more than mostPlaces points is first searched with a coarser grid; the place that is
// found is exact nevertheless.
func TestFindLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const at = 3001
	s := simulate(rand.New(rand.NewPCG(3, 3)), 5000, "white", map[int]float64{at: 4})
	r := Find(s.points, FalseChanges)
	if len(r.Changes) != 1 || abs(r.Changes[0].At-at) > 1 {
		t.Errorf("%+v, want a change at %d", r.Changes, at)
	}
}

func TestLimit(t *testing.T) {
	// This is the example of Benjamini and Hochberg (1995), section 3.2: of these 15 P values, at a
	// share of 5 %, the four least are kept.
	values := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	var all []Result
	for _, p := range values {
		all = append(all, Result{Changes: []Change{{PValue: p}}})
	}
	if got := Limit(all, 0.05); got != FalseChanges {
		t.Errorf("%g, want no more than %g", got, FalseChanges)
	}
	one := append([]Result{{Changes: []Change{{PValue: 5e-5}}}}, make([]Result, 999)...)
	if got := Limit(one, 0.01); got != 0 {
		t.Errorf("one change of 5e-5 in 1,000 series: limit %g, want 0: at most 1e-5 is allowed", got)
	}
	// One series has 5 changes, and 9 have none: these are 14 tests. Counted as 10, they allowed 1e-4 * 5/10 = 5e-5.
	several := append([]Result{{Changes: make([]Change, 5)}}, make([]Result, 9)...)
	for _, c := range []struct{ pValue, want float64 }{{3.5e-5, 3.5e-5}, {3.7e-5, 0}} {
		for i := range several[0].Changes {
			several[0].Changes[i].PValue = c.pValue
		}
		if got := Limit(several, 1e-4); got != c.want {
			t.Errorf("5 changes of %g among 14 tests: limit %g, want %g: at most 1e-4 * 5/14 = 3.57e-5 is allowed", c.pValue, got, c.want)
		}
	}
}

// The tip's interval covers the size of a step that begins with the newest point. If nothing changed,
// it rarely excludes 0.
func TestTip(t *testing.T) {
	const series = 300
	for _, kind := range []string{"white", "ar0.4", "unequal intervals"} {
		covered, alarms := 0, 0
		for i := range series {
			s := simulate(rand.New(rand.NewPCG(uint64(i), 9)), 60, kind, map[int]float64{58: 4})
			if tip, ok := TipOf(s.points[:59], 1); !ok || tip.Shift.Covers(4) {
				covered++
			}
			if tip, ok := TipOf(s.points[:58], 1); ok && tip.PValue < 0.01 {
				alarms++
			}
		}
		if covered < 276 || alarms > 12 {
			t.Errorf("%s: %d of %d covered, %d with P < 0.01", kind, covered, series, alarms)
		}
	}
	if _, ok := TipOf(make([]Point, FewestBefore), 1); ok {
		t.Error("three points before the newest are a regime")
	}
}

// The variance of the mean of the newest points is the sum of a part that averages out and one that lasts. Taken as the
// greater of both, it was a quarter of the variance where it is seven sixteenths.
func TestVarianceOfNewest(t *testing.T) {
	for _, c := range []struct {
		noise          Noise
		points         []Point
		mean, variance float64
	}{
		{Noise{StandardDeviation: 2, LastingShare: 0.25}, []Point{{Value: 1}, {Value: 2}, {Value: 3}, {Value: 6}}, 3, 0.75*4/4 + 0.25*4},
		{Noise{StandardDeviation: 2, LastingShare: 1}, []Point{{Value: 1}, {Value: 2}}, 1.5, 4},
		{Noise{StandardDeviation: 2, LastingShare: 0.5}, []Point{{Value: 5, StandardError: 1}}, 5, 4 + 1},
		// The weights are 1/4 and 1/12, as 3 to 1.
		{Noise{StandardDeviation: 2, LastingShare: 0.5}, []Point{{Value: 4}, {Value: 8, StandardError: math.Sqrt(8)}}, 5, 2*9./16 + (2+8)/16. + 2},
	} {
		mean, variance := c.noise.meanOf(c.points)
		if math.Abs(mean-c.mean) > 1e-9 || math.Abs(variance-c.variance) > 1e-9 {
			t.Errorf("%+v of %+v: %g with a variance of %g, want %g and %g", c.points, c.noise, mean, variance, c.mean, c.variance)
		}
	}
}

// A quarter of the variance lasts for about 20 points. The mean of the four newest points lies beyond 2.58 standard
// deviations in at most 1 % of unchanged series.
func TestFalseTipsOfSeveralPoints(t *testing.T) {
	const series, newest, limit = 4000, 4, 2.576
	noise := Noise{StandardDeviation: 1, LastingShare: 0.25, Correlation: 0.95}
	r := rand.New(rand.NewPCG(1, 11))
	alarms := 0
	for range series {
		points, lasting := make([]Point, newest), r.NormFloat64()
		for i := range points {
			points[i].Value = math.Sqrt(1-noise.LastingShare)*r.NormFloat64() + math.Sqrt(noise.LastingShare)*lasting
			lasting = noise.Correlation*lasting + math.Sqrt(1-noise.Correlation*noise.Correlation)*r.NormFloat64()
		}
		if mean, variance := noise.meanOf(points); math.Abs(mean) > limit*math.Sqrt(variance) {
			alarms++
		}
	}
	t.Logf("%d of %d", alarms, series)
	if most := 0.01*series + 3*math.Sqrt(0.01*series); float64(alarms) > most {
		t.Errorf("%d of %d unchanged series have a tip, want at most %.0f", alarms, series, most)
	}
}

func BenchmarkFind(b *testing.B) {
	s := stepped(3, "ar0.4").draw(rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		Find(s.points, FalseChanges)
	}
}

// If some points of the regime were outliers, a newest point that is as far off is no change. A shift of
// 12 % once counted as a change, and the gate failed, although 4 of 11 points had been as far off.
func TestTipBesideOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const series = 400
	for _, c := range []struct {
		share float64
		n     int
	}{{0.5, 11}, {0.3, 11}, {0.3, 40}, {0.1, 40}} {
		alarms, found := 0, 0
		for range series {
			points := make([]Point, c.n+1)
			for i := range points {
				points[i] = Point{Value: 0.005 * r.NormFloat64(), StandardError: 0.0025}
				if r.Float64() < c.share {
					points[i].Value += 0.12
				}
			}
			if tip, ok := TipOf(points, 1); ok && tip.PValue < FalseTips {
				alarms++
			}
			points[c.n].Value = 0.5
			if tip, ok := TipOf(points, 1); ok && tip.PValue < FalseTips {
				found++
			}
		}
		t.Logf("%.0f %% of %d points are 0.12 off: %d of %d newest ones are taken for a change, of those 0.5 off %d", 100*c.share, c.n, alarms, series, found)
		if alarms > series/50 || found < series*9/10 {
			t.Errorf("%.0f %% of %d points are 0.12 off: %d of %d newest ones are taken for a change, of those 0.5 off %d", 100*c.share, c.n, alarms, series, found)
		}
	}
}
