// Command neighbour measures what chronoscope serve costs a program on another CPU and on the same one.
// chronoscope run measures known work in pairs, in random order: with serve stopped (SIGSTOP), and with it
// running.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./neighbour -chronoscope /tmp/chronoscope    # 7 minutes, on a calm machine with two CPUs
//
// A turn (a short measurement by serve) that falls due while serve is stopped is taken as soon as it goes on. So the
// half of the time in which serve runs sees twice as many turns as usual. Half of the default budget makes up for
// that.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/peer"
	"chronoscope/clock"
	"chronoscope/machine"
)

func main() { command.Main("neighbour", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("neighbour", flag.ContinueOnError)
	tool := flags.String("chronoscope", "chronoscope", "the `program` to judge")
	limit := flags.Duration("time", 3*time.Minute, "how long each of the two cases is measured")
	cpu := flags.Int("cpu", 1, "the `CPU` of the known work")
	other := flags.Int("other", 0, "another `CPU`")
	budget := flags.String("budget", "0.25%", "serve's budget: half of the one to judge")
	work := flags.Bool("work", false, "do the known work, and nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *work {
		fmt.Fprintln(io.Discard, knownWork())
		return nil
	}
	for _, c := range []struct {
		name     string
		cpu      int
		mostCost float64
	}{{"another CPU", *other, 0.003}, {"the same CPU", *cpu, 0.01}} {
		e, err := measure(ctx, *tool, *budget, c.cpu, *cpu, *limit)
		if e.pairs > 0 {
			fmt.Fprintf(stdout, "serve on %s: %v; at most %.1f %% are allowed: %s\n", c.name, e, 100*c.mostCost, e.verdict(1+c.mostCost))
		}
		if err != nil {
			return fmt.Errorf("serve on %s: %w", c.name, err)
		}
	}
	return nil
}

// knownWork takes some 60 ms: dependent multiplications, and dependent loads from 8 MiB.
func knownWork() uint64 {
	x := uint64(1)
	for range 40_000_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	next := make([]uint32, 2<<20)
	for i, to := range rand.New(rand.NewPCG(1, 2)).Perm(len(next) / 16) {
		next[i*16] = uint32(to * 16)
	}
	at := uint32(0)
	for range 200_000 {
		at = next[at]
	}
	return x + uint64(at)
}

// measure compares two times of known work: while serve runs on its own CPU, and while serve is stopped. If chronoscope run
// fails or is interrupted, measure returns the error with the pairs so far.
func measure(ctx context.Context, tool, budget string, serveCPU, workCPU int, limit time.Duration) (e effect, err error) {
	self, err := os.Executable()
	if err != nil {
		return e, err
	}
	serve := exec.CommandContext(ctx, tool, "serve", "--web.listen-address", "127.0.0.1:0", "--budget", budget, "--cpu", strconv.Itoa(serveCPU))
	said, err := serve.StderrPipe()
	if err != nil {
		return e, err
	}
	if err := serve.Start(); err != nil {
		return e, err
	}
	defer func() {
		serve.Process.Signal(syscall.SIGCONT)
		serve.Process.Kill()
		serve.Wait()
	}()
	address, err := listening(said)
	if err == nil {
		err = surveyed(ctx, address)
	}
	if err != nil {
		return e, err
	}
	pid, work := strconv.Itoa(serve.Process.Pid), self+" -work"
	before := cpuSeconds(serve.Process.Pid)
	stolen := stolenSeconds(workCPU)
	text, failed := peer.Output(ctx, "", tool, "run", "--format", "json", "--cpu", strconv.Itoa(workCPU), "--max-runs", "100000",
		"--max-time", (limit / 2).String(), "--precision", "0.001%", "--prepare", "kill -STOP "+pid, "--prepare", "kill -CONT "+pid, work, work)
	if len(text) == 0 {
		return e, failed
	}
	e, err = effectOf(text)
	e.serveSeconds, e.stolenSeconds = cpuSeconds(serve.Process.Pid)-before, stolenSeconds(workCPU)-stolen
	return e, errors.Join(failed, err)
}

var listensOn = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// listening returns the address on which serve says that it listens.
func listening(said io.Reader) (string, error) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if found := listensOn.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, said)
			return found[1], nil
		}
	}
	return "", fmt.Errorf("serve does not listen")
}

