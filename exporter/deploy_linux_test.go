package exporter

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
)

var listensOn = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// The same with real exporters on this machine, two on one CPU and one on another with programs that compete for
// it. Where the healthy CPU is busy itself, nothing can be told: the test is for a quiet machine.
func TestPrometheusFindsTheRealNoisyNeighbour(t *testing.T) {
	if os.Getenv("CHRONOSCOPE_CASES") == "" {
		t.Skip("needs a quiet machine: make test-long runs it")
	}
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs, has %v: %v", cpus, err)
	}
	quiet, noisy := cpus[0], cpus[1]
	program := filepath.Join(t.TempDir(), "chronoscope")
	if said, err := exec.Command("go", "build", "-o", program, "../cmd/chronoscope").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	targets := map[string]string{}
	for name, cpu := range map[string]int{"healthy": quiet, "other": quiet, "noisy": noisy} {
		targets[realExporter(t, program, cpu)] = name
	}
	for range 4 {
		neighbour := exec.Command("taskset", "-c", strconv.Itoa(noisy), "sh", "-c", "ulimit -t 150; while :; do :; done")
		if err := neighbour.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { neighbour.Process.Kill(); neighbour.Wait() })
	}
	server := scrapingServer(t, targets)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		firing := alerts(server, targets)
		for _, a := range firing {
			if a == "ChronoscopeNodeNoisy noisy" {
				t.Log("after", time.Since(end.Add(-2*time.Minute)))
			} else if strings.HasPrefix(a, "ChronoscopeNodeNoisy") {
				t.Fatalf("%q fires", a)
			}
		}
		if len(firing) > 0 {
			return
		}
	}
	means := map[string]float64{}
	lost, err := server.Query("instance:chronoscope_lost:mean15m")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range lost {
		means[targets[s.Metric["instance"]]], _ = strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
	}
	if means["healthy"] > 0.3 || means["other"] > 0.3 {
		t.Skipf("the healthy CPU is busy itself: %v", means)
	}
	t.Errorf("nothing fires: shares lost are %v", means)
}

// realExporter starts the command on a CPU, and gives its address.
func realExporter(t *testing.T, program string, cpu int) string {
	t.Helper()
	command := exec.Command(program, "serve", "--web.listen-address", "127.0.0.1:0", "--budget", "10%", "--cpu", strconv.Itoa(cpu))
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if found := listensOn.FindStringSubmatch(lines.Text()); found != nil {
			go func() {
				for lines.Scan() {
				}
			}()
			return found[1]
		}
	}
	t.Fatal("it does not listen")
	return ""
}
