package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"chronoscope/activity"
)

// ChromeTrace writes traces in the Trace Event Format (JSON object form, with
// complete events), which Perfetto and chrome://tracing open: a process for each
// CPU, and an event for each period of inactivity, named after its cause.
// Times are in microseconds there.
func ChromeTrace(w io.Writer, traces []*activity.Trace) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, `{"displayTimeUnit":"ns","traceEvents":[`)
	separator := "\n"
	event := func(e map[string]any) error {
		text, err := json.Marshal(e)
		fmt.Fprintf(out, "%s%s", separator, text)
		separator = ",\n"
		return err
	}
	for n, t := range traces {
		if err := event(map[string]any{"ph": "M", "name": "process_name", "pid": n, "tid": 0, "args": map[string]any{"name": cpuName(t)}}); err != nil {
			return err
		}
		for _, g := range t.Gaps {
			err := event(map[string]any{
				"ph": "X", "cat": "inactive", "name": g.Cause.String(), "pid": n, "tid": 0,
				"ts": t.Ns(g.Start) / 1e3, "dur": t.Ns(g.Ticks) / 1e3, "args": map[string]any{"ticks": g.Ticks},
			})
			if err != nil {
				return err
			}
		}
	}
	fmt.Fprint(out, "\n]}\n")
	return out.Flush()
}
