package view

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// The cases are texts that earlier versions passed on to the terminal or a page: names of files in
// errors, a benchmark that panicked in colours, a command that forged a row of a table, and a name
// with reversed writing direction.
func TestWhatSteersATerminalIsNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"sleep 0.1, Größe 37 µs, 時間": "sleep 0.1, Größe 37 µs, 時間",
		"\x1b[8mhidden\x1b[0m":       "\uFFFD[8mhidden\uFFFD[0m",
		"a\rb\x07\x7f\x00":           "a\uFFFDb\uFFFD\uFFFD\uFFFD",
		"\u009b2J":                   "\uFFFD2J",
		"\x9b2J\xff":                 "\uFFFD2J\uFFFD",
		"\u202efdp.exe\u202c":        "\uFFFDfdp.exe\uFFFD",
		"a\u2066b\u200bc\ufeff":      "a\uFFFDb\uFFFDc\uFFFD",
		"a\u2028b\U000E0041":         "a\uFFFDb\uFFFD",
		"one\ntwo\tthree":            "one\ntwo\tthree",
	} {
		if got := Harmless(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := OneLine("true\n 1.0 ms  trusted\x1b"); got != "true␤ 1.0 ms  trusted\uFFFD" {
		t.Errorf("a cell holds %q", got)
	}
}

// All texts of the copy are cleaned, and the document itself stays as it is.
func TestShownDocument(t *testing.T) {
	evil, ending := "a\x1b[8m\nb", "one\x1b\ntwo"
	d := record.Programs{Results: []program.Report{{Command: evil, Parameters: map[string]string{evil: evil}, Judgement: stats.Judgement{Reasons: []string{evil}}, Failure: &evil, StderrEnd: &ending}}}
	d.Caveats = []string{evil}
	const want = "a\uFFFD[8m␤b"
	p := Shown(d)
	got := []string{p.Caveats[0], p.Results[0].Command, p.Results[0].Parameters[want], p.Results[0].Reasons[0], *p.Results[0].Failure}
	for i, text := range got {
		if text != want {
			t.Errorf("text %d is %q, want %q", i, text, want)
		}
	}
	if *p.Results[0].StderrEnd != "one\uFFFD\ntwo" {
		t.Errorf("the end of standard error is %q", *p.Results[0].StderrEnd)
	}
	if d.Caveats[0] != evil || d.Results[0].Command != evil || d.Results[0].Parameters[evil] != evil || ending != "one\x1b\ntwo" {
		t.Errorf("the document itself was changed: %+v", d)
	}
}

func FuzzHarmless(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\n\u202e\x9b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Harmless(text)
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q is shown as %q", text, got)
			}
		}
		if !utf8.ValidString(got) || Harmless(got) != got || strings.ContainsAny(OneLine(text), "\n\t\r") {
			t.Errorf("%q is shown as %q", text, got)
		}
	})
}
