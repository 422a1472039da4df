package cli_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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
	s := &servingCommand{Cmd: exec.Command(chronoscope, append([]string{"serve", "--web.listen-address", "127.0.0.1:0"}, args...)...), said: make(chan string, 1)}
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
