package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Of simulated pairs with a true cost of 0.4 %, in rare turns that delay a run by 6 %, about 95 % of the intervals
// hold it.
func TestRatioOfMeans(t *testing.T) {
	const tries, pairs, cost, chance = 1000, 1500, 0.06, 0.004 / 0.06
	rng := rand.New(rand.NewPCG(1, 0))
	covered := 0
	for range tries {
		var a, b []float64
		for range pairs {
			drift := 1 + 0.02*rng.NormFloat64() // both of a pair see it
			a = append(a, drift*(1+0.01*rng.ExpFloat64()))
			slow := drift * (1 + 0.01*rng.ExpFloat64())
			if rng.Float64() < chance {
				slow *= 1 + cost
			}
			b = append(b, slow)
		}
		ratio, lo, hi, n := ratioOfMeans(a, b)
		if n != pairs || math.Abs(ratio-1.004) > 0.01 {
			t.Fatalf("%v of %d pairs", ratio, n)
		}
		if lo <= 1.004 && 1.004 <= hi {
			covered++
		}
	}
	if covered < 920 || covered > 975 { // binomial: 950 +- 7
		t.Errorf("%d of %d intervals hold the true ratio", covered, tries)
	}
}

// A run that was rejected takes its own pair away. One that has no other run in its round is left out where two of a series
// meet, as here, and shifts no later pair: of work that
// drifts by 5 % a round and takes exactly 1 % longer, the interval is 1.01 alone. Stolen time, which is that of all CPUs, does not
// make the second half faster, and a ratio that is not known is no number.
func TestPairsKeepTheirRound(t *testing.T) {
	type run map[string]any
	var runs [2][]run
	at := time.Unix(1e9, 0)
	for round := range 12 {
		for place := range 2 {
			second := (round + place) % 2 // both orders
			at = at.Add(time.Second)
			ns := 60e6 * math.Pow(1.05, float64(round)) * (1 + 0.01*float64(second))
			r := run{"started": at, "wall_ns": ns, "steal_ns": 1e7 * float64(second), "rejected": second == 0 && round == 3}
			if second == 1 && round == 7 {
				continue
			}
			runs[second] = append(runs[second], r)
		}
	}
	text, err := json.Marshal(map[string]any{
		"results": []map[string]any{{"runs": runs[0]}, {"runs": runs[1]}},
		"pairs":   []map[string]any{{"ratio": map[string]any{"value": nil, "lo": nil, "hi": nil}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := effectOf(text)
	if err != nil || e.pairs != 10 || math.Abs(e.ratio-1.01) > 1e-9 || e.hi-e.lo > 1e-9 {
		t.Errorf("%+v: %v", e, err)
	}
	if want := "the median alone on the machine +NaN % (+NaN to +NaN)"; e.medians != want {
		t.Errorf("%q", e.medians)
	}
}

// What run has measured until an interrupt is printed before the error.
func TestInterruptedRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "chronoscope_surveys_total 1") }))
	defer server.Close()
	runs := `{"started": "2026-01-01T00:00:00Z", "wall_ns": 1e6}, {"started": "2026-01-01T00:00:02Z", "wall_ns": 1e6}`
	document := `{"results": [{"runs": [` + runs + `]}, {"runs": [` + strings.ReplaceAll(strings.ReplaceAll(runs, ":00Z", ":01Z"), ":02Z", ":03Z") + `]}], "pairs": [{"ratio": {}}]}`
	tool := filepath.Join(t.TempDir(), "tool")
	text := "#!/bin/sh\n[ $1 = serve ] && { echo 'msg=\"Listening on\" address=" + strings.TrimPrefix(server.URL, "http://") + "' >&2; exec sleep 20; }\necho '" + document + "'\nexit 130\n"
	if err := os.WriteFile(tool, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := run(t.Context(), []string{"-chronoscope", tool, "-cpu", "0"}, &out)
	if err == nil || !strings.Contains(err.Error(), "exit status 130") || !strings.Contains(out.String(), "of 2 pairs") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v:\n%s", err, &out)
	}
}
