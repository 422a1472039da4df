package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"chronoscope/record"
)

// machineLines says what machine the document is of.
func machineLines(w io.Writer, h record.Header, s Style) {
	m := h.Machine
	cpus := fmt.Sprintf("%d CPUs", m.CPUs)
	if m.CPUs == 1 {
		cpus = "1 CPU"
	}
	facts := []string{or(string(m.CPU), "unknown CPU"), cpus}
	if m.CoreHz != nil {
		facts = append(facts, fmt.Sprintf("core at %.2f GHz", *m.CoreHz/1e9))
	}
	if m.TSCHz != nil {
		facts = append(facts, fmt.Sprintf("counter at %.6f MHz", *m.TSCHz/1e6))
	}
	fmt.Fprintln(w, s.bold(strings.Join(facts, ", ")))
	var below []string
	for _, fact := range []struct{ name, value string }{
		{"", strings.TrimSpace(string(m.OS) + " " + string(m.Kernel))},
		{"clocksource ", string(m.Clocksource)},
		{"hypervisor ", string(m.Hypervisor)},
		{"", string(m.Go)},
	} {
		if fact.value != "" {
			below = append(below, fact.name+fact.value)
		}
	}
	if m.Load1 != nil {
		below = append(below, fmt.Sprintf("load %.2f", *m.Load1))
	}
	fmt.Fprintln(w, s.dim(strings.Join(below, ", ")))
	fmt.Fprintln(w)
}

// caveats says what limits the whole document.
func caveats(w io.Writer, h record.Header, s Style) {
	if h.Interrupted {
		fmt.Fprintln(w, "Interrupted: this is what was measured so far.")
	}
	if len(h.Caveats) == 0 {
		return
	}
	fmt.Fprintln(w, s.bold("Caveats"))
	var unknown []string
	for _, c := range h.Caveats {
		topic, _, named := strings.Cut(c, ":")
		if named && h.Command != "doctor" && h.Machine != nil && slices.Contains(h.Machine.Caveats, c) {
			unknown = append(unknown, topic)
			continue
		}
		fmt.Fprintf(w, "  %s\n", c)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(w, "  not known of this machine, or in part: %s; chronoscope doctor says why\n", strings.Join(unknown, ", "))
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
