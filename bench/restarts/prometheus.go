package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chronoscope/bench/internal/command"
)

// prometheus is the address of a running server.
type prometheus string

const jobName = "restarts"

// startPrometheus starts a server that scrapes serve every second and evaluates the rules, and returns when it is ready. It runs on
// after the end of ctx, until stop. It is killed when the thread that calls this ends.
func (e experiment) startPrometheus(ctx context.Context) (server prometheus, stop func(), err error) {
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(e.folder, "prometheus.yml")
	text := fmt.Sprintf("global: {evaluation_interval: 5s}\nrule_files: [%q]\nscrape_configs: [{job_name: %s, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: [%q]}]}]\n",
		e.rules, jobName, e.address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", nil, err
	}
	command := command.Child(context.WithoutCancel(ctx), "prometheus", "--config.file="+file, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(e.folder, "data"), "--log.level=error", "--enable-feature=native-histograms")
	command.Stderr = os.Stderr
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := command.Start(); err != nil {
		return "", nil, fmt.Errorf("%w: install the Debian package prometheus", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	stop = func() {
		_ = command.Process.Kill()
		<-ended
	}
	server = prometheus("http://" + address)
	for limit := time.Now().Add(time.Minute); ; {
		answer, err := http.Get(string(server) + "/-/ready")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return server, stop, nil
			}
		}
		select {
		case err := <-ended:
			return "", nil, fmt.Errorf("prometheus ended: %w", err)
		case <-ctx.Done():
			stop()
			return "", nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
			if time.Now().After(limit) {
				stop()
				return "", nil, errors.New("prometheus is not ready after a minute")
			}
		}
	}
}

// point is a sample as Prometheus' API shows it: a time in seconds and a value as text.
type point struct{ at, value float64 }

func (p *point) UnmarshalJSON(text []byte) error {
	var value string
	if err := json.Unmarshal(text, &[]any{&p.at, &value}); err != nil {
		return err
	}
	var err error
	p.value, err = strconv.ParseFloat(value, 64)
	return err
}

// series has the samples of one metric with labels.
type series struct {
	Metric map[string]string
	Value  point   // of an instant vector
	Values []point // of a range vector
}

func (s series) name() string { return s.Metric["__name__"] }

// String returns the name with the labels.
func (s series) String() string {
	labels := []string{}
	for _, key := range slices.Sorted(maps.Keys(s.Metric)) {
		if key != "__name__" && key != "instance" && key != "job" {
			labels = append(labels, key+"="+strconv.Quote(s.Metric[key]))
		}
	}
	return s.name() + "{" + strings.Join(labels, ",") + "}"
}

// query evaluates a query at one moment, or if step is above 0, at steps over the past span.
func (server prometheus) query(ctx context.Context, query string, span, step time.Duration) ([]series, error) {
	now := time.Now()
	form, path := url.Values{"query": {query}}, "/api/v1/query"
	if step > 0 {
		path = "/api/v1/query_range"
		form.Set("start", fmt.Sprint(float64(now.Add(-span).UnixMilli())/1e3))
		form.Set("end", fmt.Sprint(float64(now.UnixMilli())/1e3))
		form.Set("step", fmt.Sprint(step.Seconds()))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, string(server)+path+"?"+form.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return nil, fmt.Errorf("%s: %s: %s", query, answer.Status, text)
	}
	var result struct{ Data struct{ Result []series } }
	err = json.NewDecoder(answer.Body).Decode(&result)
	return result.Data.Result, err
}

// stored returns all series of a job that have plain samples in the past span.
func (server prometheus) stored(ctx context.Context, job string, span time.Duration) ([]series, error) {
	return server.query(ctx, fmt.Sprintf(`{job=%q,__name__=~"(chronoscope|process)_.+|up"}[%ds]`, job, int(span.Seconds())+1), 0, 0)
}

// fewScrapes are those of two minutes, twice the span of a rate.
const fewScrapes = 120

// ask asks Prometheus for rates and shares of the past, checks that they are possible, and prints its increases
// compared with those in the samples. A rate without a value is a fault, unless there are few scrapes.
func (server prometheus) ask(ctx context.Context, span time.Duration, seen seen, stdout io.Writer) (faults []string, err error) {
	cpus := float64(runtime.NumCPU())
	const slack = 1.02 // Prometheus extrapolates to the ends of the window
	// The exporter reads the kernel's counts once a turn. The first turn of a minute therefore also adds what the
	// kernel counted since the turn before, which was up to oldestTurn seconds before that minute.
	read := slack * (1 + seen.oldestTurn/60)
	for _, bounded := range []struct {
		name, query string
		most        float64
	}{
		{"share of time lost", `sum(rate(chronoscope_lost_seconds_total[1m])) / (sum(rate(chronoscope_watched_seconds_total[1m])) > 0)`, slack},
		{"share lost over turns", `rate(chronoscope_turn_lost_ratio_sum[1m]) / (rate(chronoscope_turn_lost_ratio_count[1m]) > 0)`, slack},
		{"recorded share lost", `instance:chronoscope_lost:mean15m`, slack},
		{"time watched per second", `rate(chronoscope_watched_seconds_total[1m])`, slack},
		{"own CPU time per second", `rate(chronoscope_own_cpu_seconds_total[1m])`, slack * cpus},
		{"process CPU time per second", `rate(process_cpu_seconds_total[1m])`, slack * cpus},
		{"run-queue wait per second", `rate(chronoscope_runqueue_wait_seconds_total[1m])`, read},
		{"steal per second", `rate(chronoscope_stolen_seconds_total[1m])`, read * cpus},
		{"throttled per second", `rate(chronoscope_throttled_seconds_total[1m])`, read},
		{"gaps per second", `histogram_count(rate(chronoscope_gap_seconds[1m]))`, 1e6},
		{"gaps: length per second", `histogram_sum(rate(chronoscope_gap_seconds[1m]))`, slack},
	} {
		all, err := server.query(ctx, bounded.query, span, time.Second)
		if err != nil {
			return faults, err
		}
		least, most, n := 0.0, 0.0, 0
		for _, s := range all {
			for _, p := range s.Values {
				least, most, n = min(least, p.value), max(most, p.value), n+1
			}
		}
		fmt.Fprintf(stdout, "  %-28s %5d values, least %.4g, most %.4g of %.4g\n", bounded.name, n, least, most, bounded.most)
		switch {
		case n == 0 && seen.scrapes < fewScrapes: // too few for a rate
		case n == 0:
			faults = append(faults, fmt.Sprintf("%s: no value at all", bounded.name))
		case least < 0 || !(most <= bounded.most):
			faults = append(faults, fmt.Sprintf("%s is %.4g to %.4g, and can't be below 0 or above %.4g", bounded.name, least, most, bounded.most))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen.grew)) {
		found, err := server.query(ctx, fmt.Sprintf("sum(increase(%s[%ds]))", name, int(span.Seconds())), 0, 0)
		if err != nil {
			return faults, err
		}
		if len(found) != 1 || seen.grew[name] == 0 {
			continue
		}
		ratio := found[0].Value.value / seen.grew[name]
		fmt.Fprintf(stdout, "  increase(%s) is %.4g, in the samples %.4g: ratio %.4f\n", name, found[0].Value.value, seen.grew[name], ratio)
	}
	alerts, err := server.query(ctx, fmt.Sprintf(`count_over_time(ALERTS{alertstate="firing"}[%ds])`, int(span.Seconds())), 0, 0)
	for _, s := range alerts {
		fmt.Fprintf(stdout, "  alert %s fired in %.0f evaluations\n", s.Metric["alertname"], s.Value.value)
	}
	return faults, err
}
