package cli_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/internal/prometheustest"
	"chronoscope/machine"
)

// An exporter is the command as it serves.
type servingCommand struct {
	*exec.Cmd
	address string
	said    chan string // all of standard error, once it has ended
}

var listensOn = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// serving starts the command, and waits until it listens.
func serving(t *testing.T, args ...string) *servingCommand {
	t.Helper()
	return served(t, exec.Command(chronoscope, append([]string{"serve", "--web.listen-address", "127.0.0.1:0"}, args...)...))
}

func served(t *testing.T, command *exec.Cmd) *servingCommand {
	t.Helper()
	s := &servingCommand{Cmd: command, said: make(chan string, 1)}
	errors, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	addresses := make(chan string, 1)
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(errors); lines.Scan(); {
			fmt.Fprintln(&all, lines.Text())
			if found := listensOn.FindStringSubmatch(lines.Text()); found != nil {
				addresses <- found[1]
			}
		}
		s.said <- all.String()
	}()
	select {
	case s.address = <-addresses:
	case said := <-s.said:
		t.Fatalf("it ended: %s", said)
	case <-time.After(time.Minute):
		t.Fatal("it does not listen")
	}
	return s
}

// scrape gives the sum of the series whose names begin so.
func (s *servingCommand) scrape(t *testing.T, series string) (sum float64) {
	t.Helper()
	answer, err := http.Get("http://" + s.address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", answer.Status, err, text)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		if strings.HasPrefix(name, series) {
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			sum += x
		}
	}
	return sum
}

// await scrapes until the sum of the series is at least want.
func (s *servingCommand) await(t *testing.T, series string, want float64) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if s.scrape(t, series) >= want {
			return
		}
	}
	t.Fatalf("%s is %v, want %v or more", series, s.scrape(t, series), want)
}

// The command measures and pushes, lives through SIGHUP, and ends with status 0 at SIGTERM.
func TestServe(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	pushes := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case pushes <- r.URL.Path + " " + string(body):
		default:
		}
	}))
	defer receiver.Close()
	s := serving(t, "--budget", "50%", "--otlp-endpoint", receiver.URL, "--otlp-interval", "1s")
	s.await(t, "chronoscope_turns_total", 2)
	if pushed := <-pushes; !strings.HasPrefix(pushed, "/v1/metrics ") || !strings.Contains(pushed, "chronoscope_turns_total") {
		t.Errorf("it pushes %.200q", pushed)
	}
	if watched, failed := s.scrape(t, "chronoscope_watched_seconds_total"), s.scrape(t, `chronoscope_failures_total{step="gaps"}`); watched == 0 && failed == 0 {
		t.Error("no CPU was watched, and nothing says why")
	}
	s.await(t, "chronoscope_surveys_total", 1)
	if s.scrape(t, "chronoscope_own_cpu_seconds_total") <= 0 {
		t.Error("it has used no CPU time")
	}
	// trusted or not: one of the three verdicts stands for each piece of work
	if n := s.scrape(t, "chronoscope_work_verdict"); n != 0 && n != 2 {
		t.Errorf("%v verdicts on two pieces of work", n)
	}
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	before := s.scrape(t, "chronoscope_turns_total")
	s.await(t, "chronoscope_turns_total", before+1)
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said := <-s.said
	var ended *exec.ExitError
	if err := s.Wait(); err != nil {
		t.Errorf("it ended with %v (%v): %s", err, errors.As(err, &ended), said)
	}
}

// What the kernel counts is there before the first turn.
func TestServeReadsTheKernelAtEachScrape(t *testing.T) {
	if ns := machine.PressureNs(os.DirFS("/")); !(ns > 0) {
		t.Skip("this kernel does not tell how long threads waited for a CPU")
	}
	s := serving(t, "--pause-above", "1e-9")
	if waited := s.scrape(t, "chronoscope_runqueue_wait_seconds_total"); waited <= 0 {
		t.Errorf("no thread has waited since the machine started: %v s", waited)
	}
}

// A real Prometheus 3 has the same series from its receiver of OTLP as from a scrape, with the same values.
func TestPrometheusTakesWhatServePushes(t *testing.T) {
	program := os.Getenv("CHRONOSCOPE_PROMETHEUS")
	if program == "" {
		t.Skip("needs Prometheus 3: make otlp builds one and runs this")
	}
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("OTEL_SERVICE_NAME", "pushed")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server := prometheustest.Start(t, fmt.Sprintf("scrape_configs: [{job_name: scraped, scrape_interval: 1s, scrape_timeout: 1s, scrape_native_histograms: true, static_configs: [{targets: [%q]}]}]\n", address),
		"--web.enable-otlp-receiver")
	served(t, exec.Command(chronoscope, "serve", "--web.listen-address", address, "--otlp-endpoint", string(server)+"/api/v1/otlp", "--otlp-interval", "1s"))
	var pushed, scraped map[string]string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		pushed, scraped = seriesOf(server, "pushed"), seriesOf(server, "scraped")
		if len(scraped) > 50 && scraped["chronoscope_surveys_total"] == "1" && maps.Equal(pushed, scraped) {
			return
		}
	}
	for name, value := range scraped {
		if got, ok := pushed[name]; !ok || got != value {
			t.Errorf("%s is scraped as %s, pushed as %q", name, value, got)
		}
	}
	for name, value := range pushed {
		if _, ok := scraped[name]; !ok {
			t.Errorf("%s is pushed as %s, and not scraped", name, value)
		}
	}
	t.Errorf("%d series are scraped, %d pushed", len(scraped), len(pushed))
}

