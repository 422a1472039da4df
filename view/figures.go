package view

import (
	"math"

	"chronoscope/record"
	"chronoscope/stats"
)

// Topics of figures.
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

// Directions: which values are better.
const (
	Lower   = "lower"
	Higher  = "higher"
	Neither = ""
)

// Quantities of programs and benchmarks. A wall time stands in for the time on a machine
// of its own where one of the subjects has no other.
const (
	QuantityTime = "time"
	QuantityWall = "wall time"
	QuantityCPU  = "CPU time"
)

// QualityRepeatability is by how much a clock's quality differs from one measurement to
// the next: clocks that are nearer to one another are tied in the ranking, too.
const QualityRepeatability = 0.015

// FigureKey identifies the same figure in several documents.
type FigureKey struct{ Topic, Name, Quantity string }

// Figure is one value of a document, which can be set beside that of another.
type Figure struct {
	FigureKey
	Better string
	record.ComparisonValue
	Samples []float64 // that the value is made of, where they are known
	// Repeatability is how far the value strays from one measurement to the next, in its
	// unit, where it has no interval that says so; NaN where that is not known.
	Repeatability float64
	// Work names the work that was measured, if values of other work under the same name can't be
	// compared with this one; empty if the name says it.
	Work string
	// StandIn is for another quantity of the same name: the figure is of use only where that
	// one can't be had of all documents.
	StandIn string
}

// FiguresOf returns the figures of a document, in its order.
func FiguresOf(d record.Document) []Figure {
	if k, known := kindOfDocument(d); known && k.figures != nil {
		return k.figures(d)
	}
	return nil
}

// newFigure is the figure of an estimate.
func newFigure(k FigureKey, better string, e stats.Estimate, v stats.Verdict, reasons []string) Figure {
	return Figure{
		FigureKey: k, Better: better, Repeatability: math.NaN(),
		ComparisonValue: record.ComparisonValue{Estimate: e, Verdict: v, Reasons: append([]string{}, reasons...)},
	}
}

// bareFigure is the figure of a number that has no interval; empty where the number is not
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
