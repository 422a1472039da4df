package gobench

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"chronoscope/stats"
)

// notes is the file into which a benchmark writes its calls. All benchmarks of a revision have the same one.
type notes struct {
	path  string
	calls int
}

// mostNoted is the largest number of calls that a run notes, as they take memory.
const mostNoted = 1 << 17

// notesOf returns the file of a binary's next run. It removes what an earlier run left there that failed after it had
// noted calls.
func notesOf(binary string, calls int) notes {
	n := notes{path: filepath.Join(filepath.Dir(binary), "calls.txt"), calls: min(calls, mostNoted)}
	_ = os.Remove(n.path)
	return n
}

// env returns the variables that tell the benchmark the file's path.
func (n notes) env() []string {
	return []string{"CHRONOSCOPE_CALLS=" + n.path, "CHRONOSCOPE_MOST=" + strconv.Itoa(n.calls)}
}

// read returns the calls, and removes the file. It returns none if the benchmark has no loop that notes them.
func (n notes) read() ([]call, error) {
	data, err := os.ReadFile(n.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = os.Remove(n.path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading its calls: %w", err)
	}
	return parseCalls(string(data))
}

// call is one call of a benchmark's loop. Times are in nanoseconds. Marks are the recorder's readings between
// calls.
type call struct {
	timedNs float64 // while the timer was on
	wallNs  float64 // from the middle of the mark before it to that of the mark after it
	// chainNs is the time of a chain of dependent instructions, timed like the call at the mark after it. Every
	// other chain is twice as long.
	chainNs float64
	twice   bool
	timerOn bool // at the mark after it
	// sameThread says that one system thread ran the call from beginning to end. Only then are the thread's CPU
	// time and switches in wallNs known.
	sameThread             bool
	cpuNs                  float64
	voluntary, involuntary int64
}

// parseCalls reads the recorder's file.
func parseCalls(text string) (all []call, err error) {
	const fields = 9
	head, rest, _ := strings.Cut(text, "\n")
	if head != "calls" {
		return nil, errors.New("its calls are malformed: the file has no head")
	}
	for line := range strings.Lines(rest) {
		var v [fields]int64
		parts := strings.Fields(line)
		if len(parts) != fields {
			return nil, fmt.Errorf("its calls are malformed: %q", clip(line))
		}
		for i, part := range parts {
			if v[i], err = strconv.ParseInt(part, 10, 64); err != nil {
				return nil, fmt.Errorf("its calls are malformed: %q", clip(line))
			}
		}
		if v[0] == 0 && v[4] == 0 {
			continue // the timer stood still for a whole iteration of another loop
		}
		all = append(all, call{
			timedNs: float64(v[0]), wallNs: float64(v[1]), chainNs: float64(v[2]), twice: v[3] != 0, timerOn: v[4] != 0,
			sameThread: v[5] != 0, cpuNs: float64(v[6]), voluntary: v[7], involuntary: v[8],
		})
	}
	return all, nil
}

// lookErrorNs is the largest error of a thread's CPU time, which getrusage(2) gives in microseconds.
// switchErrorNs is what a context switch may add to it.
const lookErrorNs, switchErrorNs = 2e3, 5e3

// boundsNs bounds the timed part of a call without the time for which other programs had its CPU. leastNs is
// the time of the shortest call.
func (c call) boundsNs(leastNs float64) (low, high float64) {
	leastNs = math.Min(leastNs, c.timedNs)
	switch {
	case !c.sameThread:
		return leastNs, c.timedNs
	case c.involuntary+c.voluntary == 0:
		return c.timedNs, c.timedNs
	}
	errorNs := lookErrorNs + switchErrorNs*float64(1+c.involuntary+c.voluntary)
	awayNs := math.Max(0, c.wallNs-c.cpuNs)
	if c.voluntary == 0 && c.involuntary == 1 && awayNs > c.timedNs+errorNs {
		return c.timedNs, c.timedNs // it lost its CPU once, for longer than the timed part
	}
	low = math.Max(leastNs, c.timedNs-awayNs-errorNs)
	if c.voluntary > 0 { // it waited by itself, or for others
		return low, c.timedNs
	}
	timedAwayNs := awayNs - (c.wallNs - c.timedNs)
	return low, math.Max(low, math.Min(c.timedNs, c.timedNs-timedAwayNs+errorNs))
}

// clockCost returns what the clock adds to a call: the time of a chain of no links, extrapolated from chains of
// two lengths. Its interval holds nine tenths of single readings.
func clockCost(calls []call) stats.Estimate {
	var once, twice []float64
	for _, c := range calls {
		if c.twice {
			twice = append(twice, c.chainNs)
		} else {
			once = append(once, c.chainNs)
		}
	}
	if len(once) == 0 || len(twice) == 0 {
		return stats.Estimate{Hi: slices.Max(append(once, twice...))}
	}
	slices.Sort(once)
	slices.Sort(twice)
	usual := trimmedMean(once)
	cost := math.Max(0, 2*usual-trimmedMean(twice))
	return stats.Estimate{
		Value: cost, Lo: math.Max(0, cost+stats.Quantile(once, 0.05)-usual), Hi: cost + math.Max(0, stats.Quantile(once, 0.95)-usual),
	}
}

// trimmedMean returns the mean of the middle four fifths of sorted values.
func trimmedMean(sorted []float64) (mean float64) {
	tenth := len(sorted) / 10
	middle := sorted[tenth : len(sorted)-tenth]
	for _, v := range middle {
		mean += v / float64(len(middle))
	}
	return mean
}

// timedByCalls takes the time of a run from its calls, if its loop stops its timer, and the benchmark reports no time of its
// own. TimedNs becomes the time that go test would print, and Apart gets the time without the cost of the clock. The printed
// MB/s is of a time that includes the work of the recorder, and becomes that of TimedNs.
//
// The waits of all blocking calls together are no more than those of the process, if these are known.
func (o Observation) timedByCalls(calls []call) Observation {
	if len(calls) == 0 || o.OwnTime {
		return o
	}
	leastNs := math.Inf(1)
	for _, c := range calls {
		leastNs = math.Min(leastNs, c.timedNs)
	}
	var timed, low, high, blocked float64
	for _, c := range calls {
		least, most := c.boundsNs(leastNs)
		timed, low, high = timed+c.timedNs, low+least, high+most
		if c.voluntary > 0 || !c.sameThread {
			blocked += most - least
		}
	}
	if stats.IsFinite(o.WaitNs) {
		low += math.Max(0, blocked-math.Max(0, o.WaitNs))
	}
	cost := clockCost(calls).Value * float64(len(calls))
	printed := cost                  // the recorder adds nothing to what is timed
	if calls[len(calls)-1].timerOn { // the recorder adds one of two readings
		printed = cost / 2
	}
	scale := float64(o.N) / float64(len(calls))
	printedNs := o.TimedNs
	o.TimedNs, o.RoundingNs = math.Max(0, timed-cost+printed)*scale, 0
	for i, m := range o.Metrics {
		if m.Unit == "MB/s" && o.TimedNs > 0 {
			o.Metrics[i].Value *= printedNs / o.TimedNs
		}
	}
	o.Apart = &Apart{LowNs: (low - cost) * scale, HighNs: (high - cost) * scale}
	return o
}
