package machine

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// stat returns the content of /proc/stat for CPUs 0, 1 and so on. Each is given by its user, idle
// and steal times in ticks of 10 ms.
func stat(cpus ...[3]uint64) string {
	var b strings.Builder
	b.WriteString("cpu  9 9 9 9 9 9 9 9 9 9\n")
	for i, t := range cpus {
		fmt.Fprintf(&b, "cpu%d %d 0 0 %d 0 0 0 %d 0 0\n", i, t[0], t[1], t[2])
	}
	return b.String() + "intr 7 0\nctxt 29482771\n"
}

// The columns are those of proc_stat(5): user nice system idle iowait irq
// softirq steal guest guest_nice, guest being part of user.
func TestParseCPUTimes(t *testing.T) {
	got := allCPUTimes("cpu  9 9 9 9 9 9 9 9 9 9\n" +
		"cpu0 1 20 300 4000 50000 600000 7000000 80000000 1 1\n" +
		"cpu1 1 2 3 4 5 6 7\n" + // kernels before 2.6.11 have no steal
		"cpu2 1 2 3 4 5 6 7 x\ncpu-3 1 2 3 4 5 6 7 8\ncpu99999999 1 2 3 4 5 6 7 8\n")
	want := CPUTimes{UserNs: 21 * 10e6, SystemNs: 300 * 10e6, IdleNs: 54000 * 10e6, InterruptsNs: 7600000 * 10e6, StolenNs: 80000000 * 10e6}
	if len(got) != 2 || got[0] != want || got[AllCPUs].RanNs() != 5*9*10e6 {
		t.Errorf("%+v, want of CPU 0 %+v, and of all", got, want)
	}
}

// The sum over all CPUs is read from its own line. The error for a CPU that can't be read says
// why.
func TestReadCPUTimes(t *testing.T) {
	read := func(text string, cpu int) (CPUTimes, error) {
		return ReadCPUTimes(fstest.MapFS{"proc/stat": {Data: []byte(text)}}, cpu)
	}
	if got, err := read("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1\n", AllCPUs); err != nil || got.StolenNs != 80e6 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "cpu", "cpu 1 2 3 4 5 6 7 -8 0", "cpu 1 2 3 4 5 6 7 x 0", "intr 1 2 3 4 5 6 7 8 9"} {
		if got, err := read(text, AllCPUs); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got, err := ReadCPUTimes(fstest.MapFS{}, 0); err == nil {
		t.Errorf("without /proc/stat: %v", got)
	}
}

// Shares lie between 0 and 1 whatever the counters do, even if they run backwards.
func TestCPUTimeShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ticks := rapid.Uint64()
		draw := func(name string) CPUTimes {
			return allCPUTimes(stat([3]uint64{ticks.Draw(t, name), ticks.Draw(t, name), ticks.Draw(t, name)}))[0]
		}
		before, after := draw("before"), draw("after")
		lately := after.Since(before)
		for _, share := range []float64{after.stolenShare(), lately.stolenShare(), lately.busyShare()} {
			if !(share >= 0 && share <= 1) {
				t.Errorf("a share of %v", share)
			}
		}
		if lately.wantedNs() == 0 && lately.stolenShare() != 0 {
			t.Error("stolen from what wanted nothing")
		}
	})
}

func FuzzParseCPUTimes(f *testing.F) {
	f.Add(stat([3]uint64{1, 2, 3}))
	f.Add("cpu0 1 1 1 1 1 1 1 18446744073709551616\n")
	f.Add("cpu 1 2 3 4 5 6 7 8\ncpucpu1 1 2 3 4 5 6 7 8")
	f.Fuzz(func(t *testing.T, text string) {
		for cpu, times := range allCPUTimes(text) {
			if cpu < AllCPUs || cpu > maxCPU || !(times.RanNs() >= 0 && times.IdleNs >= 0 && times.StolenNs >= 0) {
				t.Errorf("CPU %d: %+v", cpu, times)
			}
		}
	})
}

