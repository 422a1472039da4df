package view

import (
	"math"

	"chronoscope/record"
	"chronoscope/stats"
)

// These are the topics of figures.
const (
	TopicBest      = "best clock"
	TopicClock     = "clock"
	TopicCounter   = "counter"
	TopicNoise     = "noise"
	TopicProgram   = "program"
	TopicBenchmark = "benchmark"
	TopicEvent     = "event"
	TopicMethod    = "method"
	TopicBytecode  = "instruction"
	TopicLateness  = "lateness"
)

// These values say which direction is better.
const (
	Lower   = "lower"
	Higher  = "higher"
	Neither = ""
)

// These are the quantities of programs and benchmarks. A wall time stands in for the time on a
// machine without other programs if one of the subjects has only the wall time.
const (
	QuantityTime = "time"
	QuantityWall = "wall time"
	QuantityCPU  = "CPU time"
)

// QualityRepeatability is how much a clock's quality differs between two measurements: clocks whose
// qualities are closer than that are tied in the ranking, too.
const QualityRepeatability = 0.015

// FigureKey identifies the same figure in several documents.
type FigureKey struct{ Topic, Name, Quantity string }

// Figure is one value of a document that can be compared with that of another document.
type Figure struct {
	FigureKey
	Better string
	record.ComparisonValue
	Samples []float64 // the samples behind the value, if they are known
	// Repeatability is how much the value differs between two measurements, in its unit, for values
	// without an interval; NaN if that is not known.
	Repeatability float64
	// Work names the work that was measured, if values of other work under the same name can't be
	// compared with this one; empty if the name identifies the work.
	Work string
	// StandIn names another quantity for which this figure stands in: the figure is used only if
	// not all documents have the other quantity.
	StandIn string
}

// FiguresOf returns the figures of a document, in its order.
func FiguresOf(d record.Document) []Figure {
	if k, known := kindOfDocument(d); known && k.figures != nil {
		return k.figures(d)
	}
	return nil
}

// newFigure returns the figure of an estimate.
func newFigure(k FigureKey, better string, e stats.Estimate, v stats.Verdict, reasons []string) Figure {
	return Figure{
		FigureKey: k, Better: better, Repeatability: math.NaN(),
		ComparisonValue: record.ComparisonValue{Estimate: e, Verdict: v, Reasons: append([]string{}, reasons...)},
	}
}

// bareFigure returns the figure of a number that has no interval, or none if the number is not
// known.
func bareFigure[N number](k FigureKey, better, unit string, n N, v stats.Verdict, reasons []string) []Figure {
	x := floatOf(n)
	if !stats.IsFinite(x) {
		return nil
	}
	e := stats.Estimate{Value: x, Lo: math.NaN(), Hi: math.NaN(), Unit: unit, Statistic: k.Quantity, N: 1}
	return []Figure{newFigure(k, better, e, v, reasons)}
}

// timeFigure adds the figure of a time, with its samples, if the time is known.
func timeFigure(all []Figure, k FigureKey, e stats.Estimate, v stats.Verdict, reasons []string, samples []float64) []Figure {
	if !(e.Value > 0) || e.N == 0 || math.IsInf(e.Value, 0) {
		return all
	}
	f := newFigure(k, Lower, e, v, reasons)
	f.Samples = samples
	if k.Quantity == QuantityWall {
		f.StandIn = QuantityTime
	}
	return append(all, f)
}
