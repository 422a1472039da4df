package render

import (
	"fmt"
	"strings"
)

// mark is the shape of a point: a circle, or lines through some corners.
type mark struct {
	Name   string
	Radius float64
	Lines  [][][2]float64 // each line goes from corner to corner
	Class  string         // hollow marks are outlines, others are filled
}

// marks are all shapes, relative to the position of the point.
var marks = []mark{
	{Name: "dot", Radius: 3.4},
	{Name: "ring", Radius: 3.4, Class: "hollow"},
	{Name: "diamond", Lines: [][][2]float64{{{0, -6}, {5, 0}, {0, 6}, {-5, 0}}}},
	{Name: "square", Lines: [][][2]float64{{{-3.2, -3.2}, {3.2, -3.2}, {3.2, 3.2}, {-3.2, 3.2}}}},
	{Name: "triangle", Lines: [][][2]float64{{{0, -4.4}, {4, 3.2}, {-4, 3.2}}}},
	{Name: "cross", Class: "hollow", Lines: [][][2]float64{{{-3.2, -3.2}, {3.2, 3.2}}, {{3.2, -3.2}, {-3.2, 3.2}}}},
	{Name: "plus", Class: "hollow", Lines: [][][2]float64{{{-4, 0}, {4, 0}}, {{0, -4}, {0, 4}}}},
	{Name: "tick", Class: "hollow", Lines: [][][2]float64{{{0, -4}, {0, 4}}}},
	{Name: "left", Class: "hollow heavy", Lines: [][][2]float64{{{6, -5}, {0, 0}, {6, 5}}}}, // says that the line extends beyond this edge
	{Name: "right", Class: "hollow heavy", Lines: [][][2]float64{{{-6, -5}, {0, 0}, {-6, 5}}}},
	{Name: "bar", Class: "hollow heavy", Lines: [][][2]float64{{{0, -10}, {0, 10}}}},
}

// Path returns the mark as a path of an SVG file.
func (m mark) Path() string {
	var b strings.Builder
	for _, line := range m.Lines {
		for i, at := range line {
			fmt.Fprintf(&b, "%s%g %g", map[bool]string{true: "M", false: "L"}[i == 0], at[0], at[1])
		}
		if m.Class == "" {
			b.WriteString("Z")
		}
	}
	return b.String()
}
