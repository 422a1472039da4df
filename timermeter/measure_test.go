package timermeter

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An invalid unit is refused before anything is measured.
func TestMeasureRefusesUnits(t *testing.T) {
	for _, unit := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := Measure(background, func() int64 { t.Error("was read"); return 0 }, unit)
		if err == nil || !strings.Contains(err.Error(), "give the unit's length") {
			t.Errorf("%v: %v", unit, err)
		}
	}
}

// An interrupted measurement returns what it has measured.
func TestMeasureKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var reads atomic.Int64
	r, err := Measure(ctx, func() int64 {
		if reads.Add(1) == 1000 {
			cancel()
		}
		return time.Now().UnixNano()
	}, 1)
	if !errors.Is(err, context.Canceled) || r.Name != "own" || !slices.Contains(r.Reasons, "the measurement was interrupted") {
		t.Errorf("%+v, %v", r, err)
	}
}
