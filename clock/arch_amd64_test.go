package clock

import (
	"math"
	"testing"
)

// The expected values are those of uops.info for ADD (R64, R64).
func TestAdditionsPerCycleByModel(t *testing.T) {
	for _, c := range []struct {
		name                  string
		vendor, family, model uint32
		want                  float64
	}{
		{"Zen 2", vendorAMD, 0x17, 0x31, 4},
		{"Zen 4", vendorAMD, 0x19, 0x11, 4},
		{"Skylake-X", vendorIntel, 6, 0x55, 4},
		{"Emerald Rapids", vendorIntel, 6, 0xcf, 5},
		{"Silvermont", vendorIntel, 6, 0x37, math.NaN()},
		{"QEMU", vendorAMD, 0xf, 0x6b, math.NaN()},
	} {
		if got := additionsPerCycle(c.vendor, c.family, c.model); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v additions a cycle, want %v", c.name, got, c.want)
		}
	}
}
