package cli

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A parameter takes each of its values in the commands that contain its name in braces.
type parameter struct {
	name   string
	values []string
}

// mostCommands is the largest number of commands that parameters may make.
const mostCommands = 1000

// values holds the parameters of one command by name.
type values map[string]string

var parameterForm = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_-]*)=(.+)$`)

// parseParameter reads NAME=VALUE,... A value may also be a range of whole or decimal numbers, FIRST..LAST or
// FIRST..LAST..STEP.
func parseParameter(text string) (parameter, error) {
	parts := parameterForm.FindStringSubmatch(text)
	if parts == nil {
		return parameter{}, fmt.Errorf("invalid value %q: give NAME=VALUES, such as n=1,10,100 or n=1..8", text)
	}
	p := parameter{name: parts[1]}
	for element := range strings.SplitSeq(parts[2], ",") {
		more, err := valuesOfElement(element)
		if err != nil {
			return p, fmt.Errorf("%q: %w", text, err)
		}
		p.values = append(p.values, more...)
		if len(p.values) > mostCommands {
			return p, fmt.Errorf("%q has more than %d values: give fewer, or a range in steps, such as 0..1000..50", text, mostCommands)
		}
	}
	return p, nil
}

// rangeForm matches a range of decimal numbers, and almostRange a text that was probably meant as one.
var (
	rangeForm   = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)(?:\.\.([0-9]+(?:\.[0-9]+)?))?$`)
	almostRange = regexp.MustCompile(`^[-+]?\.?[0-9][-+.0-9]*\.\.[-+.0-9]*$`)
)

// valuesOfElement returns the numbers of a range, or the element itself.
func valuesOfElement(element string) ([]string, error) {
	if element == "" {
		return nil, fmt.Errorf("a value is empty: leave out the comma")
	}
	parts := rangeForm.FindStringSubmatch(element)
	switch {
	case parts == nil && almostRange.MatchString(element):
		return nil, fmt.Errorf("%s is no range: write FIRST..LAST or FIRST..LAST..STEP, such as 1..8, 0..100..20 or 0.3..0.5..0.05", element)
	case parts == nil:
		return []string{element}, nil
	}
	decimals := 0
	for _, digits := range parts[1:] {
		if _, fraction, isDecimal := strings.Cut(digits, "."); isDecimal {
			decimals = max(decimals, len(fraction))
		}
	}
	if decimals > 0 && parts[3] == "" {
		return nil, fmt.Errorf("the range %s has no step: write FIRST..LAST..STEP, such as 0.3..0.5..0.05", element)
	}
	bounds := [3]int{2: 1}
	for i, digits := range parts[1:] {
		if digits == "" {
			continue
		}
		n, err := scaled(digits, decimals)
		if err != nil {
			return nil, fmt.Errorf("%s is too large a number for a range, or has too many decimals", digits)
		}
		bounds[i] = n
	}
	first, last, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, fmt.Errorf("the range %s stands still: give a step above 0", element)
	}
	if first > last {
		step = -step
	}
	var all []string
	for n := first; (n <= last) == (step > 0) || n == last; n += step {
		if all = append(all, unscaled(n, decimals)); len(all) > mostCommands {
			break
		}
	}
	return all, nil
}

// scaled returns a decimal number times 10^decimals, which is whole.
func scaled(number string, decimals int) (int, error) {
	whole, fraction, _ := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 32)
	return int(n), err
}

// unscaled writes n / 10^decimals with all of its decimals; it is the reverse of scaled.
func unscaled(n, decimals int) string {
	exact, _ := new(big.Rat).SetString(fmt.Sprintf("%de-%d", n, decimals))
	return exact.FloatString(decimals)
}

// parseParameters reads the values of all --param flags. A name may be given once.
func parseParameters(texts []string) ([]parameter, error) {
	var all []parameter
	for _, text := range texts {
		p, err := parseParameter(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other parameter) bool { return other.name == p.name }) {
			return nil, fmt.Errorf("%s is given twice: join its values with commas", p.name)
		}
		all = append(all, p)
	}
	return all, nil
}

// combinations returns all choices of values for the parameters; those of the last parameter change fastest.
// Without parameters it returns a single empty choice.
func combinations(parameters []parameter) []values {
	all := []values{{}}
	for _, p := range parameters {
		var longer []values
		for _, chosen := range all {
			for _, value := range p.values {
				next := values{p.name: value}
				for name, v := range chosen {
					next[name] = v
				}
				longer = append(longer, next)
			}
		}
		all = longer
	}
	return all
}

// count returns the number of combinations, or mostCommands + 1 if there are more than mostCommands.
func count(parameters []parameter) int {
	n := 1
	for _, p := range parameters {
		n = min(n*len(p.values), mostCommands+1)
	}
	return n
}

// named returns the parameters that a text names in braces.
func named(parameters []parameter, text string) []parameter {
	return slices.DeleteFunc(slices.Clone(parameters), func(p parameter) bool {
		return !strings.Contains(text, "{"+p.name+"}")
	})
}

// in replaces the names in a text by their values. Names within values are not replaced.
func (v values) in(text string) string {
	var pairs []string
	for name, value := range v {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
