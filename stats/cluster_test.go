package stats_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
)

// scipyLinkages holds SciPy's results for lists of values, most of which have ties.
type scipyLinkages struct {
	Source string
	Cases  []struct {
		Name   string
		Values []float64
		Merges [][4]float64 // two clusters, height, size
		Cuts   []struct {
			Height float64
			Labels []int
		}
	}
}

func readLinkages(t *testing.T) scipyLinkages {
	t.Helper()
	data, err := os.ReadFile("testdata/linkage_scipy.json")
	if err != nil {
		t.Fatal(err)
	}
	var all scipyLinkages
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 60 || !strings.HasPrefix(all.Source, "SciPy 1.10.1") {
		t.Fatalf("%d cases from %s", len(all.Cases), all.Source)
	}
	return all
}

// Every merge and every cut equals SciPy's, even if ties allow a choice.
func TestCompleteLinkageIsSciPys(t *testing.T) {
	for _, c := range readLinkages(t).Cases {
		d, err := stats.CompleteLinkage(c.Values)
		if err != nil || len(d.Merges) != len(c.Merges) || d.Points != len(c.Values) {
			t.Fatalf("%s: %d merges of %d points, %v", c.Name, len(d.Merges), d.Points, err)
		}
		for k, m := range d.Merges {
			want := stats.Merge{A: int(c.Merges[k][0]), B: int(c.Merges[k][1]), Height: c.Merges[k][2], Size: int(c.Merges[k][3])}
			if m != want {
				t.Errorf("%s, merge %d: %+v, want %+v", c.Name, k, m, want)
				break
			}
		}
		for _, cut := range c.Cuts {
			if got, want := d.Cut(cut.Height), clustersOf(cut.Labels); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, cut at %v: %v, want %v", c.Name, cut.Height, got, want)
			}
		}
	}
}

// clustersOf returns the points of each label, in the order of their first points.
func clustersOf(labels []int) [][]int {
	place := map[int]int{}
	var clusters [][]int
	for point, label := range labels {
		if _, ok := place[label]; !ok {
			place[label] = len(clusters)
			clusters = append(clusters, nil)
		}
		clusters[place[label]] = append(clusters[place[label]], point)
	}
	return clusters
}

// In many random cases, a cut at h leaves no cluster wider than h, and no two clusters that could be
// joined to one of width h.
func TestCutsAreAsWideAsTheyMayBe(t *testing.T) {
	random := rand.New(rand.NewPCG(2008, 1))
	for range 500 {
		values := make([]float64, 1+random.IntN(40))
		for i := range values {
			values[i] = math.Round(100*random.ExpFloat64()) / 10
		}
		d, err := stats.CompleteLinkage(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []float64{0, 0.1, 1, 5, 10 * random.Float64(), 1000} {
			clusters := d.Cut(h)
			members := 0
			for i, a := range clusters {
				members += len(a)
				if widthOf(values, a) > h {
					t.Fatalf("%v cut at %v: %v is wider", values, h, a)
				}
				for _, b := range clusters[:i] {
					if both := append(slices.Clone(a), b...); widthOf(values, both) <= h {
						t.Fatalf("%v cut at %v: %v and %v could be one", values, h, a, b)
					}
				}
			}
			if members != len(values) {
				t.Fatalf("%v cut at %v: %d members", values, h, members)
			}
		}
	}
}

func widthOf(values []float64, points []int) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		lo, hi = math.Min(lo, values[p]), math.Max(hi, values[p])
	}
	return hi - lo
}

func TestCompleteLinkageOfLittle(t *testing.T) {
	for points, values := range [][]float64{nil, {7}} {
		d, err := stats.CompleteLinkage(values)
		if err != nil || d.Points != points || len(d.Merges) != 0 || len(d.Cut(1)) != points {
			t.Errorf("of %d points: %+v, %v", points, d, err)
		}
	}
	// The distance exceeds the largest float64, but the values are in one cluster in the end.
	if d, err := stats.CompleteLinkage([]float64{-1e308, 1.7e308, 0}); err != nil || len(d.Merges) != 2 || d.Merges[1].Size != 3 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := stats.CompleteLinkage([]float64{1, math.NaN()}); err == nil || !strings.Contains(err.Error(), "values[1]") {
		t.Errorf("a value that is no number: %v", err)
	}
}
