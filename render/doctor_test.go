package render

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
)

// diagnosis returns a document with these findings.
func diagnosis(findings ...machine.Finding) record.Doctor {
	h := record.NewHeader("doctor", &machine.Machine{CPU: "Test CPU", CPUs: 2, OS: "linux"}, 1)
	return record.Doctor{Header: h, CPUList: "0-1", Findings: findings}
}

var (
	heat  = machine.Finding{Topic: "heat", Severity: machine.Warning, Seen: "too hot", Effect: "slow", Fix: "cool it"}
	turbo = machine.Finding{Topic: "turbo", Severity: machine.Note, Seen: "turbo, \"on\"", Effect: "varies", Fix: "switch it off"}
	swap  = machine.Finding{Topic: "swap", Severity: machine.OK, Seen: "no swap space"}
	tsc   = machine.Finding{Topic: "tsc", Severity: machine.OK, Seen: "offered"}
)

func TestDoctor(t *testing.T) {
	const head = "Test CPU, 2 CPUs\nlinux\n\n"
	for name, c := range map[string]struct {
		d    record.Doctor
		want string
	}{
		"ill": {diagnosis(swap, turbo, heat), `Measurements will be spoilt here: 1 warning, 1 note, 1 ok.

warning heat: too hot
  effect: slow
  fix: cool it

note turbo: turbo, "on"
  effect: varies
  fix: switch it off

ok swap

`},
		"hardly": {diagnosis(turbo, swap, tsc), `Nothing here spoils measurements: 1 note to keep in mind, 2 ok.

note turbo: turbo, "on"
  effect: varies
  fix: switch it off

ok swap, tsc

`},
		"healthy": {diagnosis(swap, tsc), "Nothing was found that disturbs measurements: 2 things looked at, all ok.\n\nok swap, tsc\n\n"},
		"unknown": {diagnosis(), "Nothing could be looked at: the caveats say why.\n\n"},
	} {
		var b bytes.Buffer
		showText(&b, c.d, Style{})
		if got := b.String(); got != strings.TrimSuffix(head+c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, head+c.want)
		}
	}
}

func TestDoctorColors(t *testing.T) {
	var plain, colored bytes.Buffer
	showText(&plain, diagnosis(heat), Style{})
	showText(&colored, diagnosis(heat), Style{Color: true})
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colored.String(), "\x1b[31mwarning") {
		t.Errorf("plain %q, coloured %q", plain.String(), colored.String())
	}
}

func TestDoctorCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, diagnosis(turbo, swap)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"topic", "severity", "seen", "effect", "fix"},
		{"turbo", "note", "turbo, \"on\"", "varies", "switch it off"},
		{"swap", "ok", "no swap space", "", ""},
	}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%q, want %q", rows, want)
	}
}
