package cli

import (
	"slices"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
)

// The coverage of another machine may be added; a caveat says so.
func TestStrangers(t *testing.T) {
	here := &machine.Machine{CPU: "one", Kernel: "6.1", Hypervisor: "none"}
	other, updated := *here, *here
	other.CPU, updated.Kernel = "another", "6.2"
	f := validateFlags{with: []string{"same.json", "other.json", "updated.json", "unknown.json"}}
	for _, m := range []*machine.Machine{here, &other, &updated, nil} {
		f.earlier = append(f.earlier, record.Validation{Header: record.Header{Machine: m}})
	}
	want := []string{}
	for _, name := range f.with[1:] {
		want = append(want, name+" is of another machine or kernel than this one: what is added up holds for neither")
	}
	if got := f.differentMachines(here); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
