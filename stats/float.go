package stats

import (
	"encoding/json"
	"math"
	"strconv"
)

// Float is a number that may be missing because it could not be measured; JSON has null for it. The
// zero Float is missing, so that a document without the field reads like one that has null there.
type Float struct {
	value float64
	known bool
}

// FloatOf returns x as a Float. The Float is missing if x is NaN or infinite.
func FloatOf(x float64) Float {
	if !IsFinite(x) {
		return Float{}
	}
	return Float{x, true}
}

// IsFinite reports whether x is neither NaN nor infinite.
func IsFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Known reports whether the number is not missing.
func (f Float) Known() bool { return f.known }

// Value returns the number, or NaN if it is missing.
func (f Float) Value() float64 {
	if !f.known {
		return math.NaN()
	}
	return f.value
}

// Or returns the number, or x if it is missing.
func (f Float) Or(x float64) float64 {
	if !f.known {
		return x
	}
	return f.value
}

// String returns the number in its shortest form, or "?" if it is missing.
func (f Float) String() string {
	if !f.known {
		return Unknown
	}
	return strconv.FormatFloat(f.value, 'g', -1, 64)
}

// MarshalJSON writes the number or null.
func (f Float) MarshalJSON() ([]byte, error) {
	if !f.known {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

// UnmarshalJSON reads a number or null.
func (f *Float) UnmarshalJSON(data []byte) error {
	var x *float64
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	*f = Float{}
	if x != nil {
		*f = FloatOf(*x)
	}
	return nil
}
