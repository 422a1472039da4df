package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Line is the straight line y = Intercept + Slope x through points. The unit
// of the slope is that of y over that of x, that of the intercept is that of
// y; both are left empty for the caller, who knows them ([Estimate.Scaled]).
type Line struct {
	Slope, Intercept Estimate
	// ResidualSD is the standard deviation of the points from the line, in the
	// unit of y; NaN where a method does not rest on one.
	ResidualSD float64
}

// At is the line's y at x.
func (l Line) At(x float64) float64 { return l.Intercept.Value + l.Slope.Value*x }

// LeastSquares is the line with the least sum of squared distances in y, with
// intervals by Student's t with n-2 degrees of freedom (Draper and Smith,
// Applied Regression Analysis, 3rd ed., section 1.4). They hold where the
// errors in y are independent and near normal; for errors with outliers use
// [TheilSen].
//
// Move the origin near the points first where x or y are large beside their
// range, as tick counts are: a float64 holds 16 digits.
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

// residualSquares sums the squared distances in y from the line through the
// means with this slope. Taking the means off first keeps digits that the
// intercept would lose.
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

// checkPoints refuses points that no line can be laid through.
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
