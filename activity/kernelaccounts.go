package activity

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// Accounts are what the kernel has charged so far to the calling thread, to its
// process and to a CPU: the counters that a program can ask for instead of a
// trace. Only differences mean something. What could not be read is nil, and its
// reason stands in Caveats.
type Accounts struct {
	// Thread and Process are those of getrusage(2), in steps of a microsecond.
	Thread, Process *CPUTime
	// Times is the process's as times(2) has it, in whole ticks of 10 ms.
	Times *CPUTime
	// CPU is the CPU's line in /proc/stat, in whole ticks of 10 ms.
	CPU *CPUAccount
	// Caveats say what could not be had.
	Caveats []string
}

// CPUAccount is how a CPU spent its time (proc_stat(5)), whoever had it.
type CPUAccount struct {
	CPUTime
	// IdleNs holds the wait for input and output.
	IdleNs float64
	// InterruptsNs were spent on interrupts, soft ones too; kernels without
	// CONFIG_IRQ_TIME_ACCOUNTING count them by ticks, so that hardly any is seen.
	InterruptsNs float64
	// StolenNs went to other guests of the host.
	StolenNs float64
}

// ReadAccounts reads the accounts of the calling thread, to which its goroutine
// has to be locked, and those of a CPU, -1 for none; /proc lies below root.
func ReadAccounts(root fs.FS, cpu int) Accounts {
	var a Accounts
	a.readProcess()
	if cpu < 0 {
		a.lack("the accounts of the CPU: the thread may move between CPUs: name one")
		return a
	}
	var err error
	if a.CPU, err = readCPUAccount(root, cpu); err != nil {
		a.lack("the accounts of the CPU: %v", err)
	}
	return a
}

// lack notes why something is missing.
func (a *Accounts) lack(format string, args ...any) {
	a.Caveats = append(a.Caveats, fmt.Sprintf(format, args...))
}

// Since is what has been charged since an earlier reading, as far as both have
// it.
func (a Accounts) Since(before Accounts) Accounts {
	since := Accounts{
		Thread: spent(a.Thread, before.Thread), Process: spent(a.Process, before.Process),
		Times: spent(a.Times, before.Times), Caveats: a.Caveats,
	}
	if a.CPU != nil && before.CPU != nil {
		since.CPU = &CPUAccount{
			CPUTime:      a.CPU.CPUTime.Since(before.CPU.CPUTime),
			IdleNs:       max(0, a.CPU.IdleNs-before.CPU.IdleNs), // may run backwards by a tick
			InterruptsNs: a.CPU.InterruptsNs - before.CPU.InterruptsNs,
			StolenNs:     a.CPU.StolenNs - before.CPU.StolenNs,
		}
	}
	return since
}

func spent(now, before *CPUTime) *CPUTime {
	if now == nil || before == nil {
		return nil
	}
	since := now.Since(*before)
	return &since
}

// userTickNs is a tick of times(2) and /proc/stat: USER_HZ is 100 whatever
// rate the kernel itself works with (time(7)).
const userTickNs = 10e6

// mostStatBytes bounds what is read of /proc/stat; a CPU's line is some 100 long.
const mostStatBytes = 4 << 20

// readCPUAccount finds the CPU's line in /proc/stat.
func readCPUAccount(root fs.FS, cpu int) (*CPUAccount, error) {
	file, err := root.Open("proc/stat")
	if err != nil {
		return nil, fmt.Errorf("reading /proc/stat: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostStatBytes))
	if err != nil {
		return nil, fmt.Errorf("reading /proc/stat: %w", err)
	}
	name := "cpu" + strconv.Itoa(cpu)
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) > 8 && string(fields[0]) == name {
			return parseCPUAccount(fields[1:9])
		}
	}
	return nil, fmt.Errorf("/proc/stat has no line that can be read for CPU %d", cpu)
}

// parseCPUAccount reads user, nice, system, idle, iowait, irq, softirq and steal.
func parseCPUAccount(fields [][]byte) (*CPUAccount, error) {
	var ns [8]float64
	for i := range ns {
		ticks, err := strconv.ParseUint(string(fields[i]), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("/proc/stat holds %.20q, not a number of ticks", fields[i])
		}
		ns[i] = float64(ticks) * userTickNs
	}
	return &CPUAccount{
		CPUTime: CPUTime{UserNs: ns[0] + ns[1], SystemNs: ns[2]},
		IdleNs:  ns[3] + ns[4], InterruptsNs: ns[5] + ns[6], StolenNs: ns[7],
	}, nil
}
