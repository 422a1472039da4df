package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/internal/cli"
)

// doctorForm is the documented form of the doctor's JSON document.
var doctorForm = headerForm.with(object{
	"command": oneOf("doctor"), "findings": cardForm["findings"],
	"cpu_list": orNull(text), "watched_ns": count,
})

// prognosis holds the fields that the tests check.
type prognosis struct {
	Interrupted bool
	CPUList     *string `json:"cpu_list"`
	WatchedNs   int64   `json:"watched_ns"`
	Caveats     []string
	Findings    []struct{ Topic, Severity, Effect, Fix string }
	Machine     struct{ OS string }
}

// diagnosed runs a command that has to print a document in the documented form, with the worst
// findings first.
func diagnosed(t *testing.T, command string, args ...string) prognosis {
	t.Helper()
	printed, err := exec.Command(command, args...).Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == noSandbox {
		t.Skipf("%s: %s", command, ended.Stderr)
	}
	if err != nil {
		t.Fatalf("%s %q: %v", command, args, err)
	}
	var fields any
	var d prognosis
	if err := errors.Join(json.Unmarshal(printed, &fields), json.Unmarshal(printed, &d)); err != nil {
		t.Fatal(err)
	}
	for _, breach := range append(doctorForm.check("document", fields), unitsOf("document", fields)...) {
		t.Error(breach)
	}
	worst := 0
	for _, f := range d.Findings {
		if good := f.Severity == "ok"; good != (f.Effect == "" && f.Fix == "") || good != (f.Effect == "" || f.Fix == "") {
			t.Errorf("%+v: an effect and a fix belong to what isn't ok, and only to that", f)
		}
		rank := slices.Index([]string{"warning", "note", "ok"}, f.Severity)
		if rank < worst {
			t.Errorf("%s comes after milder findings", f.Topic)
		}
		worst = rank
	}
	return d
}

func TestDoctorDocument(t *testing.T) {
	d := diagnosed(t, chronoscope, "doctor", "--quick", "--format", "json")
	if d.Interrupted || len(d.Findings) == 0 {
		t.Errorf("%+v", d)
	}
	// The watch has several parts, and the document once had the length of the last.
	if least := 100 * time.Millisecond; !d.Interrupted && d.Machine.OS == "linux" && d.WatchedNs < least.Nanoseconds() {
		t.Errorf("%d ns were watched, and --quick asks for %v", d.WatchedNs, least)
	}
	// Each question has a finding, or does not arise, or has a reason why there is no finding. A
	// value that could not be read does not lead to a warning.
	for _, f := range d.Findings {
		if slices.ContainsFunc(d.Caveats, func(c string) bool { return strings.HasPrefix(c, f.Topic+": ") }) {
			t.Errorf("%s was found, and could not be read", f.Topic)
		}
	}
}

// The report card examines the machine as the doctor does. It once looked at less, and said that nothing spoils
// measurements where the doctor warned.
func TestCardFindsWhatTheDoctorFinds(t *testing.T) {
	doctor := diagnosed(t, chronoscope, "doctor", "--quick", "--format", "json")
	var card prognosis
	if err := json.Unmarshal(output(t, "--quick", "--format", "json"), &card); err != nil {
		t.Fatal(err)
	}
	for _, f := range doctor.Findings {
		isCaveat := slices.ContainsFunc(card.Caveats, func(c string) bool { return strings.Contains(c, f.Topic) }) // it could not be told this time
		if !isCaveat && !slices.ContainsFunc(card.Findings, func(c struct{ Topic, Severity, Effect, Fix string }) bool { return c.Topic == f.Topic }) {
			t.Errorf("the card does not tell %s", f.Topic)
		}
	}
}

// Without /proc and /sys, findings come only from system calls and the CPU.
func TestDoctorInEmptyRoot(t *testing.T) {
	if sandboxes == nil {
		t.Skip("this system's tests make no sandbox")
	}
	d := diagnosed(t, "in-empty-root", chronoscope, "doctor", "--quick", "--format", "json")
	told := []string{"load", "cpus", "hypervisor", "emulation", "shared-core"}
	for _, f := range d.Findings {
		if !slices.Contains(told, f.Topic) {
			t.Errorf("%+v was found in files that are not there", f)
		}
	}
	for _, topic := range []string{"interrupts", "swap", "turbo", "isolation", "debug-kernel", "mitigations"} {
		if !slices.ContainsFunc(d.Caveats, func(c string) bool { return strings.HasPrefix(c, topic+": ") }) {
			t.Errorf("no caveat on %s in %q", topic, d.Caveats)
		}
	}
}

// The doctor also answers each question for a user without any rights.
func TestDoctorAsNobody(t *testing.T) {
	if sandboxes == nil {
		t.Skip("this system's tests make no sandbox")
	}
	diagnosed(t, "as-nobody", chronoscope, "doctor", "--quick", "--format", "json")
}

// An interrupted doctor prints what was found without watching, and says so.
func TestDoctorInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, diagnostics bytes.Buffer
	err := cli.Run(ctx, []string{"doctor", "--format", "json"}, cli.Streams{Out: &out, Err: &diagnostics})
	if status := cli.ExitStatus(err); status != 130 {
		t.Errorf("exit status %d after %v, want 130", status, err)
	}
	var d prognosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Interrupted || len(d.Findings) == 0 {
		t.Errorf("%+v", d)
	}
}

// The doctor examines the CPUs that are named.
func TestDoctorOfOneCPU(t *testing.T) {
	all := diagnosed(t, chronoscope, "doctor", "--quick", "--format", "json")
	if all.Machine.OS != "linux" || all.CPUList == nil {
		t.Skip("this system binds no thread to a CPU")
	}
	first, _, _ := strings.Cut(*all.CPUList, "-")
	first, _, _ = strings.Cut(first, ",")
	d := diagnosed(t, chronoscope, "doctor", "--quick", "--format", "json", "--cpu", first)
	if d.CPUList == nil || *d.CPUList != first {
		t.Errorf("asked for CPU %s, it looked at %v", first, d.CPUList)
	}
}
