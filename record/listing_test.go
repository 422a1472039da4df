package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A list of records names the subjects of each without reading the rest of it.
func TestSubjects(t *testing.T) {
	const head = `{"schema": "chronoscope/v1", "started": "2026-11-21T04:12:36Z", "duration_ns": 1, "interrupted": false, "caveats": [], "machine": {"cpus": 1}, "command": `
	for name, c := range map[string]struct {
		rest string
		want []string
	}{
		"programs":           {`"run", "results": [{"command": "sleep 0.1", "runs": [{"wall_ns": 1}]}, {"command": "true"}, {"command": "true"}]}`, []string{"sleep 0.1", "true"}},
		"benchmarks":         {`"bench", "results": [{"name": "BenchmarkSort", "package": "x"}]}`, []string{"Sort"}},
		"clocks":             {`"clocks", "clocks": [{"name": "tsc"}, {"name": "tai"}]}`, []string{"tsc", "tai"}},
		"instructions":       {`"bytecode", "instructions": [{"mnemonic": "iadd"}]}`, []string{"iadd"}},
		"what is compared":   {`"compare", "subjects": ["a", "b"]}`, []string{"a", "b"}},
		"none":               {`"doctor", "findings": []}`, []string{}},
		"not what it should": {`"run", "results": {"command": 7}, "clocks": null, "subjects": [1]}`, []string{}},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "x.json"), []byte(head+c.rest), 0o644); err != nil {
			t.Fatal(err)
		}
		entries, err := List(ArchiveIn(folder))
		if err != nil || len(entries) != 1 || entries[0].Error != nil {
			t.Fatalf("%s: %v, %+v", name, err, entries)
		}
		if diff := cmp.Diff(c.want, entries[0].Subjects); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// [Previous] once found a record of another command, which could not be compared with the last
// record.
func TestPreviousIsOfTheSameCommand(t *testing.T) {
	folder := t.TempDir()
	keep := func(names ...string) {
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	const clocks = "20261121T041236.467507470Z-my-host-clocks-0123456789ab.json"
	keep(clocks, "20261121T041237.467507470Z-my-host-doctor-0123456789ab.json", "20261121T041238.467507470Z-my-host-run-0123456789ab.json")
	if file, err := Find(ArchiveIn(folder), Previous); err == nil {
		t.Errorf("before the only run was %s", file.Name)
	}
	keep("20261121T041239.467507470Z-other-clocks-0123456789ab.json")
	if file, err := Find(ArchiveIn(folder), Previous); err != nil || file.Name != clocks {
		t.Errorf("%s, %v, want %s", file.Name, err, clocks)
	}
}
