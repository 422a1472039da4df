package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Line is the straight line y = Intercept + Slope x through points. The unit of the slope is the unit
// of y divided by that of x, and the unit of the intercept is that of y. Both are left empty; the
// caller sets them ([Estimate.Scaled]).
type Line struct {
	Slope, Intercept Estimate
	// ResidualSD is the standard deviation of the points from the line, in the unit of y; NaN if the
	// method does not use one.
	ResidualSD float64
}

// At returns the line's y at x.
func (l Line) At(x float64) float64 { return l.Intercept.Value + l.Slope.Value*x }

// LeastSquares returns the line with the least sum of squared distances in y. Its intervals are from
// Student's t with n-2 degrees of freedom (Draper and Smith, Applied Regression Analysis, 3rd ed.,
// section 1.4). They hold if the errors in y are independent and nearly normal; for errors with
// outliers use [TheilSen].
//
// If x or y are large compared with their range, as tick counts are, first move the origin near the
// points, because a float64 holds only 16 digits.
func LeastSquares(x, y []float64) (Line, error) {
	if err := checkPoints(x, y, "a least squares line with its interval", 3); err != nil {
		return Line{}, err
	}
	n := float64(len(x))
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	meanX, varX := stat.MeanVariance(x, nil)
	sumSquaresX := varX * (n - 1)
	residualSD := math.Sqrt(residualSquares(x, y, slope) / (n - 2))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile(1 - tail)

	slopeSE := residualSD / math.Sqrt(sumSquaresX)
	interceptSE := residualSD * math.Sqrt(1/n+meanX*meanX/sumSquaresX)
	return Line{
		Slope:      symmetric(slope, t*slopeSE, "slope", len(x)),
		Intercept:  symmetric(intercept, t*interceptSE, "intercept", len(x)),
		ResidualSD: residualSD,
	}, nil
}

// residualSquares returns the sum of the squared distances in y from the line of this slope through the
// means. It subtracts the means first, because the intercept would lose digits.
func residualSquares(x, y []float64, slope float64) float64 {
	meanX, meanY := stat.Mean(x, nil), stat.Mean(y, nil)
	sum := 0.0
	for i := range x {
		d := (y[i] - meanY) - slope*(x[i]-meanX)
		sum += d * d
	}
	return sum
}

func symmetric(value, halfWidth float64, statistic string, n int) Estimate {
	return Estimate{Value: value, Lo: value - halfWidth, Hi: value + halfWidth, Statistic: statistic, N: n}
}

// checkPoints returns an error if no line can be fitted to the points.
func checkPoints(x, y []float64, want string, need int) error {
	if len(x) != len(y) {
		return fmt.Errorf("stats: a line needs an x for each y, there are %d and %d", len(x), len(y))
	}
	if len(x) < need {
		return &TooFewError{Want: want, Have: len(x), Need: need}
	}
	if err := checkFinite("x", x); err != nil {
		return err
	}
	if err := checkFinite("y", y); err != nil {
		return err
	}
	for _, xi := range x {
		if xi != x[0] {
			return nil
		}
	}
	return fmt.Errorf("stats: no slope through %d points that all have x = %v: spread the points out", len(x), x[0])
}
