package fidelity

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Reference is a clock that rests on another oscillator than the processor's
// counters do.
type Reference struct {
	clock.Rated
	release func() error
}

// Close releases the system resources that the reference holds.
func (r Reference) Close() error {
	if r.release == nil {
		return r.Rated.Close()
	}
	return r.release()
}

// WorstReachPPM is the largest [Reference.ReachPPM] with which a reference can vouch for a counter's
// rate: twice the error of a watch crystal.
const WorstReachPPM = 2 * watchCrystalPPM

// ReachPPM returns the smallest error of a counter's rate, in parts per million, that the reference
// can show in an interval of the given length. It consists of the reference's steps at both ends of
// the interval and of the error of the reference's own rate, TickNs.
func (r Reference) ReachPPM(interval time.Duration) float64 {
	return 2e6*stepNs(r.Rated)/float64(interval.Nanoseconds()) + 1e6*r.TickNs.RelativeHalfWidth()
}

// References opens the independent references of this machine, and returns the reason for each one
// that is missing. root is the root of the file system. span is how long the experiment takes: the
// error of a clock that is synchronised over the network is divided by it. The caller closes the
// references.
func References(root fs.FS, span time.Duration) ([]Reference, []*clock.Unavailable) {
	var found []Reference
	var missing []*clock.Unavailable
	for _, r := range []struct {
		name string
		open func(fs.FS, time.Duration) (Reference, *clock.Unavailable)
	}{{PTPKVM, openPTP}, {RTC, openRTC}, {Synchronised, openSynchronised}} {
		reference, unavailable := r.open(root, span)
		if unavailable != nil {
			unavailable.Name = r.name
			missing = append(missing, unavailable)
			continue
		}
		reference.Name, reference.Runtime = r.name, "go"
		found = append(found, reference)
	}
	return found, missing
}

// rated returns a clock whose steps are its units and whose rate may be off by ratePPM. It times a
// few calls of read.
func rated(description clock.Clock, ratePPM float64, read func() int64) clock.Rated {
	const calls = 16
	costs := make([]float64, calls)
	for i := range costs {
		begun := time.Now()
		read()
		costs[i] = float64(time.Since(begun).Nanoseconds())
	}
	slices.Sort(costs)
	unit := description.UnitNs
	tick := stats.Estimate{Value: unit, Lo: unit * (1 - ratePPM/1e6), Hi: unit * (1 + ratePPM/1e6), Unit: "ns", Statistic: "unit"}
	return clock.Rated{
		Clock: clock.New(description, read), TickNs: tick, AccuracyNs: unit,
		MinCostNs: costs[0], MedianCostNs: stats.Median(costs), P95CostNs: stats.Quantile(costs, 0.95),
	}
}

// ptpOfKVM returns the index of the PTP clock by which KVM passes on the host's time
// (Documentation/virt/kvm/x86/hypercalls.rst, KVM_HC_CLOCK_PAIRING; its name is from
// drivers/ptp/ptp_kvm_common.c).
func ptpOfKVM(root fs.FS) (index int, err error) {
	const directory = "sys/class/ptp"
	entries, err := fs.ReadDir(root, directory)
	if err != nil {
		return 0, err
	}
	var others []string
	for _, e := range entries {
		name, err := fs.ReadFile(root, directory+"/"+e.Name()+"/clock_name")
		if err != nil {
			continue
		}
		number, found := strings.CutPrefix(e.Name(), "ptp")
		index, err := strconv.ParseUint(number, 10, 16)
		if found && err == nil && strings.TrimSpace(string(name)) == "KVM virtual PTP" {
			return int(index), nil
		}
		others = append(others, fmt.Sprintf("%.40q", strings.TrimSpace(string(name))))
	}
	if len(others) == 0 {
		return 0, fmt.Errorf("/%s lists no clocks", directory)
	}
	return 0, fmt.Errorf("/%s lists no clock named \"KVM virtual PTP\", only %s", directory, strings.Join(others, ", "))
}

// watchCrystalPPM is how far the rate of a calendar chip may be off. Its crystal is a watch crystal,
// which is off by about 20 parts per million at room temperature and by more at other temperatures.
const watchCrystalPPM = 100

// openRTC opens the calendar chip, which is read in whole seconds
// (Documentation/ABI/testing/sysfs-class-rtc, since_epoch). Its update interrupt would tell the
// start of a second to a millisecond, but only one process of the machine can have it.
func openRTC(root fs.FS, _ time.Duration) (Reference, *clock.Unavailable) {
	const name = "sys/class/rtc/rtc0/since_epoch"
	if _, err := readSeconds(root, name); err != nil {
		return Reference{}, &clock.Unavailable{
			Reason: clock.NotSupportedHere, Detail: err.Error(),
			Remedy: "on a virtual machine, let the host pass a real-time clock on",
		}
	}
	read := func() int64 {
		seconds, err := readSeconds(root, name)
		if err != nil {
			return unread
		}
		return seconds
	}
	return Reference{Rated: rated(clock.Clock{
		API: "/" + name, Kind: clock.KindWall, Scope: clock.ScopeMachine, UnitNs: 1e9,
		Calendar: true, Settable: true, CountsSleep: clock.Yes, CountsSuspend: clock.Yes,
	}, watchCrystalPPM, read)}, nil
}

func readSeconds(root fs.FS, name string) (int64, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/%s holds %.40q, not a number of seconds", name, text)
	}
	return seconds, nil
}

// discipline is what the kernel says about how well the calendar clock is synchronised
// (adjtimex(2)).
type discipline struct {
	synchronised bool
	maxErrorNs   float64
}

// useful returns an error if the calendar clock is not synchronised, or not well enough.
func (d discipline) useful() error {
	const worst = 1e9
	switch {
	case !d.synchronised:
		return fmt.Errorf("the kernel says that it is not synchronised (adjtimex, STA_UNSYNC)")
	case !(d.maxErrorNs < worst):
		return fmt.Errorf("it may be off by %s (adjtimex, maxerror)", stats.Duration(d.maxErrorNs, 3))
	}
	return nil
}

// synchronised returns the calendar clock c as a reference. At each end of the span it may be off by
// the error that the kernel states.
func synchronised(c *clock.Clock, d discipline, span time.Duration) (Reference, *clock.Unavailable) {
	if err := d.useful(); err != nil {
		c.Close()
		return Reference{}, &clock.Unavailable{
			Reason: clock.NotSupportedHere, Detail: err.Error(),
			Remedy: "run a time service, such as chrony, and wait until it has settled",
		}
	}
	ratePPM := 2e6 * d.maxErrorNs / float64(span.Nanoseconds())
	return Reference{Rated: rated(*c, ratePPM, c.Read), release: c.Close}, nil
}
