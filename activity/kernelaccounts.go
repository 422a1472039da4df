package activity

import (
	"fmt"
	"io/fs"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Accounts are the CPU times that the kernel has charged so far to the calling thread, to its
// process and to a CPU. A program can ask for these counters instead of recording a trace. Only
// differences mean something. A counter that could not be read is missing, and Caveats gives
// the reason.
type Accounts struct {
	// ThreadNs and ProcessNs are the results of getrusage(2), in steps of a microsecond.
	ThreadNs, ProcessNs stats.Float
	// TimesNs is the result of times(2) for the process, in whole ticks of 10 ms.
	TimesNs stats.Float
	// CPU is the CPU's line in /proc/stat, in whole ticks of 10 ms.
	CPU *machine.CPUTimes
	// Caveats says which counters could not be read, and why.
	Caveats []string
}

// ReadAccounts reads the accounts of the calling thread, to which its goroutine has to be locked,
// and those of a CPU (-1 for no CPU). /proc lies below root.
func ReadAccounts(root fs.FS, cpu int) Accounts {
	var a Accounts
	a.readProcess()
	if cpu < 0 {
		a.lack("the accounts of the CPU: the thread may move between CPUs: name one")
		return a
	}
	times, err := machine.ReadCPUTimes(root, cpu)
	if err != nil {
		a.lack("the accounts of the CPU: %v", err)
		return a
	}
	a.CPU = &times
	return a
}

func (a *Accounts) lack(format string, args ...any) {
	a.Caveats = append(a.Caveats, fmt.Sprintf(format, args...))
}

// Since returns what was charged since an earlier reading, for those counters that both readings
// have.
func (a Accounts) Since(before Accounts) Accounts {
	since := Accounts{
		ThreadNs: spent(a.ThreadNs, before.ThreadNs), ProcessNs: spent(a.ProcessNs, before.ProcessNs),
		TimesNs: spent(a.TimesNs, before.TimesNs), Caveats: a.Caveats,
	}
	if a.CPU != nil && before.CPU != nil {
		times := a.CPU.Since(*before.CPU)
		since.CPU = &times
	}
	return since
}

func spent(now, before stats.Float) stats.Float { return stats.FloatOf(now.Value() - before.Value()) }

// userTickNs is a tick of times(2): USER_HZ is 100, whatever the rate of the kernel's own tick
// (time(7)).
const userTickNs = 10e6
