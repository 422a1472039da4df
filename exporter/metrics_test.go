package exporter

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// aTurn has something of all that a turn can find.
func aTurn() Turn {
	return Turn{
		CPU: 1, Watched: 20 * time.Millisecond, Gaps: []float64{0.004, 2e-6},
		Lost: map[activity.Cause]float64{activity.Preempted: 0.004, activity.TimerTick: 2e-6},
		Disturbers: []Disturber{
			{"thread", "backup", 0.00390625}, {"thread", "\xff\x1b[31m\"}\n# HELP evil 1", 0.0005}, {"", "", 0.0001},
		},
		Works: []Work{
			{"chain", stats.Estimate{Value: 1e6, Lo: 0.99e6, Hi: 1.02e6, Unit: "ns"}, stats.Trusted},
			{"walk", stats.NoEstimate("ns", "min-k"), stats.Unusable},
		},
		Failures: []Failure{{StepNames, errors.New("no rights")}},
	}
}

// aKernel tells no throttling.
func aKernel() Kernel {
	return Kernel{Stolen: stats.FloatOf(12), RunQueueWait: stats.FloatOf(3), Throttled: stats.FloatOf(math.NaN())}
}

// aSurvey has findings twice, as a hostile /proc might have it.
func aSurvey() Survey {
	rating := timermeter.Rating{Name: "tsc", Accuracy: stats.Estimate{Value: 10}, Quality: stats.FloatOf(0.5)}
	rating.Judgement = stats.NewJudgement()
	bad := check.Finding{Clock: "tsc", Check: check.CPUOffset, Estimate: &stats.Estimate{Value: 90, Lo: 80, Hi: 100, Unit: "ns"}}
	bad.Verdict = stats.Suspect
	drift := check.Finding{Clock: "tsc", Check: check.Drift, Estimate: &stats.Estimate{Value: 2, Lo: 1, Hi: 3, Unit: "ppm"}, Judgement: stats.NewJudgement()}
	return Survey{
		Clocks: []timermeter.Rating{rating}, Checks: []check.Finding{bad, bad, drift},
		Findings: []machine.Finding{{Topic: "load", Severity: machine.Warning}, {Topic: "load", Severity: machine.Warning}},
	}
}

// atZero is a clock that stands still.
func atZero() time.Duration { return 0 }

// filled are the metrics of an exporter that has taken three turns and a survey.
func filled() (*Metrics, *client.Registry) {
	now := time.Minute
	m := NewMetrics(About{Version: "v1\xff", Tier: "CPU \"A\"", Budget: 0.005, MostNames: 2}, func() time.Duration { return now }, func() time.Duration { return 1500 * time.Millisecond })
	m.Kernel = aKernel
	for range 3 {
		m.AddTurn(aTurn())
	}
	m.AddSurvey(aSurvey())
	now += 7 * time.Second
	registry := client.NewPedanticRegistry()
	registry.MustRegister(m)
	return m, registry
}

func TestMetricsFollowTheConventions(t *testing.T) {
	_, registry := filled()
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// scraped is what a scrape is answered.
func scraped(t *testing.T, registry *client.Registry, accept string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Host = "localhost"
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	handler(registry, true).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Debian's promtool has nothing to say, neither before the first turn nor after.
func TestPromtoolIsSilent(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("no promtool in PATH: install the Debian package prometheus, or run .ci/needs")
	}
	_, full := filled()
	empty := client.NewRegistry()
	empty.MustRegister(NewMetrics(About{}, atZero, atZero))
	for _, registry := range []*client.Registry{full, empty} {
		command := exec.Command(program, "check", "metrics")
		command.Stdin = strings.NewReader(scraped(t, registry, "text/plain"))
		if said, err := command.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%v: %s", err, said)
		}
	}
}

// A node that has never measured is as stale as one that does so no more.
func TestAgeBeforeTheFirstTurn(t *testing.T) {
	registry := client.NewRegistry()
	registry.MustRegister(NewMetrics(About{}, func() time.Duration { return time.Hour }, atZero))
	if text := scraped(t, registry, "text/plain"); !strings.Contains(text, "chronoscope_turn_age_seconds 3600") {
		t.Error(text)
	}
}

// What the kernel counts is told as it is at a scrape, also before the first turn and while no turn is taken. It was once
// that of the last turn, so that --pause-above hid it while the machine was busy.
func TestTheKernelIsReadAtEachScrape(t *testing.T) {
	registry, waited := client.NewRegistry(), 0.0
	m := NewMetrics(About{}, atZero, atZero)
	m.Kernel = func() Kernel {
		waited++
		return Kernel{RunQueueWait: stats.FloatOf(waited)}
	}
	registry.MustRegister(m)
	for scrape := 1; scrape <= 2; scrape++ {
		if text := scraped(t, registry, "text/plain"); !strings.Contains(text, fmt.Sprintf("chronoscope_runqueue_wait_seconds_total %d\n", scrape)) {
			t.Error(text)
		}
		m.AddPause()
	}
}

