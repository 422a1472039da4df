package stats

import (
	"encoding/json"
	"math"
	"strconv"
)

// Float is a number that may be missing because it could not be measured. The zero Float is
// missing, so that a document that lacks a field reads as one that has null there. JSON has
// null for a missing number.
type Float struct {
	value float64
	known bool
}

// FloatOf is x as a Float, which is missing where x is NaN or infinite.
func FloatOf(x float64) Float {
	if !IsFinite(x) {
		return Float{}
	}
	return Float{x, true}
}

// IsFinite reports whether x is a number, and neither NaN nor infinite.
func IsFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Known reports whether the number is there.
func (f Float) Known() bool { return f.known }

// Value is the number, or NaN where it is missing.
func (f Float) Value() float64 {
	if !f.known {
		return math.NaN()
	}
	return f.value
}

// Or is the number, or x where it is missing.
func (f Float) Or(x float64) float64 {
	if !f.known {
		return x
	}
	return f.value
}

// String is the number in its shortest form, or "?" where it is missing.
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
