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

// Values of [Figure].Better: the direction in which a figure improves.
const (
	Lower   = "lower"
	Higher  = "higher"
	Neither = ""
)

// Quantities of programs and benchmarks. The wall time stands in for the time alone if fewer
// subjects have the time alone.
const (
	QuantityTime = "time"
	QuantityWall = "wall time"
	QuantityCPU  = "CPU time"
)

// QualityRepeatability is the difference of a clock's quality between two measurements that noise
// alone explains. Clocks whose qualities differ by less are tied in a ranking.
const QualityRepeatability = 0.015

// FigureKey identifies the same figure in several documents.
type FigureKey struct{ Topic, Name, Quantity string }

// Figure is one value of a document that can be compared with that of another document.
type Figure struct {
	FigureKey
	Better string
	record.ComparisonValue
	Samples []float64 // the samples behind the value, if they are known
	// Repeatability is the difference between two measurements of the value that noise alone
	// explains, in the value's unit. It is used for values without an interval; NaN if not known.
	Repeatability float64
	// Work names the measured work if the figure's name does not identify it. Figures of different
	// work can't be compared.
	Work string
	// Revision is the revision of the code that was measured if it is not the document's own, but one that the document
	// compares with; empty otherwise.
	Revision string
	// StandIn names another quantity, which is compared instead of this one if as many documents
	// have it; empty for none.
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

// timeFigure adds the figure of a time, with its samples, if the time is known. For what failed, each of its two times
// (time and wall time) gets an unusable figure without a value, so that a comparison with a record that knows either
// one shows the failure.
func timeFigure(all []Figure, k FigureKey, e stats.Estimate, v stats.Verdict, reasons []string, samples []float64) []Figure {
	failed := v == stats.Unusable && (k.Quantity == QuantityTime || k.Quantity == QuantityWall)
	if known := e.Value > 0 && e.N > 0 && !math.IsInf(e.Value, 0); !known && !failed {
		return all
	}
	f := newFigure(k, Lower, e, v, reasons)
	f.Samples = samples
	if k.Quantity == QuantityWall {
		f.StandIn = QuantityTime
	}
	return append(all, f)
}