// surveyed waits until serve has made its first survey, for five minutes at most: it waits until the budget allows it. The later
// surveys come about an hour apart.
func surveyed(ctx context.Context, address string) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end) && ctx.Err() == nil; clock.Wait(ctx, time.Second) {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err == nil && strings.Contains(string(text), "chronoscope_surveys_total 1") {
			return nil
		}
	}
	return cmp.Or(ctx.Err(), errors.New("serve makes no survey"))
}

// cpuSeconds returns the CPU time that a process has used; a clock tick is 10 ms for programs.
func cpuSeconds(pid int) (seconds float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	for _, field := range fields[11:13] {
		ticks, _ := strconv.ParseFloat(field, 64)
		seconds += ticks / 100
	}
	return seconds
}

// stolenSeconds returns the steal of a CPU since the start of the system.
func stolenSeconds(cpu int) float64 {
	times, err := machine.ReadCPUTimes(os.DirFS("/"), cpu)
	if err != nil {
		return math.NaN()
	}
	return times.StolenNs / 1e9
}

// effect is how much longer work takes while serve runs.
type effect struct {
	ratio, lo, hi float64
	serveSeconds  float64 // its CPU time
	stolenSeconds float64 // the steal of the work's CPU, in both halves
	medians       string  // run's own comparison
	pairs         int
}

func (e effect) String() string {
	return fmt.Sprintf("the mean time is %+.3f %% (95 %% interval %+.3f to %+.3f), of %d pairs; %s; serve used %.2f s; %.2f s of the work's CPU were stolen", 100*(e.ratio-1), 100*(e.lo-1), 100*(e.hi-1), e.pairs, e.medians, e.serveSeconds, e.stolenSeconds)
}

// verdict compares the ratio with the largest one that is allowed.
func (e effect) verdict(most float64) string {
	switch {
	case e.hi <= most:
		return "it holds"
	case e.lo > most:
		return "IT DOES NOT HOLD"
	}
	return "undecided"
}

// effectOf returns the ratio of the mean times of the pairs in a document of run. Medians would not show what
// serve costs, as most runs see none of its turns. Stolen time stays in: a document has that of all CPUs only.
func effectOf(text []byte) (e effect, err error) {
	document, err := peer.Read(text)
	if err != nil {
		return e, err
	}
	if len(document.Results) != 2 || len(document.Pairs) != 1 {
		return e, fmt.Errorf("%d results", len(document.Results))
	}
	e.ratio, e.lo, e.hi, e.pairs = ratioOfMeans(pairs(document.Results[0].Runs, document.Results[1].Runs))
	r := document.Pairs[0].Ratio
	e.medians = fmt.Sprintf("the median alone on the machine %+.3f %% (%+.3f to %+.3f)", 100*(r.Value-1), 100*(r.Lo-1), 100*(r.Hi-1))
	return e, nil
}

// pairs returns the times of runs that followed one another, one of each series, so that drift hits both of a pair alike. It leaves
// out pairs with a run that was rejected. After a run that is missing, pairs may be of two rounds until two runs of one series meet.
func pairs(first, second []peer.Run) (a, b []float64) {
	type run struct {
		peer.Run
		isSecond bool
	}
	var all []run
	for _, r := range first {
		all = append(all, run{r, false})
	}
	for _, r := range second {
		all = append(all, run{r, true})
	}
	slices.SortStableFunc(all, func(x, y run) int { return x.Started.Compare(y.Started) })
	for i := 0; i+1 < len(all); i++ {
		x, y := all[i], all[i+1]
		if x.isSecond == y.isSecond { // the other run of this round is missing
			continue
		}
		i++
		if x.Rejected || y.Rejected {
			continue
		}
		if x.isSecond {
			x, y = y, x
		}
		a, b = append(a, x.WallNs), append(b, y.WallNs)
	}
	return a, b
}

// ratioOfMeans returns mean(b)/mean(a) with its 95 % interval, by the delta method over pairs. a and b have the same length.
func ratioOfMeans(a, b []float64) (ratio, lo, hi float64, pairs int) {
	pairs = len(a)
	var sumA, sumB float64
	for i := range pairs {
		sumA += a[i]
		sumB += b[i]
	}
	n := float64(pairs)
	ratio = sumB / sumA
	var squares float64
	for i := range pairs {
		residual := b[i] - ratio*a[i]
		squares += residual * residual
	}
	half := 1.96 * math.Sqrt(squares/(n-1)/n) / (sumA / n)
	return ratio, ratio - half, ratio + half, pairs
}
