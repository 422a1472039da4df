package machine

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCPUList(t *testing.T) {
	for list, want := range map[string][]int{
		"0-4,9":       {0, 1, 2, 3, 4, 9},       // cpuset(7), List format
		"0-2,7,12-14": {0, 1, 2, 7, 12, 13, 14}, // the same
		"3":           {3},
		"5-5":         {5},
		"9,0-1":       {0, 1, 9},
		"0-3,2,2-4":   {0, 1, 2, 3, 4},
		"65534-65535": {65534, 65535},
	} {
		if got, err := ParseCPUList(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", list, got, err, want)
		}
	}
}

func TestParseCPUListRefuses(t *testing.T) {
	for list, reason := range map[string]string{
		"":                        `"" is not a CPU number`,
		" 0":                      `" 0" is not a CPU number`,
		"0, 1":                    `" 1" is not a CPU number`,
		"0,":                      `"" is not a CPU number`,
		"-1":                      `"" is not a CPU number`,
		"0-":                      `"" is not a CPU number`,
		"0-1-2":                   `"1-2" is not a CPU number`,
		"+1":                      `"+1" is not a CPU number`,
		"0x1":                     `"0x1" is not a CPU number`,
		"all":                     `"all" is not a CPU number`,
		"0-7:2/4":                 `"7:2/4" is not a CPU number`,
		"3-0":                     "range 3-0 runs backwards",
		"65536":                   "CPU 65536 is beyond the highest that can be, 65535",
		"18446744073709551616":    `"18446744073709551616" is not a CPU number`,
		strings.Repeat("x", 9999): "xxx...",
	} {
		_, err := ParseCPUList(list)
		if err == nil {
			t.Errorf("%.20q is taken", list)
			continue
		}
		if text := err.Error(); !strings.Contains(text, reason) || !strings.Contains(text, "such as 0-3,8") || len(text) > 300 {
			t.Errorf("%.20q: %q does not say %q and what is allowed", list, text, reason)
		}
	}
}

func TestFormatCPUList(t *testing.T) {
	for want, cpus := range map[string][]int{
		"":            nil,
		"7":           {7},
		"0-1":         {1, 0, 1},
		"0-4,9":       {0, 1, 2, 3, 4, 9}, // cpuset(7), List format
		"0-2,7,12-14": {14, 13, 12, 7, 2, 1, 0},
	} {
		before := slices.Clone(cpus)
		if got := FormatCPUList(cpus); got != want {
			t.Errorf("%v: %q, want %q", cpus, got, want)
		}
		if !slices.Equal(cpus, before) {
			t.Errorf("%v was changed to %v", before, cpus)
		}
	}
}

func TestCPUListRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, maxCPU)), 1, 50).Draw(t, "cpus")
		list := FormatCPUList(cpus)
		got, err := ParseCPUList(list)
		if err != nil {
			t.Fatalf("%v: %v", cpus, err)
		}
		set := map[int]bool{}
		for _, cpu := range cpus {
			set[cpu] = true
		}
		runs := 0
		for cpu := range set {
			if !set[cpu-1] {
				runs++
			}
		}
		if len(got) != len(set) || !slices.IsSorted(got) || slices.ContainsFunc(got, func(cpu int) bool { return !set[cpu] }) {
			t.Fatalf("%v became %q became %v", cpus, list, got)
		}
		if items := strings.Count(list, ",") + 1; items != runs {
			t.Fatalf("%q has %d items for %d runs", list, items, runs)
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	for _, list := range []string{"0-3,8", "", "3-0", "0-65535", "1-2-3", ",", "00"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := ParseCPUList(list)
		if err != nil {
			if cpus != nil {
				t.Errorf("%q: CPUs %v in spite of %v", list, cpus, err)
			}
			return
		}
		again, err := ParseCPUList(FormatCPUList(cpus))
		if err != nil || !slices.Equal(again, cpus) || len(cpus) == 0 {
			t.Errorf("%q: %v, then %v, %v", list, cpus, again, err)
		}
	})
}