// What is exported is what was found, in seconds.
func TestWhatIsExported(t *testing.T) {
	_, registry := filled()
	text := scraped(t, registry, "text/plain")
	for _, want := range []string{
		`chronoscope_budget_ratio 0.005`,
		`chronoscope_own_cpu_seconds_total 1.5`,
		`chronoscope_turns_total 3`,
		`chronoscope_turn_age_seconds 7`,
		`chronoscope_survey_age_seconds 7`,
		`chronoscope_watched_seconds_total 0.06`,
		`chronoscope_lost_seconds_total{cause="preempted"} 0.012`,
		`chronoscope_lost_seconds_total{cause="throttled"} 0`,
		`chronoscope_turn_lost_ratio_count 3`,
		`chronoscope_worst_gap_seconds 0.004`,
		`chronoscope_gap_seconds_count 6`,
		`chronoscope_disturber_seconds_total{kind="thread",name="backup"} 0.01171875`,
		`chronoscope_stolen_seconds_total 12`,
		`chronoscope_runqueue_wait_seconds_total 3`,
		`chronoscope_work_seconds{work="chain"} 0.001`,
		`chronoscope_work_upper_seconds{work="chain"} 0.00102`,
		`chronoscope_work_verdict{verdict="unusable",work="walk"} 1`,
		`chronoscope_clock_checks{clock="tsc",verdict="suspect"} 1`,
		`chronoscope_clock_checks{clock="tsc",verdict="trusted"} 1`,
		`chronoscope_clock_check_info{check="cpu-offset",clock="tsc",verdict="suspect"} 1`,
		`chronoscope_clock_cpu_offset_upper_seconds{clock="tsc"} 1.0000000000000001e-07`,
		`chronoscope_finding_info{severity="warning",topic="load"} 1`,
		`chronoscope_failures_total{step="names"} 3`,
		`chronoscope_machine_info{tier="CPU \"A\""} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is not among what is exported", want)
		}
	}
	for _, never := range []string{"\x1b", "\n# HELP evil", "chronoscope_throttled_seconds_total "} {
		if strings.Contains(text, never) {
			t.Errorf("%q is among what is exported", never)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The gaps are a native histogram where the scraper takes one: with the lengths 2 µs and 4 ms, thrice each.
func TestGapsAreANativeHistogram(t *testing.T) {
	_, registry := filled()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "chronoscope_gap_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if h.Schema == nil || h.GetSampleCount() != 6 || len(h.GetPositiveSpan()) < 2 {
			t.Errorf("%v", h)
		}
		if w := scraped(t, registry, string(expfmt.NewFormat(expfmt.TypeProtoDelim))); !strings.Contains(w, "chronoscope_gap_seconds") {
			t.Error("the protobuf form lacks the histogram")
		}
		return
	}
	t.Error("there is no histogram of gaps")
}

// Surveys that don't trust a clock are counted until one does; one that does not rate the clock says nothing.
func TestSurveysThatDontTrustAClockAreCounted(t *testing.T) {
	m := NewMetrics(About{}, atZero, atZero)
	registry := client.NewRegistry()
	registry.MustRegister(m)
	for i, c := range []struct {
		verdict stats.Verdict
		want    string
	}{{stats.Trusted, "0"}, {stats.Suspect, "1"}, {"", ""}, {stats.Unusable, "2"}, {stats.Trusted, "0"}, {stats.Suspect, "1"}} {
		s := Survey{}
		if c.verdict != "" {
			s = aSurvey()
			s.Clocks[0].Verdict = c.verdict
		}
		m.AddSurvey(s)
		if text := scraped(t, registry, "text/plain"); c.want != "" && !strings.Contains(text, "chronoscope_clock_untrusted_surveys{clock=\"tsc\"} "+c.want+"\n") {
			t.Errorf("survey %d is not told as %s: %s", i, c.want, text)
		}
	}
}

// An exporter whose turns see other names and causes all the time has no more series in the end.
func TestSeriesAreBounded(t *testing.T) {
	m, registry := filled()
	count := func() int {
		n, err := testutil.GatherAndCount(registry)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	for i := range 1000 {
		turn := aTurn()
		for j := range 10 {
			turn.Disturbers = append(turn.Disturbers, Disturber{"thread", fmt.Sprint(i, "-", j), 0.001 * float64(j)})
		}
		m.AddTurn(turn)
		m.AddSurvey(aSurvey())
	}
	if after := count(); after > before+3 {
		t.Errorf("%d series, %d before", after, before)
	}
}

// The clock source is the last part of a tier, and was once cut off behind long names of CPUs.
func TestTiersWithLongNamesStayApart(t *testing.T) {
	const tier = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, linux 6.18, kvm, clocksource tsc"
	registry := client.NewRegistry()
	registry.MustRegister(NewMetrics(About{Tier: tier}, atZero, atZero))
	text := `# HELP chronoscope_machine_info 1, labelled with the tier of the machine: machines of one tier should give the same figures.
# TYPE chronoscope_machine_info gauge
chronoscope_machine_info{tier="` + tier + `"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(text), "chronoscope_machine_info"); err != nil {
		t.Error(err)
	}
}
