package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
)

// aFleet writes the given number of records of clocks into a folder: two tiers, a drift, and planted machines whose clocks
// all cost a quarter more. It gives the names of these.
func aFleet(t testing.TB, folder string, nodes int) (planted []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "documents", "clocks.json"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 0))
	for n := range nodes {
		d, err := record.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		clocks := d.(record.Clocks)
		clocks.Started = clocks.Started.Add(time.Duration(n) * time.Minute)
		factor := []float64{1, 1.7}[n%2] * (1 + 0.0001*float64(n)/10)
		name := fmt.Sprintf("node-%04d", n)
		if n%50 == 7 {
			factor *= 1.25
			planted = append(planted, name)
		}
		for i := range clocks.Clocks {
			c := &clocks.Clocks[i]
			f := factor * math.Exp(0.01*rng.NormFloat64())
			c.Cost.MedianNs = stats.FloatOf(c.Cost.MedianNs.Value() * f)
			c.LeastDisturbed = nil
		}
		data, err := record.Encode(clocks)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return planted
}

// Of a hundred machines, those that were planted are named, and no other; in text, JSON, CSV and on a page.
func TestFleet(t *testing.T) {
	folder := t.TempDir()
	planted := aFleet(t, folder, 300)
	page := filepath.Join(t.TempDir(), "fleet.html")
	var d record.Fleet
	if err := json.Unmarshal(output(t, "fleet", folder, "--format", "json", "--html", page), &d); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, o := range d.Outliers {
		if !slices.Contains(named, o.Node) {
			named = append(named, o.Node)
		}
		if o.Quantity == "cost" && (o.Outcome != "worse" || !o.Ratio.Covers(o.Ratio.Value) || math.Abs(o.Ratio.Value-1.25) > 0.1) {
			t.Errorf("%+v", o)
		}
	}
	slices.Sort(named)
	if !slices.Equal(named, planted) {
		t.Errorf("%q lie apart, want %q", named, planted)
	}
	for _, f := range d.Figures {
		if f.Quantity == "cost" && len(f.Tiers) != 2 {
			t.Errorf("%s has %d tiers", f.Name, len(f.Tiers))
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(output(t, "fleet", folder, "--format", "csv"))).ReadAll()
	if err != nil || len(rows) != len(d.Outliers)+1 || rows[0][0] != "node" {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
	text := string(output(t, "fleet", folder))
	if want := fmt.Sprintf("%d of 300 machines lie apart", len(planted)); !strings.Contains(text, want) || !strings.Contains(text, planted[0]) {
		t.Errorf("%q is not in the text: %s", want, text)
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte(planted[0])) {
		t.Errorf("the page does not name %s: %v", planted[0], err)
	}
	// The machines that lie apart are shown unasked, and no shape lacks a colour of its own (black on a dark page).
	open, _, _ := bytes.Cut(html, []byte("<details"))
	if !bytes.Contains(open, []byte(planted[0]+"</")) {
		t.Error("the table of machines that lie apart is folded")
	}
	if bytes.Contains(html, []byte(`<rect class="s`)) {
		t.Error("a bar has the look of a series, which fills no bar")
	}
	d2, err := record.Parse(output(t, "fleet", folder, "--format", "json"))
	if err != nil {
		t.Errorf("its document can't be read: %v", err)
	} else if _, ok := d2.(record.Fleet); !ok {
		t.Errorf("its document is read as %T", d2)
	}
}

func BenchmarkFleetOfAThousand(b *testing.B) {
	folder := b.TempDir()
	aFleet(b, folder, 1000)
	for b.Loop() {
		output(b, "fleet", folder, "--html", filepath.Join(b.TempDir(), "fleet.html"))
	}
}
