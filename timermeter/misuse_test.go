package timermeter

import "testing"

func TestMeasureNothing(t *testing.T) {
	if _, err := Measure(t.Context(), nil, 1); err == nil {
		t.Error("no error")
	}
}
