package machine

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

func TestPressure(t *testing.T) {
	for text, want := range map[string]float64{
		"some avg10=14.68 avg60=6.97 avg300=13.97 total=26000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=999999\n": 26e6,
		"full avg10=0.00 total=26000\n":                 math.NaN(),
		"some total=-5\n":                               math.NaN(),
		"some total=" + strings.Repeat("9", 600) + "\n": math.NaN(),
		"some avg10=0.00":                               math.NaN(),
		"\n\n":                                          math.NaN(),
		"\x00\xff":                                      math.NaN(),
	} {
		files := fstest.MapFS{"proc/pressure/cpu": &fstest.MapFile{Data: []byte(text)}}
		if got := PressureNs(files); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := PressureNs(fstest.MapFS{}); !math.IsNaN(got) {
		t.Errorf("without the file: %v", got)
	}
}