func TestSteal(t *testing.T) {
	guest, host := Machine{Hypervisor: "kvm"}, Machine{Hypervisor: "none"}
	for _, c := range []struct {
		before, after [3]uint64
		m             Machine
		severity      Severity
		says          string
	}{
		// The share is that of the 1,000 ticks wanted, however long the CPU was idle.
		{[3]uint64{995, 99000, 5}, [3]uint64{995, 99020, 5}, guest, OK, "0.5 % of the CPU time wanted since the system started, and 0 ms in the last 200 ms"},
		{[3]uint64{990, 99000, 10}, [3]uint64{990, 99020, 10}, guest, Note, "1 %"},
		{[3]uint64{950, 99000, 50}, [3]uint64{950, 99020, 50}, guest, Warning, "5 %"},
		// One stolen tick may come from rounding, two of twenty do not.
		{[3]uint64{99980, 0, 0}, [3]uint64{99999, 0, 1}, guest, Note, "10 ms in the last 200 ms"},
		{[3]uint64{99980, 0, 0}, [3]uint64{99998, 0, 2}, guest, Warning, "20 ms"},
		{[3]uint64{0, 0, 0}, [3]uint64{0, 20, 0}, guest, OK, ""},
		{[3]uint64{0, 0, 0}, [3]uint64{20, 0, 0}, host, "", ""},
		{[3]uint64{990, 0, 10}, [3]uint64{990, 20, 10}, Machine{}, Note, ""},
	} {
		diagnose(t, "steal", []sickness{{
			name: fmt.Sprint(c.before, c.after), m: c.m,
			before: content{"proc/stat": stat(c.before)}, after: content{"proc/stat": stat(c.after)},
			severity: c.severity, says: c.says,
		}})
	}
	diagnose(t, "steal", []sickness{
		{name: "of the measured CPU only", m: guest, cpus: []int{1}, severity: OK,
			before: content{"proc/stat": stat([3]uint64{0, 0, 100}, [3]uint64{100, 0, 0})}},
		{name: "a CPU that isn't there", m: guest, cpus: []int{4}, caveat: "no line that can be read for CPU 4",
			before: content{"proc/stat": stat([3]uint64{1, 1, 1})}},
	})
}

func TestSibling(t *testing.T) {
	const topology = "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list"
	cores := content{ // CPUs 0 and 2 share a core, and CPUs 1 and 3
		fmt.Sprintf(topology, 0): "0,2\n", fmt.Sprintf(topology, 1): "1,3\n",
		fmt.Sprintf(topology, 2): "0,2\n", fmt.Sprintf(topology, 3): "1,3\n",
	}
	zero := [3]uint64{}
	before := cores.and(content{"proc/stat": stat(zero, zero, zero, zero)})
	idle, little, busy, stolen := [3]uint64{0, 20, 0}, [3]uint64{3, 17, 0}, [3]uint64{4, 16, 0}, [3]uint64{0, 10, 10}
	diagnose(t, "smt-sibling", []sickness{
		{name: "idle", before: before, after: content{"proc/stat": stat(busy, idle, little, idle)}, severity: OK, says: "was busy in the last 200 ms"},
		{name: "busy", before: before, after: content{"proc/stat": stat(idle, idle, busy, idle)}, severity: Warning, says: "CPU 2 beside CPU 0"},
		{name: "waiting for the host", before: before, after: content{"proc/stat": stat(idle, idle, stolen, idle)}, severity: Warning, says: "CPU 2 beside CPU 0"},
		{name: "another core is idle", cpus: []int{0, 1, 2, 3}, before: before, after: content{"proc/stat": stat(idle, idle, busy, idle)}, severity: Warning, says: "CPUs 1"},
		{name: "no other core is idle", cpus: []int{0, 1}, before: before, after: content{"proc/stat": stat(idle, busy, busy, idle)}, severity: Warning, says: "head shows it|"},
		{name: "both of a core busy", cpus: []int{0, 2}, before: before, after: content{"proc/stat": stat(busy, idle, busy, idle)}, severity: Warning, says: "CPU 2 beside CPU 0, CPU 0 beside CPU 2"},
		{name: "no sibling", before: before.and(content{fmt.Sprintf(topology, 0): "0\n"})},
		{name: "malformed", before: before.and(content{fmt.Sprintf(topology, 0): "0-\n"}), caveat: "thread_siblings_list: CPU list"},
		{name: "missing", before: before.without(fmt.Sprintf(topology, 0)), caveat: "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list: "},
		{name: "not counted", before: before.and(content{"proc/stat": stat(zero)}), caveat: "CPU 2"},
	})
}

func TestHasOneCPU(t *testing.T) {
	for text, want := range map[string]bool{
		"cpu  9 0 0 1 0 0 0 0 0 0\ncpu0 9 0 0 1 0 0 0 0 0 0\nintr 5\n":                           true,
		"cpu  9 0 0 1 0 0 0 0 0 0\ncpu0 9 0 0 1 0 0 0 0 0 0\ncpu2 0 0 0 1 0 0 0 0 0 0\nintr 5\n": false,
		"": false,
	} {
		if got := HasOneCPU(fstest.MapFS{"proc/stat": {Data: []byte(text)}}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
