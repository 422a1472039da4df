package machine

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Whatever one file contains, the description is a JSON document that can be printed on a
// terminal and holds no NaN or infinity. The file is chosen by its place in the sorted list of
// the tree's files.
func FuzzRead(f *testing.F) {
	for _, content := range []string{"", "\n", "0", "-1", "NaN", "1e999", "max 0", "\x1b]0;x\x07", "processor : 0\nCPU implementer : 0xg\nCPU architecture: 8\n"} {
		for file := range byte(22) {
			f.Add(file, []byte(content))
		}
	}
	tree := load(f, "intel-metal")
	names := slices.Sorted(maps.Keys(tree))
	f.Fuzz(func(t *testing.T, file byte, content []byte) {
		changed := maps.Clone(tree)
		changed[names[int(file)%len(names)]] = &fstest.MapFile{Data: content}
		m := Read(changed, "amd64")
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		findings, err := json.Marshal(m.Findings())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(m.Caveats, string(data), string(findings)) {
			if !printable(strings.ReplaceAll(text, "\n", "")) && len(text) < maxLineBytes {
				t.Errorf("%q can't be printed", text)
			}
		}
		if m.Load1 != nil && !(*m.Load1 >= 0 && !math.IsInf(*m.Load1, 0)) {
			t.Errorf("load %v", *m.Load1)
		}
		if m.CPUs < 0 || m.CPUsOnline != nil && *m.CPUsOnline < 1 {
			t.Errorf("%d CPUs, %v online", m.CPUs, m.CPUsOnline)
		}
	})
}

func FuzzParseCPUInfo(f *testing.F) {
	f.Add("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nflags : fpu hypervisor\n")
	f.Add("processor : 0\nCPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd0c\n")
	f.Add("Processor : AArch64 Processor rev 4\nprocessor : 0\n")
	f.Add(": :\nprocessor:-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		cpus := parseCPUInfo(text)
		if len(cpus) > strings.Count(text, "processor") {
			t.Errorf("%d CPUs", len(cpus))
		}
		for _, cpu := range cpus {
			for _, said := range []Text{cpu.name(), cpu.vendor(), cpu.model(), cpu.arch(), cpu.hypervisor()} {
				if !printable(string(said)) {
					t.Errorf("%q can't be printed", said)
				}
			}
		}
	})
}

func FuzzParseLoad(f *testing.F) {
	for _, line := range []string{"0.02 0.13 0.07 1/85 5882", "", "NaN", "-0.1", "+Inf", "1e400", "0x1p-2", "1_0"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if load, err := parseLoad(line); err == nil && !(load >= 0 && load <= math.MaxFloat64) {
			t.Errorf("%q: %v", line, load)
		}
	})
}
