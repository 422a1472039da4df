package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var someDay = time.Date(2026, 11, 21, 4, 12, 36, 467507470, time.UTC)

func TestKeptRecordsAreReadable(t *testing.T) {
	a := Archive{Folder: filepath.Join(t.TempDir(), "not", "yet", "there"), Host: "ada.example.com"}
	want := sample("doctor", someDay)
	file, err := a.Keep(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-kept +read)\n%s", diff)
	}
	if name := filepath.Base(file); !strings.HasPrefix(name, "20261121T041236.467507470Z-ada-doctor-") {
		t.Errorf("it is called %s", name)
	}
}

// Names sort by time first, in whatever time zone, and then by machine.
func TestNamesSortByTimeAndMachine(t *testing.T) {
	folder := t.TempDir()
	east := time.FixedZone("east", 9*3600)
	var want []string
	for _, c := range []struct {
		host    string
		started time.Time
	}{
		{"zoe", time.Date(2026, 1, 2, 3, 0, 0, 0, east)}, // on the first of January in UTC
		{"bob", time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)},
		{"ada", time.Date(2026, 1, 2, 3, 0, 0, 9, time.UTC)},
		{"bob", time.Date(2026, 1, 2, 3, 0, 0, 9, time.UTC)},
		{"ada", time.Date(2026, 1, 2, 3, 0, 0, 10, time.UTC)},
	} {
		file, err := Archive{folder, c.host}.Keep(sample("doctor", c.started))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, filepath.Base(file))
	}
	entries, err := List(ArchiveIn(folder))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Error != nil || *e.Command != "doctor" {
			t.Errorf("%+v", e)
		}
		got = append(got, e.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNamesOfHosts(t *testing.T) {
	for host, want := range map[string]string{
		"ada.example.com": "ada", "": "unknown", ".": "unknown", "../../etc/passwd": "unknown", "a/b c\nd": "a_b_c_d", "Zoë-1": "Zo_-1",
		strings.Repeat("long", 90): strings.Repeat("long", 10),
	} {
		if got := nameOf(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

// Writers that keep the same document at the same time get different files.
func TestWritersDoNotCollide(t *testing.T) {
	a := ArchiveIn(t.TempDir())
	const writers, each = 8, 25
	files := make([][]string, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range each {
				file, err := a.Keep(sample("doctor", someDay))
				if err != nil {
					t.Error(err)
				}
				files[w] = append(files[w], file)
			}
		})
	}
	all.Wait()
	names := slices.Concat(files...)
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != writers*each {
		t.Errorf("%d files for %d records", n, writers*each)
	}
	entries, err := List(a)
	if err != nil || len(entries) != writers*each {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A document that can't be read again is not kept, and leaves no file behind.
func TestKeepRefuses(t *testing.T) {
	a := ArchiveIn(t.TempDir())
	bad := sample("doctor", someDay).(Doctor)
	bad.WatchedNs = -1
	_, err := a.Keep(bad)
	var malformed *MalformedError
	if !errors.As(err, &malformed) {
		t.Errorf("a negative duration: %v", err)
	}
	unknown := SlowClock{Header: bad.Header, EventNs: math.NaN()}
	unknown.Command = "slowclock"
	if _, err := a.Keep(unknown); err == nil {
		t.Error("NaN was kept")
	}
	files, err := os.ReadDir(a.Folder)
	if err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestKeepSaysWhatItCannotDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, filepath.Join(file, "below")} {
		a := ArchiveIn(folder)
		if _, err := a.Keep(sample("doctor", someDay)); err == nil || !strings.Contains(err.Error(), "choose another folder") {
			t.Errorf("%s: %v", folder, err)
		}
		if err := a.Prepare(); err == nil || !strings.Contains(err.Error(), "choose a folder") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// Files that are not records, and broken records, are distinguished from readable ones.
func TestListTellsWhatIsBroken(t *testing.T) {
	a := ArchiveIn(t.TempDir())
	if entries, err := List(ArchiveIn(filepath.Join(a.Folder, "none"))); err != nil || len(entries) != 0 {
		t.Errorf("no folder: %v, %v", entries, err)
	}
	good, err := a.Keep(sample("doctor", someDay))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	many := bytes.Replace(text, []byte(`"caveats": [`), []byte(`"caveats": [`+strings.Repeat(`"",`, mostElements)+`""`), 1)
	for name, data := range map[string][]byte{
		"0-cut.json": text[:len(text)/2], "1-empty.json": nil, "2-other.json": []byte(`{"a": 1}`),
		"3-no-start.json": bytes.Replace(text, []byte(`"started"`), []byte(`"begun"`), 1),
		"4-negative.json": bytes.Replace(text, []byte(`"duration_ns": `), []byte(`"duration_ns": -1`), 1), "5-huge.json": many,
		"notes.txt": []byte("no record"), unfinished + "3.json": text[:10],
	} {
		if err := os.WriteFile(filepath.Join(a.Folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := List(a)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Name] = e.Error == nil
	}
	want := map[string]bool{
		"0-cut.json": false, "1-empty.json": false, "2-other.json": false, "3-no-start.json": false, "4-negative.json": false, "5-huge.json": false,
		filepath.Base(good): true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	a := Archive{Folder: t.TempDir(), Host: "ada"}
	if _, err := Find(a, Latest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
	first, err := a.Keep(sample("doctor", someDay))
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.Keep(sample("doctor", someDay.Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Base(first): first, "20261121T04": first, "20261121T05": second, Latest: second,
	} {
		if got, err := Find(a, name); err != nil || got.Name != filepath.Base(want) {
			t.Errorf("%s: %s, %v, want %s", name, got.Name, err, want)
		}
	}
	if _, err := Find(a, "20261121"); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "2 records") {
		t.Errorf("two: %v", err)
	}
	for _, name := range []string{"zoe", "", "../" + filepath.Base(first)} {
		if _, err := Find(a, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Unfinished files of writers that were killed long ago are removed, and nothing else.
func TestSweep(t *testing.T) {
	a := ArchiveIn(filepath.Join(t.TempDir(), "a[b]")) // as a pattern it would match "ab"
	if err := a.Prepare(); err != nil {
		t.Fatal(err)
	}
	old, young, record := filepath.Join(a.Folder, unfinished+"1"), filepath.Join(a.Folder, unfinished+"2"), filepath.Join(a.Folder, "3.json")
	longAgo := time.Now().Add(-48 * time.Hour)
	for _, file := range []string{old, young, record} {
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{old, record} {
		if err := os.Chtimes(file, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Keep(sample("doctor", someDay)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{old: false, young: true, record: true} {
		if _, err := os.Stat(file); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

// writerFolder is an environment variable that makes the test binary the writer that is killed.
const writerFolder = "CHRONOSCOPE_TEST_WRITER"

// A writer is killed at random times, two hundred times. Every record that it reported as kept is
// there and readable, and the archive contains no partial record.
func TestKilledWriterLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if folder := os.Getenv(writerFolder); folder != "" {
		writeForEver(ArchiveIn(folder))
	}
	a := ArchiveIn(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	reported := 0
	for range 200 {
		for _, file := range reportsOfKilled(t, a.Folder, rng) {
			reported++
			if _, err := Open(file); err != nil {
				t.Error(err)
			}
		}
	}
	entries, err := List(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := Open(filepath.Join(a.Folder, e.Name)); err != nil {
			t.Errorf("of those in the archive: %v", err)
		}
	}
	t.Logf("%d reported as kept, %d in the archive", reported, len(entries))
	if reported < 100 || len(entries) < reported {
		t.Errorf("%d reported as kept, %d in the archive", reported, len(entries))
	}
}

// writeForEver keeps records of several sizes, and reports each.
func writeForEver(a Archive) {
	d := sample("doctor", someDay).(Doctor)
	for i := 0; ; i++ {
		d.Caveats = []string{strings.Repeat("blah ", 1+i%7*3000)}
		file, err := a.Keep(d)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(file)
	}
}

// reportsOfKilled starts a writer, kills it some time after some reports, and returns what it had
// reported.
func reportsOfKilled(t *testing.T, folder string, rng *rand.Rand) (files []string) {
	t.Helper()
	writer := exec.Command(os.Args[0], "-test.run=^TestKilledWriterLosesNothing$")
	writer.Env = append(os.Environ(), writerFolder+"="+folder)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	enough := rng.IntN(4)
	pause := time.Duration(rng.Int64N(int64(3 * time.Millisecond)))
	lines := bufio.NewScanner(out)
	for len(files) < enough && lines.Scan() {
		files = append(files, lines.Text())
	}
	time.Sleep(pause)
	writer.Process.Kill()
	for lines.Scan() { // reports from before it was killed
		files = append(files, lines.Text())
	}
	writer.Wait()
	return files
}
