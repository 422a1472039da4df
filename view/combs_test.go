package view

import (
	"testing"

	"chronoscope/record"

	"github.com/google/go-cmp/cmp"
)

// The counts of the table of causes and of the combs below it are told apart where they
// differ, and nothing is said where they don't.
func TestCombShares(t *testing.T) {
	n := func(n int) *int { return &n }
	tick := func(count int, attributed *int) record.Comb {
		return record.Comb{Source: "timer-tick", Count: count, Attributed: attributed}
	}
	host := func(count, attributed int) record.Comb {
		return record.Comb{Source: "hypervisor", Count: count, Attributed: &attributed}
	}
	for name, c := range map[string]struct {
		combs  []record.Comb
		causes map[string]int
		want   []string
	}{
		"the same":         {[]record.Comb{tick(995, n(995))}, map[string]int{"timer-tick": 995}, nil},
		"an older record":  {[]record.Comb{tick(995, nil)}, map[string]int{"timer-tick": 985}, nil},
		"no comb":          {nil, map[string]int{"hypervisor": 12}, nil},
		"others befell it": {[]record.Comb{tick(995, n(985))}, map[string]int{"timer-tick": 985}, []string{"of 995 regular timer-tick gaps 985 are counted under that cause, and 10 under what else befell the thread then"}},
		"two combs and more": {[]record.Comb{tick(995, n(985)), host(397, 397), host(100, 90)}, map[string]int{"timer-tick": 985, "hypervisor": 1104}, []string{
			"of 995 regular timer-tick gaps 985 are counted under that cause, and 10 under what else befell the thread then",
			"of 497 regular hypervisor gaps 487 are counted under that cause, and 10 under what else befell the thread then; 617 more there come at no regular time",
		}},
	} {
		trace := record.Trace{Combs: c.combs, Causes: map[string]record.Total{}}
		for cause, count := range c.causes {
			trace.Causes[cause] = record.Total{Count: count}
		}
		if diff := cmp.Diff(c.want, texts(combShares(trace))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func texts(lines []Line) (all []string) {
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return all
}
