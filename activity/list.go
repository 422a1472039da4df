package activity

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// WriteList writes the trace in the format of Figures 9.3 and 9.5 of Bryant 2003: one line per
// period, with the cause of inactivity at its end.
func WriteList(w io.Writer, t *Trace) error {
	out := bufio.NewWriter(w)
	for p := range t.Periods {
		state, cause := "A", ""
		if !p.Active {
			state, cause = "I", "  "+p.Cause.String()
		}
		fmt.Fprintf(out, "%s%d\tTime\t%d\t(%.2f ms),\tDuration\t%d\t(%.6f ms)%s\n",
			state, p.Number, p.Start, t.Ns(p.Start)/1e6, p.Ticks, t.Ns(p.Ticks)/1e6, cause)
	}
	return out.Flush()
}

// listLine matches a line of a list. The times in parentheses follow from the ticks before them,
// and are ignored.
var listLine = regexp.MustCompile(`^([AI])(\d+)\s+Time\s+(\d+)\s+\([^)]*\),\s+Duration\s+(\d+)\s+\([^)]*\)`)

// ReadList reads a list as [WriteList] writes it and as the source prints it. Its clock had ticks
// of tickNs. The trace begins with the first period, whatever its time.
//
// The error names the first line that can't be read, or whose period does not follow the previous
// one.
func ReadList(r io.Reader, tickNs float64) (*Trace, error) {
	t := &Trace{TickNs: tickNs, CPU: -1}
	lines := bufio.NewScanner(r)
	var origin, end int64
	for n := 1; lines.Scan(); n++ {
		fields := listLine.FindStringSubmatch(lines.Text())
		if fields == nil {
			return nil, fmt.Errorf("activity: line %d is %.60q: want a period such as \"I3 Time 117 (0.1 ms), Duration 14 (0.0 ms)\"", n, lines.Text())
		}
		start, err1 := strconv.ParseInt(fields[3], 10, 64)
		ticks, err2 := strconv.ParseInt(fields[4], 10, 64)
		if err1 != nil || err2 != nil || start > 1<<61 || ticks > 1<<61 {
			return nil, fmt.Errorf("activity: line %d: a time or duration beyond what a trace can hold", n)
		}
		if n == 1 {
			origin, end = start, start
		}
		if start != end {
			return nil, fmt.Errorf("activity: line %d starts at %d, the period before ends at %d: list all periods in order", n, start, end)
		}
		if fields[1] == "I" {
			t.Gaps = append(t.Gaps, Gap{Start: start - origin, Ticks: ticks})
		}
		end = start + ticks
	}
	t.Length = end - origin
	return t, lines.Err()
}
