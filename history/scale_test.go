package history

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// archiveOf keeps records of the given number of benchmarks in a folder. Benchmark 0 takes 20 %
// longer from the middle record on.
func archiveOf(t testing.TB, folder string, records, benchmarks int) record.Archive {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	a := record.ArchiveIn(folder)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range records {
		d := recordOf(r, i, records, benchmarks, start.Add(time.Duration(i)*time.Hour))
		text, err := record.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, record.NameFor(d.Head(), "host")), text, 0o644); err != nil { // without synchronising the disk
			t.Fatal(err)
		}
	}
	return a
}

// recordOf returns the i-th of n records.
func recordOf(r *rand.Rand, i, records, benchmarks int, at time.Time) record.Bench {
	d := record.Bench{
		Header: record.Header{Schema: record.Schema, Command: "bench", Started: at, Caveats: []string{},
			Machine: &machine.Machine{CPU: "Example 9000", OS: "linux", Kernel: "6.12.8-amd64", Hypervisor: "kvm", Clocksource: "tsc", Arch: "amd64", Go: "go1.26.0"},
			Source:  &record.Source{Commit: fmt.Sprintf("%08x%032x", 0x0bc00000+i*7919, i), Time: at, Subject: fmt.Sprintf("commit %d", i)}},
		Pairs: []stats.Pair{},
	}
	none := stats.NoEstimate("ns", "median")
	for b := range benchmarks {
		level := 100 * float64(b+1)
		if b == 0 && i >= records/2 {
			level *= 1.2
		}
		v := level * math.Exp(0.02*r.NormFloat64())
		e := stats.Estimate{Value: v, Lo: v * 0.99, Hi: v * 1.01, Unit: "ns", Statistic: "median", N: 20}
		report := gobench.Report{Benchmark: gobench.Benchmark{Name: fmt.Sprintf("BenchmarkNumber%d", b), Package: "example"},
			Summary: gobench.Summary{Estimate: e, Basis: "timer", Wall: none, CPU: e, Cycles: none, Metrics: []gobench.Metric{}}, Runs: []gobench.RunReport{}, Judgement: stats.NewJudgement()}
		for range 10 {
			report.Repetitions = append(report.Repetitions, gobench.RepetitionReport{})
		}
		d.Results = append(d.Results, report)
	}
	return d
}

// All records are indexed once, and not read again; the change of one benchmark is found, and
// another has none. If HISTORY_SCALE names a folder, the test uses 10,000 records of 50 figures and
// prints how long that takes; HISTORY_SIZE=200x500 changes that to 200 records of 500 figures.
func TestScale(t *testing.T) {
	records, benchmarks := 40, 3
	folder := os.Getenv("HISTORY_SCALE")
	if folder == "" {
		folder = t.TempDir()
	} else {
		records, benchmarks = 10000, 50
		fmt.Sscanf(os.Getenv("HISTORY_SIZE"), "%dx%d", &records, &benchmarks)
	}
	os.MkdirAll(folder, 0o755)
	if files, _ := os.ReadDir(folder); len(files) == 0 {
		archiveOf(t, folder, records, benchmarks)
	}
	a := record.ArchiveIn(folder)
	os.Remove(a.IndexFile())
	for i := range 3 {
		began := time.Now()
		x, read, err := Open(a)
		opened := time.Since(began)
		if err != nil || len(x.Records) != records || len(x.figures.Key) != records*benchmarks {
			t.Fatalf("%d records, %d figures, %v", len(x.Records), len(x.figures.Key), err)
		}
		if want := []int{records, 0, 0}[i]; read != want {
			t.Errorf("opening it for the %d. time read %d records, want %d", i+1, read, want)
		}
		began = time.Now()
		d := Of(record.Header{}, x, Filter{Name: regexp.MustCompile("Number[01]$")})
		t.Logf("opened in %v, two series in %v", opened, time.Since(began))
		if len(d.Series) != 2 {
			t.Fatalf("%d series, want 2", len(d.Series))
		}
		for b, s := range d.Series {
			if len(s.Points) != records || len(s.Changes) != 1-b {
				t.Errorf("%s: %d points, %d changes", s.Name, len(s.Points), len(s.Changes))
			}
		}
	}
}

// Results of another revision, which a record compares its own with, are not of the record's commit: they make no
// series.
func TestOtherRevisions(t *testing.T) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(2, 1))
	for i := range 20 {
		d := recordOf(r, i, 20, 1, time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC))
		base := d.Results[0]
		base.Revision = "HEAD~1"
		d.Results = append([]gobench.Report{base}, d.Results...)
		text, err := record.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, record.NameFor(d.Head(), "host")), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x, _, err := Open(record.ArchiveIn(folder))
	if err != nil {
		t.Fatal(err)
	}
	if d := Of(record.Header{}, x, Filter{}); len(d.Series) != 1 || d.Series[0].Name != "example.Number0" {
		t.Errorf("%d series: %+v", len(d.Series), d.Series)
	}
}

// What can't be read is tried again, since the reason may be gone.
func TestUnreadableAgain(t *testing.T) {
	folder := t.TempDir()
	a := archiveOf(t, folder, 3, 1)
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	whole, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte("?"), whole[1:]...)
	stamp := time.Now().Add(-time.Hour)
	for i, text := range [][]byte{broken, whole, whole} {
		if err := errors.Join(os.WriteFile(files[1], text, 0o644), os.Chtimes(files[1], stamp, stamp)); err != nil {
			t.Fatal(err)
		}
		x, read, err := Open(a)
		if err != nil {
			t.Fatal(err)
		}
		if unreadable := len(Of(record.Header{}, x, Filter{}).Unreadable); unreadable != []int{1, 0, 0}[i] || read != []int{3, 1, 0}[i] {
			t.Errorf("opening %d: %d unreadable, %d read", i, unreadable, read)
		}
	}
}

// A measurement is known again in an index, and told from those of another machine, of other values or of another moment.
func TestIdentity(t *testing.T) {
	folder := t.TempDir()
	x, _, err := Open(archiveOf(t, folder, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 3 {
		d := recordOf(r, i, 3, 2, time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC))
		if !slices.Contains(x.Identities(), IdentityOf(d)) {
			t.Errorf("record %d is not known again", i)
		}
		other := *d.Machine
		other.CPU = "Example 9001"
		moved, later, slower := d, d, d
		moved.Machine, later.Started = &other, d.Started.Add(time.Nanosecond)
		slower.Results = slices.Clone(d.Results)
		slower.Results[1].Estimate.Value *= 1.001
		for name, changed := range map[string]record.Bench{"machine": moved, "moment": later, "value": slower} {
			if slices.Contains(x.Identities(), IdentityOf(changed)) {
				t.Errorf("record %d of another %s is taken for one that is there", i, name)
			}
		}
	}
}
