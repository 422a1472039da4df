package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"chronoscope/bytecode/analysis"
	"chronoscope/record"
)

//go:embed bytecode_page.html
var bytecodePageText string

var bytecodePageTemplate = template.Must(template.New("bytecode").Funcs(template.FuncMap{
	"ns": ns, "duration": duration, "withError": WithError, "off": offReference, "group": groupName, "form": formName,
	"span": spanOf, "joined": func(all []string) string { return strings.Join(all, ", ") }, "percent": shareName,
	"r": rName, "slope": slopeName, "perOperation": perOperation, "then": func(i int) analysis.Granularity { return analysis.Lambert.Granularities[i] },
	"column": columnName, "intercept": interceptName, "predictions": predictionTitle, "signed": signedName,
}).Parse(bytecodePageText))

// BytecodePage writes all figures and tables of a document as one HTML page that needs
// nothing else: no network, no other file, no script.
func BytecodePage(w io.Writer, d record.Bytecode) error {
	d = Shown(d)
	p := bytecodePage{Bytecode: d, Lambert: analysis.Lambert}
	for _, f := range BytecodeFigures(d) {
		svg, err := inlineSVG(f)
		if err != nil {
			return fmt.Errorf("drawing %q: %w", f.Title, err)
		}
		p.Figures = append(p.Figures, pageFigure{f.Title, f.Caption, svg})
	}
	var page bytes.Buffer
	if err := bytecodePageTemplate.Execute(&page, p); err != nil {
		return err
	}
	_, err := w.Write(page.Bytes())
	return err
}

// bytecodePage is what the template shows.
type bytecodePage struct {
	record.Bytecode
	Lambert analysis.Published
	Figures []pageFigure
}

// pageFigure is a figure as a page has it.
type pageFigure struct {
	Title, Caption string
	SVG            template.HTML
}

// Runs are all of the document's.
func (p bytecodePage) Runs() []record.BytecodeRun {
	return append([]record.BytecodeRun{p.BytecodeRun}, p.Others...)
}

// Name tells a run from others.
func (p bytecodePage) Name(r record.BytecodeRun) string { return machineName(r) }

// Facts say how a run was made.
func (p bytecodePage) Facts(r record.BytecodeRun) string { return strings.Join(runFacts(r), ", ") }

// Doubts are the reasons for which instructions are not trusted.
func (p bytecodePage) Doubts(r record.BytecodeRun) []string {
	all := append([]string{}, r.Reasons...)
	for _, g := range reasonGroups(r) {
		all = append(all, fmt.Sprintf("%s: %s: %s", g.verdict, strings.Join(g.names, ", "), g.reason))
	}
	for _, u := range r.Unused {
		all = append(all, fmt.Sprintf("%s was not used: %s", u.Method, u.Reason))
	}
	return all
}

// MachineLine says on what machine it was measured.
func (p bytecodePage) MachineLine() string {
	if p.Machine == nil {
		return "unknown machine"
	}
	return or(string(p.Machine.CPU), "unknown CPU") + ", " + numbered(p.Machine.CPUs, "CPU")
}

// In is an instruction's time in another run.
func (p bytecodePage) In(r record.BytecodeRun, i record.BytecodeInstruction) string {
	if j, ok := r.Instruction(i.Mnemonic, i.Form); ok {
		return besideTime(j.Time)
	}
	return ""
}

// inlineSVG is a figure without the prologue that a file has. The drawing library escapes
// all texts.
func inlineSVG(f Figure) (template.HTML, error) {
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		return "", err
	}
	at := bytes.Index(b.Bytes(), []byte("<svg"))
	if at < 0 {
		return "", fmt.Errorf("the drawing library wrote no figure")
	}
	return template.HTML(b.Bytes()[at:]), nil
}
