// Command restarts kills chronoscope serve at random moments and starts it again, for an hour, while a real
// Prometheus scrapes it every second. It judges what Prometheus has stored, what each life used, and what the
// kills left behind.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./restarts -chronoscope /tmp/chronoscope    # an hour, on Linux, with Debian's prometheus
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/clock"
)

func main() { command.Main("restarts", run) }

// experiment says what to run, and how long.
type experiment struct {
	tool, budget, rules string
	duration            time.Duration
	least, most         time.Duration // the shortest and the longest life
	folder              string        // for temporary files of the experiment
	address             string        // of serve
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	e := experiment{}
	flags := flag.NewFlagSet("restarts", flag.ContinueOnError)
	flags.StringVar(&e.tool, "chronoscope", "chronoscope", "the `program` to judge")
	flags.StringVar(&e.budget, "budget", "5%", "serve's budget: ten times the default, so that kills fall into turns too")
	flags.StringVar(&e.rules, "rules", "../deploy/prometheus/chronoscope.rules.yml", "the `file` of rules that Prometheus evaluates")
	flags.DurationVar(&e.duration, "time", time.Hour, "the duration of the experiment")
	flags.DurationVar(&e.least, "least", 5*time.Second, "the shortest life")
	flags.DurationVar(&e.most, "most", time.Minute, "the longest life")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if e.least <= 0 || e.most <= e.least || e.duration < e.most {
		return fmt.Errorf("-least %v -most %v -time %v: choose them in ascending order", e.least, e.most, e.duration)
	}
	var err error
	if e.rules, err = filepath.Abs(e.rules); err != nil {
		return err
	}
	if e.folder, err = os.MkdirTemp("", "restarts"); err != nil {
		return err
	}
	defer os.RemoveAll(e.folder)
	if e.address, err = freeAddress(); err != nil {
		return err
	}
	runtime.LockOSThread() // Prometheus ends with this thread
	defer runtime.UnlockOSThread()
	server, stop, err := e.startPrometheus(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	lives, faults, failed := e.live(ctx, stdout)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // what there is is judged, also after Ctrl-C
	defer cancel()
	return errors.Join(failed, conclude(after, stdout, server, time.Since(began)+e.most, lives, faults))
}

// conclude prints what the lives used and the faults: those given, and those in what Prometheus stored in the past span. It returns an
// error if there are any.
func conclude(ctx context.Context, stdout io.Writer, server prometheus, span time.Duration, lives []life, faults []string) error {
	describe(stdout, lives)
	found, err := examine(ctx, stdout, server, span, len(lives))
	faults = append(faults, found...)
	for _, f := range faults {
		fmt.Fprintln(stdout, "FAULT:", f)
	}
	if len(faults) > 0 {
		return errors.Join(err, fmt.Errorf("%d faults", len(faults)))
	}
	if err == nil {
		fmt.Fprintln(stdout, "no fault")
	}
	return err
}

// examine returns the faults in what Prometheus stored.
func examine(ctx context.Context, stdout io.Writer, server prometheus, span time.Duration, lives int) (faults []string, err error) {
	stored, err := server.stored(ctx, jobName, span)
	if err != nil {
		return nil, err
	}
	faults, seen := judge(stored, runtime.NumCPU())
	fmt.Fprintf(stdout, "%d scrapes of %d lives; %d series; own CPU time in the rest of each life at most %.1f %% of a CPU\n",
		seen.scrapes, seen.lives, seen.series, 100*seen.mostCPU)
	if seen.lives < lives*9/10 {
		faults = append(faults, fmt.Sprintf("process_start_time_seconds shows %d lives of %d", seen.lives, lives))
	}
	asked, err := server.ask(ctx, span, seen, stdout)
	return append(faults, asked...), err
}

// live starts serve and kills it, until the time is over.
func (e experiment) live(ctx context.Context, stdout io.Writer) (lives []life, faults []string, err error) {
	shared := listed("/dev/shm", "/sys/kernel/tracing/instances")
	for end := time.Now().Add(e.duration); time.Now().Before(end) && ctx.Err() == nil; {
		l, err := e.liveOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return lives, faults, fmt.Errorf("life %d: %w", len(lives)+1, err)
		}
		lives = append(lives, l)
		for _, left := range append(listed(filepath.Join(e.folder, "tmp")), subtract(listed("/dev/shm", "/sys/kernel/tracing/instances"), shared)...) {
			faults = append(faults, fmt.Sprintf("life %d left %s", len(lives), left))
		}
		if l.ended != "" {
			faults = append(faults, fmt.Sprintf("life %d ended by itself: %s", len(lives), l.ended))
		}
		if l.orphans {
			faults = append(faults, fmt.Sprintf("life %d left processes", len(lives)))
		}
		fmt.Fprintf(stdout, "%s life %d: %v\n", time.Now().UTC().Format(time.TimeOnly), len(lives), l)
	}
	if c, err := net.Dial("tcp", e.address); err == nil {
		c.Close()
		faults = append(faults, "after the last kill something still listens")
	}
	return lives, faults, ctx.Err()
}

// life is one life of serve: from its start to its kill.
type life struct {
	lasted, listening    time.Duration // in all; until it listened
	peakKiB              int
	descriptors, threads int
	orphans              bool   // processes were left in its group
	ended                string // how it ended by itself, with the end of what it said; empty if it was killed
}

