package view

import (
	"testing"

	"chronoscope/activity"

	"github.com/google/go-cmp/cmp"
)

// A note explains the difference if the table of causes and the combs below it have different
// counts. There is no note if the counts agree.
func TestCombShares(t *testing.T) {
	n := func(n int) *int { return &n }
	tick := func(count int, attributed *int) activity.Comb {
		return activity.Comb{Source: activity.TimerTick, Count: count, Attributed: attributed}
	}
	host := func(count, attributed int) activity.Comb {
		return activity.Comb{Source: activity.Hypervisor, Count: count, Attributed: &attributed}
	}
	for name, c := range map[string]struct {
		combs  []activity.Comb
		causes map[activity.Cause]int
		want   []string
	}{
		"the same":         {[]activity.Comb{tick(995, n(995))}, map[activity.Cause]int{activity.TimerTick: 995}, nil},
		"an older record":  {[]activity.Comb{tick(995, nil)}, map[activity.Cause]int{activity.TimerTick: 985}, nil},
		"no comb":          {nil, map[activity.Cause]int{activity.Hypervisor: 12}, nil},
		"others befell it": {[]activity.Comb{tick(995, n(985))}, map[activity.Cause]int{activity.TimerTick: 985}, []string{"of 995 regular timer-tick gaps 985 are counted under that cause, and 10 under what else befell the thread then"}},
		"two combs and more": {[]activity.Comb{tick(995, n(985)), host(397, 397), host(100, 90)}, map[activity.Cause]int{activity.TimerTick: 985, activity.Hypervisor: 1104}, []string{
			"of 995 regular timer-tick gaps 985 are counted under that cause, and 10 under what else befell the thread then",
			"of 497 regular hypervisor gaps 487 are counted under that cause, and 10 under what else befell the thread then; 617 more there come at no regular time",
		}},
	} {
		trace := activity.Analysis{Combs: c.combs, Causes: map[activity.Cause]activity.Total{}}
		for cause, count := range c.causes {
			trace.Causes[cause] = activity.Total{Count: count}
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
