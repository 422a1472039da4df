package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/machine"
	"chronoscope/record"
)

// Doctor writes for people what will disturb measurements, the worst first.
func Doctor(w io.Writer, d record.Doctor, s Style) {
	machineLines(w, d.Header, s)
	topics := map[machine.Severity][]string{}
	for _, f := range d.Findings {
		topics[f.Severity] = append(topics[f.Severity], f.Topic)
	}
	fmt.Fprintf(w, "%s\n\n", diagnosis(topics))
	for _, f := range d.Findings {
		if f.Severity != machine.OK {
			fmt.Fprintf(w, "%s %s: %s\n", s.severity(f.Severity), s.bold(f.Topic), f.Seen)
			fmt.Fprintf(w, "  effect: %s\n  fix: %s\n\n", f.Effect, f.Fix)
		}
	}
	if fine := topics[machine.OK]; len(fine) > 0 {
		fmt.Fprintf(w, "%s %s\n\n", s.severity(machine.OK), strings.Join(fine, ", "))
	}
	caveats(w, d.Header, s)
}

// diagnosis is the result in one line.
func diagnosis(topics map[machine.Severity][]string) string {
	warnings, notes, fine := len(topics[machine.Warning]), len(topics[machine.Note]), len(topics[machine.OK])
	switch {
	case warnings > 0:
		return fmt.Sprintf("Measurements will be spoilt here: %s, %s, %d ok.", numbered(warnings, "warning"), numbered(notes, "note"), fine)
	case notes > 0:
		return fmt.Sprintf("Nothing here spoils measurements: %s to keep in mind, %d ok.", numbered(notes, "note"), fine)
	case fine > 0:
		return fmt.Sprintf("Nothing was found that disturbs measurements: %s looked at, all ok.", numbered(fine, "thing"))
	}
	return "Nothing could be looked at: the caveats say why."
}

func numbered(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (s Style) severity(v machine.Severity) string {
	colors := map[machine.Severity]text.Colors{
		machine.OK: {text.FgGreen}, machine.Note: {text.FgYellow}, machine.Warning: {text.FgRed},
	}
	return s.paint(colors[v], "%s", v)
}

// DoctorCSV writes one row a finding; columns are named as the JSON fields.
func DoctorCSV(w io.Writer, d record.Doctor) error {
	out := csv.NewWriter(w)
	out.Write([]string{"topic", "severity", "seen", "effect", "fix"})
	for _, f := range d.Findings {
		out.Write([]string{f.Topic, string(f.Severity), f.Seen, f.Effect, f.Fix})
	}
	out.Flush()
	return out.Error()
}