func (l life) String() string {
	return fmt.Sprintf("%.1f s, listening after %.0f ms, peak %.1f MiB, %d descriptors, %d threads",
		l.lasted.Seconds(), float64(l.listening.Microseconds())/1e3, float64(l.peakKiB)/1024, l.descriptors, l.threads)
}

// liveOnce starts serve, kills it after a random time, and returns what it used just before. It returns an error if serve does not
// listen within a minute.
func (e experiment) liveOnce(ctx context.Context) (l life, err error) {
	temporary, configuration := filepath.Join(e.folder, "tmp"), filepath.Join(e.folder, "web.yml")
	if err := errors.Join(os.MkdirAll(temporary, 0o700), os.WriteFile(configuration, []byte("http_server_config: {headers: {X-Frame-Options: deny}}\n"), 0o600)); err != nil {
		return l, err
	}
	serve := exec.CommandContext(ctx, e.tool, "serve", "--web.listen-address", e.address, "--web.config.file", configuration, "--budget", e.budget)
	serve.Env = append(os.Environ(), "TMPDIR="+temporary)
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	serve.Cancel = func() error { return syscall.Kill(-serve.Process.Pid, syscall.SIGKILL) }
	said := &sayings{listens: make(chan struct{})}
	serve.Stderr = said
	serve.WaitDelay = time.Second // for children that hold its standard error
	// Pdeathsig is sent when the thread that started the process ends
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	if err := serve.Start(); err != nil {
		return l, err
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	byItself := false
	select {
	case <-said.listens:
		l.listening = time.Since(start)
		select {
		case err = <-ended:
			byItself = true // or killed by somebody else, such as the kernel for want of memory
			ended <- err
		case <-ctx.Done():
		case <-time.After(e.least + rand.N(e.most-e.least) - l.listening):
			l.peakKiB, l.threads, l.descriptors, err = used(serve.Process.Pid)
		}
	case err = <-ended:
		err = fmt.Errorf("serve does not listen: %w: %s", err, said.end())
		ended <- err
	case <-time.After(time.Minute):
		err = fmt.Errorf("serve does not listen: %s", said.end())
	}
	_ = serve.Process.Kill() // kill serve alone: its children have to end by themselves
	how := <-ended
	l.lasted = time.Since(start)
	status, _ := serve.ProcessState.Sys().(syscall.WaitStatus)
	if l.listening > 0 && (byItself || status.Signal() != syscall.SIGKILL) {
		l.ended, err = fmt.Sprintf("%v: %s", how, said.end()), nil
	}
	for range 20 { // a child needs a moment to end
		if l.orphans = syscall.Kill(-serve.Process.Pid, 0) == nil; !l.orphans {
			break
		}
		clock.Wait(ctx, 100*time.Millisecond)
	}
	if l.orphans {
		_ = syscall.Kill(-serve.Process.Pid, syscall.SIGKILL)
	}
	return l, err
}

// sayings are the end of what serve says. listens is closed when it says that it listens.
type sayings struct {
	listens chan struct{}
	mutex   sync.Mutex
	text    string
	closed  bool
}

func (s *sayings) Write(text []byte) (int, error) {
	const kept = 4096
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.text += string(text)
	if !s.closed && strings.Contains(s.text, "Listening on") {
		s.closed = true
		close(s.listens)
	}
	s.text = s.text[max(0, len(s.text)-kept):]
	return len(text), nil
}

func (s *sayings) end() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text
}

// used reads the peak of a process's memory, and its present threads and file descriptors.
func used(pid int) (peakKiB, threads, descriptors int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmHWM: %d kB", &peakKiB)
		fmt.Sscanf(line, "Threads: %d", &threads)
	}
	open, err2 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return peakKiB, threads, len(open), errors.Join(err, err2)
}

// describe prints the least, the median and the largest of each figure of the lives.
func describe(stdout io.Writer, lives []life) {
	fmt.Fprintf(stdout, "%d lives: least, median, largest\n", len(lives))
	if len(lives) == 0 {
		return
	}
	for _, row := range []struct {
		name string
		of   func(life) float64
	}{
		{"life (s)", func(l life) float64 { return l.lasted.Seconds() }},
		{"listening after (ms)", func(l life) float64 { return float64(l.listening.Microseconds()) / 1e3 }},
		{"peak of memory (MiB)", func(l life) float64 { return float64(l.peakKiB) / 1024 }},
		{"descriptors", func(l life) float64 { return float64(l.descriptors) }},
		{"threads", func(l life) float64 { return float64(l.threads) }},
	} {
		var all []float64
		for _, l := range lives {
			all = append(all, row.of(l))
		}
		slices.Sort(all)
		fmt.Fprintf(stdout, "  %-22s %8.1f %8.1f %8.1f\n", row.name, all[0], all[len(all)/2], all[len(all)-1])
	}
}

// listed returns the entries of folders that can be read.
func listed(folders ...string) (names []string) {
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			names = append(names, filepath.Join(folder, entry.Name()))
		}
	}
	return names
}

func subtract(all, known []string) []string {
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(known, name) })
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
