package clock

import (
	"math"
	"testing"
	"testing/fstest"

	"chronoscope/stats"
)

func rateOf(t *testing.T, hz float64) Rate {
	t.Helper()
	rate, err := NewRate(stats.Estimate{Value: hz, Lo: hz, Hi: hz, Unit: "Hz"})
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

func TestKernelRates(t *testing.T) {
	cases := map[string]struct {
		root fstest.MapFS
		want map[string]float64
	}{
		"amd64": {
			fstest.MapFS{
				"proc/cpuinfo": {Data: []byte("processor\t: 0\ncpu MHz\t\t: 2596.120\nbogomips\t: 5192.24\n\nbogomips\t: 7\n")},
				"sys/devices/system/cpu/cpu0/tsc_freq_khz": {Data: []byte("2596121\n")},
			},
			map[string]float64{
				"/proc/cpuinfo (bogomips)":                  2596.12e6,
				"/sys/devices/system/cpu/cpu0/tsc_freq_khz": 2596.121e6,
			},
		},
		"arm64": {
			fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor\t: 0\nBogoMIPS\t: 48.00\n")}},
			map[string]float64{"/proc/cpuinfo (bogomips)": 24e6},
		},
		"no files": {fstest.MapFS{}, nil},
		"malformed": {
			fstest.MapFS{
				"proc/cpuinfo": {Data: []byte("bogomips\t: a lot\n")},
				"sys/devices/system/cpu/cpu0/tsc_freq_khz": {Data: []byte("-5")},
			}, nil,
		},
	}
	for name, c := range cases {
		checks := kernelRates(c.root)
		if len(checks) != len(c.want) {
			t.Errorf("%s: %+v, want %v", name, checks, c.want)
		}
		for _, check := range checks {
			if math.Abs(check.Hz-c.want[check.Source]) > 1 {
				t.Errorf("%s: %s says %g Hz, want %g", name, check.Source, check.Hz, c.want[check.Source])
			}
		}
	}
}

func TestCrossChecksGiveTheDifference(t *testing.T) {
	root := fstest.MapFS{"proc/cpuinfo": {Data: []byte("bogomips : 2000.20\n")}}
	for _, check := range CrossChecks(root, rateOf(t, 1e9)) {
		if want := (check.Hz/1e9 - 1) * 1e6; math.Abs(check.PPM-want) > 1e-6 {
			t.Errorf("%s: %g ppm, want %g", check.Source, check.PPM, want)
		}
		if check.Source == "/proc/cpuinfo (bogomips)" && math.Abs(check.PPM-100) > 1e-3 {
			t.Errorf("1.0001 GHz beside 1 GHz is %g ppm more", check.PPM)
		}
	}
}
