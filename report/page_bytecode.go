package report

import (
	"fmt"
	"strings"

	"chronoscope/record"
)

// bytecodeSheet shows what the instructions of virtual machines take.
func bytecodeSheet(d record.Bytecode) *sheet {
	s := sheetOf("Bytecode", d.Header)
	for _, run := range append([]record.BytecodeRun{d.BytecodeRun}, d.Others...) {
		name := strings.TrimSpace(or(run.Java.Name, "Java") + " " + run.Java.Version)
		s.Tiles = append(s.Tiles, tile{
			Topic: name + ", " + run.Mode, Figure: fmt.Sprintf("%s a typical instruction", ns(run.Summary.MedianNs)), Verdict: run.Verdict,
			Sentence: fmt.Sprintf("Of %s, half take %s to %s.%s", numbered(len(run.Instructions), "form"), ns(run.Summary.Q1Ns), ns(run.Summary.Q3Ns), because(run.Reasons)),
		})
		s.add(instructionSection(run, name), agreementSection(run, name))
	}
	return s
}

// instructionSection shows the times of instructions, those of one kind in a row.
func instructionSection(run record.BytecodeRun, name string) section {
	var values []float64
	rows := map[string]*chartRow{}
	table := tableOf(words("instruction", "kind", "form"), figuresOf("time", "95 % interval", "by the counter", "trials"), words("verdict", "reasons"))
	for _, i := range run.Instructions {
		if rows[i.Kind] == nil {
			rows[i.Kind] = &chartRow{name: or(i.Kind, "other")}
		}
		row := rows[i.Kind]
		if i.Time.Value > 0 {
			values = append(values, i.Time.Value)
		}
		row.points = append(row.points, rowPoint{at: i.Time.Value, mark: "ring", class: "s1", rise: scattered(len(row.points)),
			title: fmt.Sprintf("%s, %s: %s", i.Mnemonic, i.Form, perOperation(i.Time))})
		row.figure = numbered(len(row.points), "form")
		table.row(i.Mnemonic, i.Kind, i.Form, perOperation(i.Time), span95(i.Time), perOperation(i.TSC), fmt.Sprint(i.Trials), i.Verdict, strings.Join(i.Reasons, "; "))
	}
	chart := rowChart{label: "Time of each instruction, by kind", title: "time of one instruction, on a logarithmic scale", x: logarithmic(values, tickDuration)}
	for _, kind := range distinct(run.Instructions, func(i record.BytecodeInstruction) string { return i.Kind }) {
		chart.rows = append(chart.rows, *rows[kind])
	}
	s := section{
		Title: "What the instructions take: " + name,
		Lead:  "A ring is an instruction in one form, measured by " + or(run.Method, "no method") + "; point at it for its name (after Lambert and Power 2008).",
		Table: table,
	}
	if len(values) > 0 {
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

// agreementSection sets a slow clock's times beside those of the processor's counter.
func agreementSection(run record.BytecodeRun, name string) section {
	var times []float64
	both, equal := series{look: 1}, series{look: 0, joined: true}
	table := tableOf(words("instruction", "form"), figuresOf("by "+or(run.Method, "the slow clock"), "by the counter"))
	for _, i := range run.Instructions {
		if i.Time.Value > 0 && i.TSC.Value > 0 {
			times = append(times, i.Time.Value, i.TSC.Value)
			table.row(i.Mnemonic, i.Form, perOperation(i.Time), perOperation(i.TSC))
			both.points = append(both.points, seriesPoint{i.Time.Value, i.TSC.Value, fmt.Sprintf("%s, %s: %s, by the counter %s", i.Mnemonic, i.Form, perOperation(i.Time), perOperation(i.TSC))})
		}
	}
	if len(both.points) == 0 {
		return section{}
	}
	var notes []string
	for _, f := range run.Fits {
		notes = append(notes, fmt.Sprintf("%s, %s: Pearson's r is %s, the slope %s, the median error %s and the largest %s.",
			f.Method, f.Pairing, tickOf(f.PearsonR), tickOf(&f.Slope), relativeOf(f.MedianError), relativeOf(f.MaxError)))
	}
	scale := logarithmic(times, tickDuration)
	equal.points = []seriesPoint{{scale.lo, scale.lo, ""}, {scale.hi, scale.hi, ""}}
	return section{
		Title:  "Beside the processor's counter: " + name,
		Lead:   "Each instruction's time by the processor's counter over its time by the slow clock, both on logarithmic scales; on the line they agree.",
		Legend: []legendKey{{Mark: seriesMark(1), Class: "s1", Text: "an instruction"}, {Line: true, Class: "s0", Text: "equal"}},
		Panels: []panel{{Chart: seriesChart{
			label: "Times by a slow clock and by the counter", x: scale, y: scale,
			xTitle: "by " + or(run.Method, "the slow clock"), yTitle: "by the counter", series: []series{equal, both},
		}.chart()}},
		Notes: notes, Table: table,
	}
}

func tickOf(v *float64) string {
	if v == nil {
		return "?"
	}
	return minus(significant(*v, 5))
}

func relativeOf(v *float64) string {
	if v == nil {
		return "?"
	}
	return relative(*v)
}
