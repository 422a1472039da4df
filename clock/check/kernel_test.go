package check

import (
	"maps"
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParseShifts(t *testing.T) {
	for text, want := range map[string]map[string]float64{
		"monotonic           0         0\nboottime            0         0\n": {"monotonic": 0, "boottime": 0},
		"monotonic 10 500000000\nboottime -7 0\n":                            {"monotonic": 10.5e9, "boottime": -7e9},
		"":                                {},
		"monotonic 10\nboottime x 0\n":    {},
		"boottime 99999999999999999999 0": {},
	} {
		if got := parseShifts(text); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestParseUptime(t *testing.T) {
	for text, want := range map[string]float64{"11347.86 13808.78\n": 11347.86e9, "5\n": 5e9} {
		if got := parseUptime(text); math.Abs(got-want) > 1 {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "up", "-5 1", "inf 1", "NaN"} {
		if got := parseUptime(text); !math.IsNaN(got) {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
}

// A shifted clock is noted and stays trusted. So does a clock whose shift is only visible in the
// difference to /proc/uptime.
func TestTimeNamespace(t *testing.T) {
	s := newSimulation(1)
	boottime := fine()
	boottime.PhaseNs = 500e9
	s.add("boottime", boottime)
	s.add("monotonic", fine())
	s.files["proc/self/timens_offsets"] = &fstest.MapFile{Data: []byte("monotonic 3600 0\nboottime 0 0\n")}
	s.files["proc/uptime"] = &fstest.MapFile{Data: []byte("100.80 3\n")}
	r := s.run(t.Context())
	if bad := faults(r); len(bad) > 0 {
		t.Errorf("%s", texts(bad))
	}
	f := of(r, "monotonic", TimeNamespace)
	if f == nil || f.WorstNs.Value() != 3600e9 || !strings.Contains(strings.Join(f.Notes, ""), "shifts it by 3600 s") {
		t.Errorf("%+v, want a shift of an hour", f)
	}
	f = of(r, "boottime", TimeNamespace)
	if f == nil || f.WorstNs.Value() != 0 || !strings.Contains(strings.Join(f.Notes, ""), "it is 400 s ahead of /proc/uptime") {
		t.Errorf("%+v, want the difference from the uptime", f)
	}
}

// If /proc and /sys are missing or hold rubbish, the report leaves out what they would tell.
func TestFilesThatSayNothing(t *testing.T) {
	rubbish := &fstest.MapFile{Data: []byte("\x1b[31m\x00\xff")}
	for name, files := range map[string]fstest.MapFS{
		"none": {},
		"rubbish": {
			clocksourceFile: rubbish, "proc/self/timens_offsets": rubbish, "proc/uptime": rubbish,
		},
	} {
		s := newSimulation(1)
		s.add("monotonic", fine())
		s.files = files
		r := s.run(t.Context())
		if len(faults(r)) > 0 || of(r, "monotonic", TimeNamespace) != nil || of(r, "monotonic-raw", Clocksource) != nil {
			t.Errorf("%s: %s", name, texts(r.Findings))
		}
		if all := strings.Join(r.Caveats(), "\n"); !strings.Contains(all, "clocksource of monotonic is not judged") {
			t.Errorf("%s: caveats %q", name, all)
		}
	}
}
