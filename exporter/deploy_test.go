package exporter

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/internal/prometheustest"
	"chronoscope/stats"
)

const (
	rulesFile     = "../deploy/prometheus/chronoscope.rules.yml"
	dashboardFile = "../deploy/grafana/chronoscope-fleet.json"
)

// promtool runs Debian's promtool, which has to succeed.
func promtool(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("no promtool in PATH: install the Debian package prometheus, or run .ci/needs")
	}
	said, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %s: %v: %s", strings.Join(args, " "), err, said)
	}
	return string(said)
}

func TestRules(t *testing.T) {
	promtool(t, "check", "rules", "--lint-fatal", rulesFile)
	promtool(t, "test", "rules", strings.Replace(rulesFile, ".rules.", ".test.", 1))
}

// dashboard is what is read of a dashboard of Grafana.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// queries are those of the dashboard, with Grafana's variables replaced.
func queries(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*").Replace(target.Expr))
		}
	}
	return all
}

// Of the time that was watched, half a second in each minute, a quarter was lost, all of it to one thread: what the
// dashboard shows are shares of that time. Who took it was once a share of all time, which is thousands of times longer.
func TestDashboardShowsSharesOfTheTimeWatched(t *testing.T) {
	all := `evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'chronoscope_watched_seconds_total{job="node", instance="a"}', values: '0+0.5x20'}
  - {series: 'chronoscope_watched_seconds_total{job="node", instance="b"}', values: '0+0.5x20'}
  - {series: 'chronoscope_lost_seconds_total{job="node", instance="a", cause="preempted"}', values: '0+0.125x20'}
  - {series: 'chronoscope_lost_seconds_total{job="node", instance="b", cause="preempted"}', values: '0+0.125x20'}
  - {series: 'chronoscope_disturber_seconds_total{job="node", instance="a", kind="thread", name="backup"}', values: '0+0.125x20'}
  - {series: 'chronoscope_disturber_seconds_total{job="node", instance="b", kind="thread", name="backup"}', values: '0+0.125x20'}
  promql_expr_test:
`
	for metric, labels := range map[string]string{"chronoscope_lost_seconds_total": `cause="preempted"`, "chronoscope_disturber_seconds_total": `kind="thread", name="backup"`} {
		for _, query := range queries(t) {
			if strings.Contains(query, metric) {
				all += fmt.Sprintf("  - {expr: %q, eval_time: 15m, exp_samples: [{labels: '{%s}', value: 0.25}]}\n", query, labels)
			}
		}
	}
	if n := strings.Count(all, "expr:"); n != 2 {
		t.Errorf("%d queries", n)
	}
	file := filepath.Join(t.TempDir(), "test.yml")
	write(t, file, all)
	promtool(t, "test", "rules", file)
}

