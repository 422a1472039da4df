package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/validate"
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

// A load that the neighbours can't have is replaced or left out, and a caveat says so.
func TestUnmeasuredLoads(t *testing.T) {
	for _, c := range []struct {
		neighbours, loads string
		want              []string
	}{
		{"bursty", "1", []string{"--load 1 is not measured: --neighbours none has a load of 1 and all others have more; these were measured: [bursty 4]"}},
		{"loops", "1,11", []string{"--load 1 is not measured: --neighbours none has a load of 1 and all others have more; these were measured: [loops 11]"}},
		{"none", "4", []string{"--load 4 is not measured: --neighbours none has a load of 1 and all others have more; these were measured: [none]"}},
		{"none,bursty", "1,2,11", nil},
		{"", "1,4", nil},
		{"none,bursty", "", nil},
	} {
		list := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) }
		f := validateFlags{neighbours: list(c.neighbours), loads: list(c.loads)}
		if err := f.parse(); err != nil || !slices.Equal(f.unmeasured, c.want) {
			t.Errorf("%s at %s: %q, %v", c.neighbours, c.loads, f.unmeasured, err)
		}
	}
}

// The help names all that a list may hold. --work once kept the traced work to itself.
func TestHelpNamesWhatIsValidated(t *testing.T) {
	set := pflag.NewFlagSet("validate", pflag.ContinueOnError)
	(&validateFlags{}).register(set, nil)
	names := map[string][]string{}
	for _, w := range validate.Works {
		names["work"] = append(names["work"], string(w))
	}
	for _, k := range validate.Kinds {
		names["kind"] = append(names["kind"], string(k))
	}
	for flag, all := range names {
		for _, name := range all {
			if usage := set.Lookup(flag).Usage; !strings.Contains(usage, name) {
				t.Errorf("--%s: %q lacks %s", flag, usage, name)
			}
		}
	}
}
