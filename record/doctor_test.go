package record_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/record"
)

// The worst comes first, and within a severity nothing changes its place.
func TestNewDoctor(t *testing.T) {
	var found []machine.Finding
	for i := range 60 {
		severities := []machine.Severity{machine.OK, machine.Note, machine.Warning}
		found = append(found, machine.Finding{Topic: fmt.Sprintf("%02d", i), Severity: severities[i%3]})
	}
	h := record.NewHeader("doctor", &machine.Machine{Caveats: []string{"first"}}, 1)
	d := record.NewDoctor(h, []int{3, 1, 2}, 200*time.Millisecond, found, []string{"second"})
	for i, f := range d.Findings {
		if want := fmt.Sprintf("%02d", i%20*3+2-i/20); f.Topic != want {
			t.Errorf("finding %d is %s, %s, want %s", i, f.Topic, f.Severity, want)
		}
	}
	if found[0].Topic != "00" || len(h.Caveats) != 1 {
		t.Error("what was handed in is changed")
	}
	if !slices.Equal(d.Caveats, []string{"first", "second"}) || d.CPUList != "1-3" || d.WatchedNs != 200e6 {
		t.Errorf("%+v", d)
	}
}

// Nothing found is an empty list, not null, and CPUs that nobody knows are null.
func TestNewDoctorOfNothing(t *testing.T) {
	d := record.NewDoctor(record.NewHeader("doctor", &machine.Machine{}, 1), nil, 0, nil, nil)
	if d.Findings == nil || d.Caveats == nil || d.CPUList != "" {
		t.Errorf("%+v", d)
	}
}