// Prometheus understands the dashboard's queries.
func TestDashboardIsUnderstood(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	all := queries(t)
	for i, query := range all {
		fmt.Fprintf(&rules, "  - {record: 'query:%d', expr: %q}\n", i, query)
	}
	if len(all) < 10 {
		t.Errorf("only %d queries", len(all))
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	write(t, file, rules.String())
	promtool(t, "check", "rules", file)
}

var (
	metricName = regexp.MustCompile(`\bchronoscope_[a-z_]+`)
	described  = regexp.MustCompile(`fqName: "([a-z_]+)"`)
	recorded   = regexp.MustCompile(`(?m)record: (\S+)`)
	colons     = regexp.MustCompile(`\b[a-z]+:chronoscope_[a-z_]+:[a-z0-9]+`)
)

// Rules and dashboard name no metric that is not exported, nor a recorded one that no rule records.
func TestRulesAndDashboardNameWhatIsThere(t *testing.T) {
	exported := []string{"chronoscope_config_last_reload_successful"}
	for _, d := range append(slices.Clone(descriptions), NewMetrics(About{}, nil, nil).gaps.Desc()) {
		exported = append(exported, described.FindStringSubmatch(d.String())[1])
	}
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var records []string
	for _, found := range recorded.FindAllStringSubmatch(string(rules), -1) {
		records = append(records, found[1])
	}
	text := string(rules) + strings.Join(queries(t), "\n")
	for _, name := range colons.FindAllString(text, -1) {
		if !slices.Contains(records, name) {
			t.Errorf("%s is recorded by no rule", name)
		}
	}
	for _, name := range metricName.FindAllString(colons.ReplaceAllString(text, ""), -1) {
		plain := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if !slices.Contains(exported, name) && !slices.Contains(exported, plain) {
			t.Errorf("%s is not exported", name)
		}
	}
}

// hurried are the rules with seconds for minutes, so that a test need not wait for hours.
func hurried(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	hurried := strings.NewReplacer("[15m]", "[10s]", "for: 15m", "for: 3s", "for: 5m", "for: 2s").Replace(string(text))
	file := filepath.Join(t.TempDir(), "hurried.rules.yml")
	write(t, file, hurried)
	return file
}

// node is a simulated machine that loses a share of its time, around which its turns vary.
type node struct {
	lost, slow float64
	rng        *rand.Rand
}

func (n node) turn() Turn {
	watched := 25 * time.Millisecond
	lost := watched.Seconds() * n.lost * (0.5 + n.rng.Float64())
	chain := 1e6 * n.slow * (1 + 0.002*n.rng.NormFloat64())
	return Turn{
		Watched: watched, Gaps: []float64{lost}, Lost: map[activity.Cause]float64{activity.Preempted: lost},
		Works: []Work{{"chain", stats.Estimate{Value: chain, Lo: chain * 0.99, Hi: chain * 1.01, Unit: "ns"}, stats.Trusted}},
	}
}

// A real Prometheus scrapes three exporters over TCP, one of a machine with a noisy neighbour and one of a slow
// machine: the alerts name these, and none of the others. The machines are simulated, as this one may be noisy itself.
func TestPrometheusFindsTheNoisyNode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	machines := map[string]node{"healthy": {0.03, 1, nil}, "noisy": {0.4, 1, nil}, "other": {0.04, 1, nil}, "slow": {0.03, 1.08, nil}}
	targets := map[string]string{} // address to name
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for name, n := range machines {
		n.rng = rand.New(rand.NewPCG(uint64(len(targets)), 0))
		m, registry := NewMetrics(About{Tier: "one"}, atZero, atZero), client.NewRegistry()
		registry.MustRegister(m)
		s := Server{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}
		l, err := s.Listen()
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve(ctx, l, registry)
		go func() {
			for ctx.Err() == nil {
				m.AddTurn(n.turn())
				clock.Wait(ctx, 200*time.Millisecond)
			}
		}()
		targets[l.Addr().String()] = name
	}
	server := scrapingServer(t, targets)
	want := []string{"ChronoscopeNodeNoisy noisy", "ChronoscopeNodeSlow slow"}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		firing := alerts(server, targets)
		for _, a := range firing {
			if !slices.Contains(want, a) {
				t.Fatalf("%q fires", a)
			}
		}
		if slices.Equal(firing, want) {
			return
		}
	}
	t.Errorf("after a minute there fire %q, want %q", alerts(server, targets), want)
}

// scrapingServer starts a Prometheus that scrapes the targets each second.
func scrapingServer(t *testing.T, targets map[string]string) prometheustest.Server {
	t.Helper()
	var addresses []string
	for address := range targets {
		addresses = append(addresses, fmt.Sprintf("%q", address))
	}
	return prometheustest.Start(t, fmt.Sprintf(
		"global: {evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n- {job_name: node, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: [%s]}]}\n",
		hurried(t), strings.Join(addresses, ", ")), "--enable-feature=native-histograms")
}

// alerts are those that fire, each with the name of its target, in order; none while the server does not answer.
func alerts(server prometheustest.Server, targets map[string]string) (firing []string) {
	found, err := server.Query(`ALERTS{alertstate="firing"}`)
	if err != nil {
		return nil
	}
	for _, f := range found {
		firing = append(firing, f.Metric["alertname"]+" "+targets[f.Metric["instance"]])
	}
	slices.Sort(firing)
	return firing
}
