package lateness

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// A timer that something delayed in one round is suspect: its intervals take wake-ups for independent. If all rounds are
// alike it is not.
func TestRoundsThatDiffer(t *testing.T) {
	verdicts := map[string]int{}
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		for name, burst := range map[string]bool{"alike": false, "burst": true} {
			c := &cell{timer: Timer{Name: "t"}, length: time.Millisecond}
			for round := range 4 {
				s := series{}
				for i := range 100 {
					late := 50e3 * rng.ExpFloat64()
					if burst && round == 2 && i < 25 {
						late += 1e6
					}
					s.lateNs, s.moments = append(s.lateNs, late), append(s.moments, float64(i))
				}
				c.series = append(c.series, s)
			}
			r := c.result(Plan{Wakes: 400})
			blamed := slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "of one round") })
			if blamed != (r.Verdict == stats.Suspect) {
				t.Fatalf("%s %q", r.Verdict, r.Reasons)
			}
			if blamed {
				verdicts[name]++
			}
		}
	}
	if verdicts["alike"] > 8 || verdicts["burst"] < 990 {
		t.Errorf("suspect of 1000: %v", verdicts)
	}
}
