package activity

import (
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"chronoscope/machine"
	"chronoscope/stats"
)

func procStat(text string) fs.FS { return fstest.MapFS{"proc/stat": {Data: []byte(text)}} }

// The columns are those of proc_stat(5), in ticks of 10 ms: user nice system idle
// iowait irq softirq steal guest guest_nice.
func TestCPUAccount(t *testing.T) {
	const text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 8 8 8 8 8 8 8 8 8 8\ncpu1 1 20 300 4000 50000 600000 7000000 80000000 1 1\ncpu10 7 7 7 7 7 7 7 7 7 7\nintr 5 4\n"
	got := ReadAccounts(procStat(text), 1).CPU
	want := &machine.CPUTimes{UserNs: 21 * 10e6, SystemNs: 300 * 10e6, IdleNs: 54000 * 10e6, InterruptsNs: 7600000 * 10e6, StolenNs: 80000000 * 10e6}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A counter that can't be read is missing, and a caveat gives the reason.
func TestCPUAccountAbsent(t *testing.T) {
	for _, c := range []struct {
		root fs.FS
		cpu  int
		says string
	}{
		{fstest.MapFS{}, 0, "proc/stat"},
		{procStat(""), 0, "no line"},
		{procStat("cpu0 1 2 3 4 5 6 7\n"), 0, "no line"},
		{procStat("cpu0 1 2 3 4 5 6 7 x\n"), 0, `"x"`},
		{procStat("cpu0 1 2 -3 4 5 6 7 8\n"), 0, `"-3"`},
		{procStat("cpu0 1 2 3 4 5 6 7 18446744073709551616\n"), 0, "18446744073709551616"},
		{procStat("cpu0 1 2 3 4 5 6 7 8\n"), 7, "CPU 7"},
		{procStat("cpu0 1 2 3 4 5 6 7 8\n"), -1, "may move"},
	} {
		a := ReadAccounts(c.root, c.cpu)
		if a.CPU != nil || len(a.Caveats) == 0 || !strings.Contains(strings.Join(a.Caveats, "; "), c.says) {
			t.Errorf("%+v; want it to say %q", a, c.says)
		}
		if since := a.Since(a); since.CPU != nil || len(since.Caveats) != len(a.Caveats) {
			t.Errorf("%+v since itself: %+v", a, since)
		}
	}
}

func TestAccountsSince(t *testing.T) {
	before := Accounts{
		ThreadNs: stats.FloatOf(3), TimesNs: stats.FloatOf(10e6),
		CPU: &machine.CPUTimes{UserNs: 10, SystemNs: 20, IdleNs: 100, InterruptsNs: 3, StolenNs: 4},
	}
	after := Accounts{
		ThreadNs: stats.FloatOf(12), ProcessNs: stats.FloatOf(110), TimesNs: stats.FloatOf(40e6),
		CPU: &machine.CPUTimes{UserNs: 40, SystemNs: 30, IdleNs: 90, InterruptsNs: 5, StolenNs: 8},
	}
	want := Accounts{
		ThreadNs: stats.FloatOf(9), TimesNs: stats.FloatOf(30e6),
		CPU: &machine.CPUTimes{UserNs: 30, SystemNs: 10, IdleNs: 0, InterruptsNs: 2, StolenNs: 4},
	}
	if got := after.Since(before); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// On any machine, a thread's time does not fall, and each missing counter has a reason.
func TestReadAccountsLive(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ReadAccounts(os.DirFS("/"), 0)
	after := ReadAccounts(os.DirFS("/"), 0)
	since := after.Since(before)
	if since.ThreadNs.Value() < 0 {
		t.Errorf("the thread's time fell by %v ns", since.ThreadNs)
	}
	refused := !after.ThreadNs.Known() || !after.ProcessNs.Known() || !after.TimesNs.Known()
	if missing := refused || after.CPU == nil; missing != (len(after.Caveats) > 0) {
		t.Errorf("%+v", after)
	}
	if runtime.GOOS == "linux" && refused {
		t.Errorf("the system calls are refused: %v", after.Caveats)
	}
}
