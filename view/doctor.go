package view

import (
	"fmt"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(40, "doctor", doctor,
	listing(func(d record.Doctor) []machine.Finding { return d.Findings }, "topic severity seen effect fix"), nil)

// doctor shows what disturbs measurements, the worst first.
func doctor(d record.Doctor) *Sheet {
	s := sheet("Doctor", d.Header)
	s.Caveats = d.Header.Caveats // all caveats, since what is not known of the machine is the sheet's subject
	says := diagnosis(d.Findings)
	s.Tiles = []Tile{{Topic: "Diagnosis", Figure: stats.Count(severe(d.Findings, machine.Warning), "warning"), Sentence: says}}
	s.add(Section{Lines: []Line{{Text: says, In: InText}}, In: InText}, disturbances(d.Findings))
	return s
}

func severe(all []machine.Finding, s machine.Severity) int {
	return len(where(all, func(f machine.Finding) bool { return f.Severity == s }))
}

// diagnosis writes the result in one line.
func diagnosis(all []machine.Finding) string {
	warnings, notes, fine := severe(all, machine.Warning), severe(all, machine.Note), severe(all, machine.OK)
	switch {
	case warnings > 0:
		return fmt.Sprintf("Measurements will be spoilt here: %s, %s, %d ok.", stats.Count(warnings, "warning"), stats.Count(notes, "note"), fine)
	case notes > 0:
		return fmt.Sprintf("Nothing here spoils measurements: %s to keep in mind, %d ok.", stats.Count(notes, "note"), fine)
	case fine > 0:
		return fmt.Sprintf("Nothing was found that disturbs measurements: %s looked at, all ok.", stats.Count(fine, "thing"))
	}
	return "Nothing could be looked at: the caveats say why."
}

// disturbances lists what disturbs measurements, the worst first. Its table lists what needs no
// change.
func disturbances(all []machine.Finding) Section {
	t := table(words("topic", "found to be", "seen"))
	t.In = OnPage
	s := Section{Title: "What disturbs measurements here", Table: t}
	for _, severity := range []machine.Severity{machine.Warning, machine.Note, machine.OK} {
		for _, f := range where(all, func(f machine.Finding) bool { return f.Severity == severity }) {
			s.Findings = append(s.Findings, f)
			if severity == machine.OK {
				t.row(f.Topic, f.Severity, f.Seen)
			}
		}
	}
	return s
}
