package activity

import "math"

// TimeBounds returns what a number of ticks, charged over a number of segments, says about the time
// that was really used: it is more than aboveNs and less than belowNs. Neither bound is itself
// possible, except for an aboveNs of 0.
//
// A segment with n ticks lies between two ticks that are n+1 intervals apart, and contains two
// ticks that are n-1 intervals apart (Bryant 2003, practice problem 9.4: 70 ms recorded at 10 ms a
// tick are more than 60 and less than 80). Each further segment widens the bounds by one interval
// at both ends. The count allows no narrower bounds, however many ticks there are.
func TimeBounds(ticks, segments int, intervalNs float64) (aboveNs, belowNs float64) {
	if segments <= 0 {
		return 0, 0
	}
	return math.Max(0, float64(ticks-segments)) * intervalNs, float64(ticks+segments) * intervalNs
}