// moving matches what changes between a scrape and the next push.
var moving = regexp.MustCompile(`^process_|_age_|^chronoscope_(own_cpu|runqueue_wait|stolen|throttled)_`)

// seriesOf returns the series of a job by their names and labels, with their values unless these move.
func seriesOf(server prometheustest.Server, job string) map[string]string {
	all := map[string]string{}
	found, err := server.Query(fmt.Sprintf(`{__name__=~"(chronoscope|process)_.*", __name__!="chronoscope_gap_seconds", job=%q}`, job))
	if err != nil {
		return all
	}
	for _, quantity := range []string{"count", "sum"} {
		gaps, _ := server.Query(fmt.Sprintf(`label_replace(histogram_%s(chronoscope_gap_seconds{job=%q}), "quantity", %[1]q, "", "")`, quantity, job))
		found = append(found, gaps...)
	}
	for _, sample := range found {
		delete(sample.Metric, "job")
		delete(sample.Metric, "instance")
		name := sample.Metric["__name__"]
		delete(sample.Metric, "__name__")
		value := fmt.Sprint(sample.Value[1])
		if moving.MatchString(name) {
			value = "?"
		}
		if len(sample.Metric) > 0 {
			name += fmt.Sprint(sample.Metric)
		}
		all[name] = value
	}
	return all
}

// What is killed starts anew with counters at 0, and leaves nothing that is in its way.
func TestServeAfterAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	first := serving(t, "--budget", "50%")
	first.await(t, "chronoscope_turns_total", 1)
	first.Process.Kill()
	<-first.said
	second := serving(t, "--budget", "50%", "--web.listen-address", first.address)
	if second.address != first.address {
		t.Errorf("it listens on %s, want %s", second.address, first.address)
	}
	second.await(t, "chronoscope_turns_total", 1)
}

// A user without any rights gets turns and surveys; what is missing is counted.
func TestServeWithoutRights(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become another user; the other tests of serve run without rights then")
	}
	program := filepath.Join("/tmp", fmt.Sprintf("chronoscope-rights-%d", os.Getpid())) // where others may read it
	text, err := os.ReadFile(chronoscope)
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(program) })
	command := exec.Command(program, "serve", "--web.listen-address", "127.0.0.1:0", "--budget", "50%")
	command.Dir, command.Env = "/", []string{"HOME=/", "TMPDIR=/absent"}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	s := served(t, command)
	s.await(t, "chronoscope_turns_total", 2)
	s.await(t, "chronoscope_surveys_total", 1)
	if s.scrape(t, `chronoscope_failures_total{step="names"}`) != 1 {
		t.Error("disturbers can't be named, and nothing says so, or more than once")
	}
	if n := s.scrape(t, "chronoscope_disturber_seconds_total"); n != 0 {
		t.Errorf("disturbers took %v s, by nobody's account", n)
	}
	if n := s.scrape(t, "chronoscope_work_verdict"); n != 2 {
		t.Errorf("%v verdicts on two pieces of work", n)
	}
}

// allow binds all threads of the command to these CPUs.
func (s *servingCommand) allow(t *testing.T, cpus []int) {
	t.Helper()
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, _ := strconv.Atoi(filepath.Base(thread))
		_ = unix.SchedSetaffinity(id, &set) // the thread may have ended
	}
}

// CPUs that go away while it runs, as by hotplug or a smaller cpuset, cost no turn but those under way.
func TestServeLosesCPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs, has %v: %v", cpus, err)
	}
	s := serving(t, "--budget", "50%")
	s.await(t, "chronoscope_turns_total", 1)
	for _, left := range [][]int{cpus[:1], cpus[1:2], cpus} {
		s.allow(t, left)
		before := s.scrape(t, "chronoscope_turns_total")
		s.await(t, "chronoscope_turns_total", before+2)
	}
	if n := s.scrape(t, `chronoscope_failures_total{step="work"}`) + s.scrape(t, `chronoscope_failures_total{step="gaps"}`); n > 3 {
		t.Errorf("%v steps of turns failed, one each time that CPUs went away is what may", n)
	}
}

// Where the only CPU that it was to measure goes away, turns go on and the missing CPU is counted.
func TestServeLosesTheCPUToMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs, has %v: %v", cpus, err)
	}
	s := serving(t, "--budget", "50%", "--cpu", strconv.Itoa(cpus[1]))
	s.await(t, "chronoscope_turns_total", 1)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		s.allow(t, cpus[:1]) // again and again, since the end of a turn gives its thread the old CPUs back
		if s.scrape(t, `chronoscope_failures_total{step="pin"}`) > 0 {
			s.await(t, "chronoscope_turns_total", s.scrape(t, "chronoscope_turns_total")+1)
			return
		}
	}
	t.Error("nothing says that the CPU is gone")
}
