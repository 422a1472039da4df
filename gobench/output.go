package gobench

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// resultOf finds the last result of a benchmark in what a test binary printed. The benchmark may have printed
// something itself, with or without a line break.
func resultOf(output, name string) (o Observation, a account, err error) {
	found := resultLine(name).FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return o, a, fmt.Errorf("it printed no result")
	}
	last := found[len(found)-1]
	o.Procs = 1
	if last[1] != "" {
		if o.Procs, err = strconv.Atoi(last[1]); err != nil {
			return o, a, fmt.Errorf("its result is malformed: %q", clip(last[0]))
		}
	}
	o.N, err = strconv.Atoi(last[2])
	if err != nil || o.N < 1 {
		return o, a, fmt.Errorf("its result is malformed: %q", clip(last[0]))
	}
	timed, accounted := false, false
	for field := range strings.SplitSeq(last[3], "\t") {
		if text, ok := strings.CutPrefix(field, accountMark); ok {
			if a, err = parseAccount(text); err != nil {
				return o, a, err
			}
			accounted = true
			continue
		}
		value, unit, ok := strings.Cut(strings.TrimSpace(field), " ")
		number, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			continue
		}
		if unit != "ns/op" {
			o.Metrics = append(o.Metrics, Metric{Unit: unit, Value: number})
			continue
		}
		timed = true
		o.TimedNs, o.RoundingNs = number*float64(o.N), roundingOf(value)*float64(o.N)
	}
	switch {
	case timed:
	case accounted && !strings.Contains(last[3], " ns/op"): // b.ReportMetric(0, "ns/op") hides it
		o.TimedNs, o.RoundingNs = a.timedNs, 0.5
	default:
		return o, a, fmt.Errorf("it reports no ns/op: leave out what hides or replaces it, such as b.ReportMetric(0, \"ns/op\")")
	}
	return o, a, nil
}

// resultLine matches the line of a benchmark's result.
func resultLine(name string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(name) + `(?:-(\d+))?[ \t]+(\d+)\t(.*)`)
}

// printsResult reports whether there is a result of a benchmark, even a malformed one. A benchmark that calls
// b.Run has none.
func printsResult(output, name string) bool { return resultLine(name).MatchString(output) }

// roundingOf returns half a unit of the last digit of a number.
func roundingOf(number string) float64 {
	_, decimals, _ := strings.Cut(number, ".")
	return 0.5 * math.Pow(10, -float64(len(decimals)))
}

// listing is what a run of all benchmarks, with one iteration each, says about them.
type listing struct {
	measurable, skipped []string
	accounts            []bool // which of the measurable ones read their own counters
	failed              []*FailedError
	// begun has all benchmarks, and unfinished those without a result, in the order in which they began.
	begun, unfinished []string
}

var events = regexp.MustCompile(`(=== RUN   |--- (?:FAIL|SKIP|BENCH): )(Benchmark\S*)`)

// parseListing reads the output of a run with -test.v=test2json, the only form that tells when a benchmark
// begins.
func parseListing(output string) (l listing) {
	ended := map[string]bool{}
	for _, at := range events.FindAllStringSubmatchIndex(output, -1) {
		event, name := output[at[2]:at[3]], output[at[4]:at[5]]
		switch {
		case strings.HasPrefix(event, "=== RUN"):
			l.begun = append(l.begun, name)
		case strings.Contains(event, "FAIL"):
			name = begunName(l.begun, name)
			ended[name] = true
			if slices.ContainsFunc(l.failed, func(f *FailedError) bool { return strings.HasPrefix(f.Benchmark.Name, name+"/") }) {
				continue // one of its sub-benchmarks fails
			}
			l.failed = append(l.failed, &FailedError{Benchmark: Benchmark{Name: name}, Why: "it fails", Output: said(output, name, at[1])})
		case strings.Contains(event, "SKIP"):
			ended[name] = true
			l.skipped = append(l.skipped, name)
		}
	}
	for i, name := range l.begun {
		if ended[name] || i+1 < len(l.begun) && strings.HasPrefix(l.begun[i+1], name+"/") {
			continue
		}
		if _, a, err := resultOf(output, name); err == nil {
			l.measurable, l.accounts = append(l.measurable, name), append(l.accounts, len(a.threads) > 0)
		} else {
			l.unfinished = append(l.unfinished, name)
		}
	}
	return l
}

