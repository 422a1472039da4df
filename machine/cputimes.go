package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// AllCPUs means all CPUs together, in place of a CPU's number.
const AllCPUs = -1

// CPUTimes holds how a CPU has spent its time since the system started (proc_stat(5)), in steps
// of 10 ms. The time of guests is part of UserNs only.
type CPUTimes struct {
	UserNs, SystemNs float64
	// IdleNs includes the wait for input and output.
	IdleNs float64
	// InterruptsNs is the time spent on interrupts, including soft ones. Kernels without
	// CONFIG_IRQ_TIME_ACCOUNTING count it by ticks, and so miss most of it.
	InterruptsNs float64
	// StolenNs is the time that the host gave to others while this CPU wanted to run.
	StolenNs float64
}

// statTickNs is the unit of /proc/stat: USER_HZ is 100 on every supported architecture, whatever
// CONFIG_HZ is (proc_stat(5)).
const statTickNs = 10e6

// OthersErrorNs is about twice the standard deviation of the error that the rounding down of five figures in /proc/stat
// causes in the CPU time of others: [CPUTimes.RanNs] of all CPUs less [OwnCPUNs], between two looks.
const OthersErrorNs = 2 * statTickNs

// Since returns the time spent after an earlier reading. A counter may run backwards by a tick;
// its difference is then 0.
func (t CPUTimes) Since(before CPUTimes) CPUTimes {
	return CPUTimes{
		UserNs: max(0, t.UserNs-before.UserNs), SystemNs: max(0, t.SystemNs-before.SystemNs),
		IdleNs: max(0, t.IdleNs-before.IdleNs), InterruptsNs: max(0, t.InterruptsNs-before.InterruptsNs),
		StolenNs: max(0, t.StolenNs-before.StolenNs),
	}
}

// RanNs returns the time in which the CPU ran programs, the kernel or interrupts.
func (t CPUTimes) RanNs() float64 { return t.UserNs + t.SystemNs + t.InterruptsNs }

// wantedNs returns the time for which the CPU had something to run, including stolen time.
func (t CPUTimes) wantedNs() float64 { return t.RanNs() + t.StolenNs }

// stolenShare returns the share of wantedNs that was stolen.
func (t CPUTimes) stolenShare() float64 {
	if t.wantedNs() == 0 {
		return 0
	}
	return t.StolenNs / t.wantedNs()
}

func (t CPUTimes) busyShare() float64 {
	if all := t.wantedNs() + t.IdleNs; all > 0 {
		return t.wantedNs() / all
	}
	return 0
}

// ReadCPUTimes reads the times of one CPU, or of [AllCPUs], from /proc/stat below root.
func ReadCPUTimes(root fs.FS, cpu int) (CPUTimes, error) {
	text, err := files{root}.text("proc/stat")
	if err != nil {
		return CPUTimes{}, err
	}
	for line := range strings.Lines(text) {
		if of, t, err := parseCPUTimes(line); of == cpu && !errors.Is(err, errNoCPUTimes) {
			return t, err
		}
	}
	return CPUTimes{}, noCPUTimes(cpu)
}

// HasOneCPU reports whether /proc/stat below root tells of one CPU only.
func HasOneCPU(root fs.FS) bool {
	text, _ := files{root}.text("proc/stat")
	return strings.Count("\n"+text, "\ncpu") == 2 // one line for all CPUs, one for the CPU
}

func noCPUTimes(cpu int) error {
	if cpu == AllCPUs {
		return errors.New("/proc/stat has no line that can be read for all CPUs")
	}
	return fmt.Errorf("/proc/stat has no line that can be read for CPU %d", cpu)
}

// cpuTimes reads the times of all CPUs. It returns an error if a measured CPU is missing.
func (d *Doctor) cpuTimes() (map[int]CPUTimes, error) {
	text, err := d.files().text("proc/stat")
	if err != nil {
		return nil, err
	}
	all := allCPUTimes(text)
	return all, listed(all, d.CPUs)
}

// listed returns an error if the times of one of cpus are missing.
func listed(all map[int]CPUTimes, cpus []int) error {
	for _, cpu := range cpus {
		if _, ok := all[cpu]; !ok {
			return noCPUTimes(cpu)
		}
	}
	return nil
}

// allCPUTimes returns the times of each CPU. It skips lines that it can't read.
func allCPUTimes(text string) map[int]CPUTimes {
	all := map[int]CPUTimes{}
	for line := range strings.Lines(text) {
		if cpu, t, err := parseCPUTimes(line); err == nil {
			all[cpu] = t
		}
	}
	return all
}

var errNoCPUTimes = errors.New("/proc/stat: the line is not of a CPU")

// parseCPUTimes reads a line of /proc/stat: "cpu" or "cpu" with a number, then user, nice, system,
// idle, iowait, irq, softirq and steal. The times of guests, which follow, are part of user and
// nice.
func parseCPUTimes(line string) (cpu int, t CPUTimes, err error) {
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0, t, errNoCPUTimes
	}
	number, isCPU := strings.CutPrefix(fields[0], "cpu")
	if cpu = AllCPUs; isCPU && number != "" {
		cpu, err = parseCPU(number)
	}
	if !isCPU || err != nil {
		return 0, t, errNoCPUTimes
	}
	var ns [8]float64
	for i := range ns {
		ticks, err := strconv.ParseUint(fields[i+1], 10, 64)
		if err != nil {
			return cpu, t, fmt.Errorf("/proc/stat holds %.20q, not a number of ticks", fields[i+1])
		}
		ns[i] = float64(ticks) * statTickNs
	}
	return cpu, CPUTimes{UserNs: ns[0] + ns[1], SystemNs: ns[2], IdleNs: ns[3] + ns[4], InterruptsNs: ns[5] + ns[6], StolenNs: ns[7]}, nil
}
