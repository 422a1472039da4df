package cli

import (
	"testing"

	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// --require applies to everything that the report card judges. An earlier version let a card pass
// whose clocks were good but whose counter could not be trusted.
func TestCardIsAsGoodAsItsWorst(t *testing.T) {
	trusted := []timermeter.Rating{{Name: "tsc", Judgement: stats.NewJudgement()}}
	for _, c := range []struct {
		name string
		card record.Card
		want int
	}{
		{"nothing", record.Card{}, 1},
		{"fine", record.Card{Ranking: timermeter.Ranking{Clocks: trusted}, Trust: record.Trust{Sandwiches: []fidelity.Result{{Counter: "tsc", Workload: "sleep", Judgement: stats.NewJudgement()}}}}, 0},
		{"clock", record.Card{Ranking: timermeter.Ranking{Clocks: []timermeter.Rating{{Name: "tsc", Judgement: stats.Judgement{Verdict: stats.Unusable}}}}}, 1},
		{"counter", record.Card{Ranking: timermeter.Ranking{Clocks: trusted}, Trust: record.Trust{Sandwiches: []fidelity.Result{{Counter: "tsc", Workload: "sleep", Judgement: stats.Judgement{Verdict: stats.Unusable}}}}}, 1},
		{"check", record.Card{Ranking: timermeter.Ranking{Clocks: trusted}, Trust: record.Trust{Checks: []check.Finding{{Clock: "tsc", Check: "order", Judgement: stats.Judgement{Verdict: stats.Unusable}}}}}, 1},
	} {
		if got := ExitStatus(settings{require: stats.Suspect}.met(cardVerdicts(c.card))); got != c.want {
			t.Errorf("%s: exit status %d, want %d", c.name, got, c.want)
		}
	}
}