// ending returns the benchmark that ended its process: that named by the stack of a panic, or else the last that began, if it
// has no result; empty otherwise. An earlier benchmark without a result may only have sub-benchmarks. After a panic the testing
// package may begin the next benchmark before the process ends. A panic with an event or a result behind it did not end the
// process: the benchmark recovered, and printed the stack.
func (l listing) ending(output string) string {
	stack := ""
	if all := panics.FindAllStringIndex(output, -1); len(all) > 0 {
		stack = output[all[len(all)-1][0]:]
	}
	if !tells.MatchString(stack) {
		for _, called := range benchmarkFunction.FindAllStringSubmatch(stack, -1) {
			for _, name := range slices.Backward(slices.Concat(l.begun, l.unfinished)) {
				if name == called[1] || strings.HasPrefix(name, called[1]+"/") {
					return name
				}
			}
		}
	}
	if last := len(l.begun) - 1; last >= 0 && slices.Contains(l.unfinished, l.begun[last]) {
		return l.begun[last]
	}
	return ""
}

// panics matches how the report of a panic begins.
var panics = regexp.MustCompile(`(?m)^(?:panic|fatal error): `)

// benchmarkFunction matches the function of a benchmark in a stack.
var benchmarkFunction = regexp.MustCompile(`\.(Benchmark\w*)`)

// said returns what was printed from the beginning of a benchmark until the event that follows its failure. The
// report of the failure ends at end.
func said(output, name string, end int) string {
	from := max(0, strings.LastIndex(output[:end], "=== RUN   "+name))
	rest, _, _ := strings.Cut(output[end:], "\x16")
	return output[from:end] + rest
}

// begunName removes GOMAXPROCS from a name, which may be there in the report of a failure. It may not be: a name may end
// with a number of its own.
func begunName(begun []string, name string) string {
	if slices.Contains(begun, name) {
		return name
	}
	for _, b := range begun {
		if suffix, ok := strings.CutPrefix(name, b+"-"); ok {
			if _, err := strconv.Atoi(suffix); err == nil {
				return b
			}
		}
	}
	return name
}

// exactly returns the pattern that matches one benchmark, level by level (go help testflag).
func exactly(name string) string {
	levels := strings.Split(name, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// outline keeps the lines that tell of benchmarks, and of what is written between them the beginning and the end. So no
// benchmark is lost, however much they print.
type outline struct {
	kept    strings.Builder
	between tail
	line    []byte // the end of the current line
}

// longestLine is the length from which only the end of a line is kept in one piece: a result may stand behind what its
// benchmark printed without a line break.
const longestLine = 1 << 16

// tells matches a line with an event or with a result.
var tells = regexp.MustCompile(events.String() + `|Benchmark\S*[ \t]+\d+\t`)

func (o *outline) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		o.line = append(o.line, part...)
		if over := len(o.line) - longestLine; over > longestLine {
			o.between.Write(o.line[:over])
			o.line = append(o.line[:0], o.line[over:]...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			o.endLine()
		}
	}
	return len(p), nil
}

func (o *outline) endLine() {
	if bytes.Contains(o.line, []byte("Benchmark")) && tells.Match(o.line) { // the first test is much faster
		o.kept.WriteString(shortened(o.between.String()))
		o.kept.Write(o.line)
		o.between = tail{}
	} else {
		o.between.Write(o.line)
	}
	o.line = o.line[:0]
}

// String returns what is kept. More is kept of what was written last, which tells why a process ended.
func (o *outline) String() string { return o.kept.String() + o.between.String() + string(o.line) }

// shortened returns the beginning and the end of a text, if it is long.
func shortened(text string) string {
	const most = 4096
	if len(text) <= 2*most {
		return text
	}
	return text[:most] + "\n...\n" + text[len(text)-most:]
}

// tail keeps the first and the last bytes that are written, so that a benchmark that prints without end fills
// no memory.
type tail struct {
	first, last []byte
	cut         bool
}

const (
	firstBytes = 1 << 18
	lastBytes  = 1 << 18
)

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	room := min(len(p), firstBytes-len(t.first))
	t.first, p = append(t.first, p[:room]...), p[room:]
	t.last = append(t.last, p...)
	if over := len(t.last) - 2*lastBytes; over > 0 {
		t.last = append(t.last[:0], t.last[len(t.last)-lastBytes:]...)
		t.cut = true
	}
	return n, nil
}

func (t *tail) String() string {
	if t.cut {
		return string(t.first) + "\n...\n" + string(t.last)
	}
	return string(t.first) + string(t.last)
}
