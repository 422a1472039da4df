package render

import (
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// styleRule is a rule of the style sheet chart.css: an element (empty for any), and the classes
// that it must have.
type styleRule struct {
	element      string
	classes      []string
	weight       int // rules with more classes win, then those with more elements
	declarations map[string]string
}

// figureCSS is the style of a figure's texts; chart.css is that of its charts.
const figureCSS = `
text { fill: var(--ink); font-size: 13px; }
svg { color: var(--ink); }
text.title { font-size: 20px; font-weight: 600; }
text.heading { font-size: 15px; font-weight: 600; }
text.caption { fill: var(--muted); font-size: 12px; }
text.legend { fill: var(--muted); font-size: 12px; }
rect.paper { fill: var(--paper); }
`

// figureStyle returns the style sheet of a figure, in the light colours of a page.
var figureStyle = func() func() string {
	light := map[string]string{}
	root, _, _ := strings.Cut(asset("page.css"), "}")
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): *([^;]+);`).FindAllStringSubmatch(root, -1) {
		light[m[1]] = m[2]
	}
	css := regexp.MustCompile(`var\(--([a-z0-9-]+)\)`).ReplaceAllStringFunc(figureCSS+chartCSS, func(name string) string {
		return light[strings.TrimSuffix(strings.TrimPrefix(name, "var(--"), ")")]
	})
	return func() string { return css }
}()

// styleRules returns the rules of a figure's style sheet, for drawings without a browser.
var styleRules = func() (rules []styleRule) {
	for block := range strings.SplitSeq(figureStyle(), "}") {
		selectors, body, ok := strings.Cut(block, "{")
		if !ok {
			continue
		}
		declarations := map[string]string{}
		for one := range strings.SplitSeq(body, ";") {
			if name, value, ok := strings.Cut(one, ":"); ok {
				declarations[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
		for selector := range strings.SplitSeq(selectors, ",") {
			parts := strings.Fields(selector)
			element, classes, _ := strings.Cut(parts[len(parts)-1], ".")
			r := styleRule{element: element, declarations: declarations, weight: len(parts)}
			if classes != "" {
				r.classes = strings.Split(classes, ".")
			}
			r.weight += 10 * len(r.classes)
			rules = append(rules, r)
		}
	}
	slices.SortStableFunc(rules, func(a, b styleRule) int { return a.weight - b.weight })
	return rules
}()

// look holds the style properties of an element.
type look map[string]string

// lookOf returns the look of an element with some classes.
func lookOf(element, classes string) look {
	has := strings.Fields(classes)
	l := look{}
	if element != "svg" {
		l["color"] = lookOf("svg", "")["color"] // inherited
	}
	for _, r := range styleRules {
		if r.element != "" && r.element != element || slices.ContainsFunc(r.classes, func(c string) bool { return !slices.Contains(has, c) }) {
			continue
		}
		for name, value := range r.declarations {
			l[name] = value
		}
	}
	return l
}

// number returns a property without its unit, or otherwise if the look does not have it.
func (l look) number(name string, otherwise float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(l[name], "px"), 64)
	if err != nil {
		return otherwise
	}
	return v
}

// color returns a property's colour; false if nothing is painted.
func (l look) color(name string) (color.NRGBA, bool) {
	value := l[name]
	if value == "currentColor" {
		value = l["color"]
	}
	digits := strings.TrimPrefix(value, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	rgb, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		return color.NRGBA{}, false
	}
	return color.NRGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), uint8(255 * l.number("opacity", 1))}, true
}

// dashes returns the lengths of strokes and gaps; none for a solid line.
func (l look) dashes() (all []float64) {
	for part := range strings.FieldsSeq(l["stroke-dasharray"]) {
		if v, err := strconv.ParseFloat(part, 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}
