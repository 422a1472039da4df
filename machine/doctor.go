package machine

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Doctor looks for properties of a machine that will disturb measurements.
type Doctor struct {
	// Root holds the machine's /proc and /sys.
	Root fs.FS
	// Machine describes the machine.
	Machine *Machine
	// CPUs are the CPUs that measurements will run on; if empty, all that Machine lists.
	CPUs []int
	// Window is the time for which the kernel's counters are watched.
	Window time.Duration
	// Wait waits for the window, or returns earlier, and returns how long it waited.
	Wait func(time.Duration) time.Duration
}

// minWindow is the shortest useful window: the kernel counts the use of CPUs in ticks of 10 ms.
const minWindow = 50 * time.Millisecond

// question asks about one thing that may disturb measurements. ask looks at the machine and returns
// a function that gives the answer, and is called after the time for which the kernel's counters
// are watched ([Doctor.Window]). A nil finding means that the question does not apply to this
// machine; an error means that it can't be answered.
type question struct {
	topic string
	ask   func(*Doctor) answer
}

type answer func(window time.Duration) (*Finding, error)

// questions are the questions that a Doctor asks in addition to [Machine.Findings].
var questions = []question{
	{"steal", watched((*Doctor).cpuTimes, judgeSteal)},
	{"smt-sibling", watched((*Doctor).cpuTimes, judgeSibling)},
	{"interrupts", watched((*Doctor).interrupts, judgeInterrupts)},
	{"irqbalance", once(judgeIRQBalance)},
	{"swap", watched((*Doctor).swap, judgeSwap)},
	{"heat", watched((*Doctor).heat, judgeHeat)},
	{"turbo", once(judgeTurbo)},
	{"tsc", once(judgeTSC)},
	{"isolation", once(judgeIsolation)},
	{"debug-kernel", once(judgeDebugKernel)},
	{"huge-pages", once(judgeHugePages)},
	{"timer-slack", once(judgeTimerSlack)},
	{"mitigations", once(judgeMitigations)},
	{"perf-events", once(judgePerfEvents)},
}

// once makes a question that needs a single look.
func once(judge func(*Doctor) (*Finding, error)) func(*Doctor) answer {
	return func(d *Doctor) answer {
		return func(time.Duration) (*Finding, error) { return judge(d) }
	}
}

// watched makes a question about counters, which are read before and after the window.
func watched[T any](read func(*Doctor) (T, error), judge func(d *Doctor, before, after T, window time.Duration) (*Finding, error)) func(*Doctor) answer {
	return func(d *Doctor) answer {
		before, err := read(d)
		return func(window time.Duration) (*Finding, error) {
			if err != nil {
				return nil, err
			}
			if window < minWindow {
				return nil, fmt.Errorf("its counters were watched for %v only; %v would be enough", window.Round(time.Microsecond), minWindow)
			}
			after, err := read(d)
			if err != nil {
				return nil, err
			}
			return judge(d, before, after, window)
		}
	}
}

// Examine returns the findings, those of [Machine.Findings] first. If something could not be
// read, it returns no finding about it but a caveat that says what was tried and what the system
// answered.
func (d Doctor) Examine() (findings []Finding, caveats []string) {
	if d.Machine.OS != "linux" {
		return WorstFirst(d.Machine.Findings()), []string{fmt.Sprintf("steal, interrupts, swap, heat, turbo, isolated CPUs, kernel options: they are looked at on Linux only, this is %s", d.Machine.OS)}
	}
	d.CPUs = d.measuredCPUs()
	answers := make([]answer, len(questions))
	for i, q := range questions {
		answers[i] = q.ask(&d)
	}
	var window time.Duration
	d.Machine.WatchRunning(d.Root, d.Window, func(part time.Duration) time.Duration {
		waited := d.Wait(part)
		window += waited
		return waited
	})
	if rest := d.Window - window; rest > 0 {
		window += d.Wait(rest)
	}
	findings = d.Machine.Findings()
	for i, q := range questions {
		f, err := answers[i](window)
		if err != nil {
			caveats = append(caveats, plain(onTopic(q.topic, err)))
		}
		if f != nil {
			f.Topic = q.topic
			findings = append(findings, *f)
		}
	}
	return WorstFirst(findings), caveats
}

func (d *Doctor) measuredCPUs() []int {
	if len(d.CPUs) > 0 {
		return d.CPUs
	}
	cpus, err := ParseCPUList(string(d.Machine.CPUList))
	if err != nil {
		return []int{0}
	}
	return cpus
}

func (d *Doctor) files() files { return files{d.Root} }

func onTopic(topic string, err error) string {
	if text := err.Error(); strings.HasPrefix(text, topic+":") {
		return text
	}
	return topic + ": " + err.Error()
}

// fine, worthNoting and spoiling return findings of the three severities.
func fine(seen string) *Finding { return &Finding{Severity: OK, Seen: seen} }

func worthNoting(seen, effect, fix string) *Finding {
	return &Finding{Severity: Note, Seen: seen, Effect: effect, Fix: fix}
}

func spoiling(seen, effect, fix string) *Finding {
	return &Finding{Severity: Warning, Seen: seen, Effect: effect, Fix: fix}
}
