package machine

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInterruptLoad(t *testing.T) {
	lines := func(eth, wake, timer int) content {
		return content{"proc/interrupts": fmt.Sprintf("  CPU0 CPU1\n 24: %d 0 PCI eth0\nRES: %d 0 Rescheduling interrupts\nLOC: %d 0 Local timer\nERR: 0\n", eth, wake, timer)}
	}
	online := content{"sys/devices/system/cpu/online": "0-1\n"}
	zero := lines(0, 0, 0).and(online)
	fixed := content{"proc/irq/24/smp_affinity_list": "0-1\n"} // which nobody may write
	diagnose(t, "interrupts", []sickness{                      // in 200 ms
		{name: "the timer's do not count", before: zero, after: lines(0, 0, 2000), severity: OK, says: "0 interrupts a second"},
		{name: "few", before: zero, after: lines(50, 49, 0), severity: OK, says: "495 interrupts a second beside the timer's on CPU 0"},
		{name: "some", before: zero, after: lines(60, 40, 0), severity: Note, says: "echo 1 > /proc/irq/24/smp_affinity_list"},
		{name: "many", before: zero, after: lines(400, 600, 0), severity: Warning, says: "on the lines RES, 24"},
		{name: "from threads", before: zero, after: lines(0, 600, 0), severity: Note, says: "stop the programs"},
		{name: "on another CPU", cpus: []int{1}, before: zero, after: lines(400, 600, 0), severity: OK, says: "CPU 1"},
		{name: "a line of one CPU", before: zero.and(fixed), after: lines(60, 40, 0).and(fixed), severity: Note, says: "stop the programs"},
		{name: "no other CPU", cpus: []int{0, 1}, before: zero, after: lines(600, 0, 0), severity: Note, says: "grep 24:"},
		{name: "backwards", before: lines(9000, 9000, 0), after: lines(0, 0, 0), severity: OK, says: "0 interrupts"},
		{name: "no such CPU", cpus: []int{7}, before: zero, caveat: "no column for CPU 7"},
		{name: "malformed", before: content{"proc/interrupts": "interrupts\n"}, caveat: "not with a list of CPUs"},
		{name: "missing", caveat: "/proc/interrupts: "},
	})
}

func TestIRQBalance(t *testing.T) {
	hidden := content{"proc/1/comm": "init\n", "proc/self/comm": "irqbalance\n", "proc/27/comm": "irqbalance-ui\n"}
	others := hidden.and(content{"proc/2/comm": "kthreadd\n"})
	balancing := others.and(content{"proc/812/comm": "irqbalance\n"})
	diagnose(t, "irqbalance", []sickness{
		{name: "runs", m: Machine{Container: "none"}, before: balancing, severity: Note, says: "systemctl stop irqbalance"},
		{name: "runs not", m: Machine{Container: "none"}, before: others, severity: OK},
		{name: "a container that shows it", m: Machine{Container: "docker"}, before: balancing, severity: Note},
		{name: "a container that hides it", m: Machine{Container: "docker"}, before: hidden},
		{name: "hidden, and no mark of a container", m: Machine{Container: "none"}, before: hidden, caveat: "/proc hides other processes"},
		{name: "no process can be read", m: Machine{Container: "none"}, before: content{"proc/1/comm": "a\nb\n"}, caveat: "/proc shows no process"},
		{name: "missing", caveat: "/proc: "},
	})
}

func TestSwap(t *testing.T) {
	files := func(total, free, in, out int) content {
		return content{
			"proc/meminfo": fmt.Sprintf("MemTotal: 1 kB\nSwapCached: 5 kB\nSwapTotal: %d kB\nSwapFree: %d kB\n", total, free),
			"proc/vmstat":  fmt.Sprintf("pswpin %d\npswpout %d\nzswpin 1\n", in, out),
		}
	}
	diagnose(t, "swap", []sickness{
		{name: "none", before: files(0, 0, 0, 0), severity: OK, says: "no swap space"},
		{name: "not used", before: files(2048, 2048, 70, 70), severity: OK, says: "0 MB of 2 MB"},
		{name: "used", before: files(4096, 1024, 70, 70), severity: Note, says: "3 MB of 4 MB"},
		{name: "swapping in", before: files(4096, 4096, 70, 70), after: files(4096, 4096, 73, 70), severity: Warning, says: "3 pages were swapped"},
		{name: "swapping out", before: files(4096, 1024, 70, 70), after: files(4096, 1024, 70, 71), severity: Warning, says: "swapoff -a"},
		{name: "more free than there is", before: files(1, 2, 0, 0), caveat: "/proc/meminfo does not say"},
		{name: "not counted", before: files(1, 1, 0, 0).and(content{"proc/vmstat": "pswpin x\n"}), caveat: "/proc/vmstat does not count"},
		{name: "missing", caveat: "/proc/meminfo: "},
	})
}

// A count is found whatever other lines there are.
func TestCountIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_]{1,12}:?`), 1, 8, rapid.ID).Draw(t, "names")
		var b strings.Builder
		counts := map[string]uint64{}
		for _, name := range names {
			counts[name] = rapid.Uint64().Draw(t, "count")
			fmt.Fprintf(&b, "%s %8d kB\n", name, counts[name])
		}
		for name, want := range counts {
			if got, ok := countIn(b.String(), name); !ok || got != want {
				t.Errorf("%s is %d, %v in %q", name, got, ok, b.String())
			}
		}
		if n, ok := countIn(b.String(), "Missing"); ok {
			t.Errorf("what is missing is %d", n)
		}
	})
}

func TestHeat(t *testing.T) {
	files := func(core, pkg string) content {
		const directory = "sys/devices/system/cpu/cpu0/thermal_throttle/"
		return content{directory + "core_throttle_count": core, directory + "package_throttle_count": pkg}
	}
	diagnose(t, "heat", []sickness{
		{name: "never", before: files("0", "0"), severity: OK, says: "never throttled"},
		{name: "once", before: files("0", "1"), severity: Note, says: "throttled once"},
		{name: "before", before: files("7", "9"), severity: Note, says: "throttled 9 times"},
		{name: "now, the core", before: files("7", "90"), after: files("9", "90"), severity: Warning, says: "throttled 2 times in the last 200 ms"},
		{name: "now, the package", before: files("7", "9"), after: files("7", "10"), severity: Warning, says: "throttled once in"},
		{name: "no count of the package", before: files("3", ""), severity: Note, says: "3 times"},
		{name: "below zero", before: files("-3", "0"), caveat: "below 0"},
		{name: "malformed", before: files("hot", "0"), caveat: "not a whole number"},
		{name: "missing", caveat: "Intel's processors"},
	})
}

func TestTurbo(t *testing.T) {
	intel := func(v string) content { return content{"sys/devices/system/cpu/intel_pstate/no_turbo": v} }
	other := func(v string) content { return content{"sys/devices/system/cpu/cpufreq/boost": v} }
	diagnose(t, "turbo", []sickness{
		{name: "Intel, on", before: intel("0\n"), severity: Note, says: "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"},
		{name: "Intel, off", before: intel("1\n"), severity: OK},
		{name: "other, on", before: other("1\n"), severity: Note, says: "echo 0 > /sys/devices/system/cpu/cpufreq/boost"},
		{name: "other, off", before: other("0\n"), severity: OK},
		{name: "neither", before: other("2\n"), caveat: "neither 0 nor 1"},
		{name: "malformed", before: intel("on\n"), caveat: "not a whole number"},
		{name: "missing", caveat: "no such switch"},
	})
}

func TestTSC(t *testing.T) {
	flags := func(list string) content {
		return content{"proc/cpuinfo": "processor : 0\nvendor_id : AuthenticAMD\nflags : " + list + "\n"}
	}
	const all = "fpu tsc constant_tsc nonstop_tsc"
	offered := Machine{Arch: "amd64", Clocksources: []Text{"tsc", "hpet"}}
	given := Machine{Arch: "amd64", Clocksources: []Text{"hpet"}}
	told := given
	told.CounterParameter = "tsc=unstable"
	diagnose(t, "tsc", []sickness{
		{name: "offered", m: offered, before: flags(all), severity: OK},
		{name: "given up", m: given, before: flags(all), severity: Warning, says: "does not offer the time stamp counter as clocksource|"},
		{name: "told to", m: told, before: flags(all), severity: Note, says: "boot parameter tsc=unstable in /proc/cmdline"},
		{name: "no constant rate", m: offered, before: flags("tsc nonstop_tsc"), severity: Warning, says: "constant_tsc"},
		{name: "a hypervisor that does not tell", m: Machine{Arch: "amd64", Clocksources: []Text{"tsc"}, Hypervisor: "kvm"}, before: flags("tsc"), severity: Note, says: "invtsc"},
		{name: "stops", m: offered, before: flags("tsc constant_tsc"), severity: Note, says: "nonstop_tsc"},
		{name: "no counter", m: given, before: flags("fpu")},
		{name: "arm64", m: Machine{Arch: "arm64"}, before: flags(all)},
		{name: "an emulator", m: Machine{Arch: "amd64", Emulated: true}, before: flags(all)},
		{name: "clocksources not known", m: Machine{Arch: "amd64"}, before: flags(all), caveat: "clocksources are not known"},
		{name: "no flags", m: offered, before: content{"proc/cpuinfo": "processor : 0\n"}, caveat: "no flags"},
		{name: "missing", m: offered, caveat: "/proc/cpuinfo: "},
	})
}

func TestIsolation(t *testing.T) {
	files := func(isolated, tickless string) content {
		return content{"sys/devices/system/cpu/isolated": isolated, "sys/devices/system/cpu/nohz_full": tickless}
	}
	four := Machine{CPUsOnline: new(4)}
	diagnose(t, "isolation", []sickness{
		{name: "none", m: four, cpus: []int{1, 3}, before: files("\n", "(null)\n"), severity: Note, says: "isolcpus=3 nohz_full=3 rcu_nocbs=3"},
		{name: "a kernel without nohz_full", m: four, before: files("\n", "").without("sys/devices/system/cpu/nohz_full"), severity: Note, says: "no CPU is isolated"},
		{name: "others", m: four, cpus: []int{1, 2}, before: files("2-3\n", "3\n"), severity: Note, says: "measure there: CPUs 2-3"},
		{name: "the measured one", m: four, cpus: []int{2}, before: files("2-3\n", "3\n"), severity: OK, says: "isolated CPUs 2-3, without timer tick 3"},
		{name: "one CPU", m: Machine{CPUsOnline: new(1)}, before: files("\n", "\n")},
		{name: "malformed", m: four, before: files("3-2\n", "\n"), caveat: "/sys/devices/system/cpu/isolated: "},
		{name: "malformed nohz_full", m: four, before: files("2\n", "all\n"), caveat: "/sys/devices/system/cpu/nohz_full: "},
		{name: "missing", m: four, caveat: "/sys/devices/system/cpu/isolated: "},
	})
}

func TestDebugKernel(t *testing.T) {
	const plainConfig = "CONFIG_HZ=250\nCONFIG_HAVE_ARCH_KASAN=y\n# CONFIG_DEBUG_PREEMPT is not set\nCONFIG_KCSAN=m\n"
	six := Machine{Kernel: "6.1.0-28-amd64"}
	diagnose(t, "debug-kernel", []sickness{
		{name: "ordinary", before: content{"proc/config.gz": zipped(plainConfig)}, severity: OK},
		{name: "heavy", before: content{"proc/config.gz": zipped(plainConfig + "CONFIG_PROVE_LOCKING=y\nCONFIG_DEBUG_VM=y\n")}, severity: Warning, says: "CONFIG_PROVE_LOCKING, CONFIG_DEBUG_VM"},
		{name: "light", before: content{"proc/config.gz": zipped("CONFIG_DEBUG_PREEMPT=y\n")}, severity: Note, says: "CONFIG_DEBUG_PREEMPT"},
		{name: "beside the image", m: six, before: content{"boot/config-6.1.0-28-amd64": "CONFIG_KASAN_GENERIC=y\n"}, severity: Warning, says: "CONFIG_KASAN_GENERIC"},
		{name: "of another kernel", m: six, before: content{"boot/config-5.10.0": "CONFIG_KASAN_GENERIC=y\n"}, caveat: "/boot/config-6.1.0-28-amd64: "},
		{name: "not packed", before: content{"proc/config.gz": plainConfig}, caveat: "/proc/config.gz: gzip: invalid header"},
		{name: "cut short", before: content{"proc/config.gz": zipped(plainConfig)[:30]}, caveat: "/proc/config.gz: unexpected EOF"},
		{name: "no options", before: content{"proc/config.gz": zipped("HZ=250\n")}, caveat: "holds no kernel option"},
		{name: "an image without options", m: six, before: content{"boot/config-6.1.0-28-amd64": "\n"}, caveat: "holds no kernel option"},
		{name: "a release that is no file name", m: Machine{Kernel: "../../etc/passwd"}, caveat: "/boot/config-../../etc/passwd: "},
		{name: "a release that acts on a terminal", m: Machine{Kernel: "6\x1b[2J"}, caveat: "/boot/config-6?[2J: "},
		{name: "missing", m: six, caveat: "/proc/config.gz: "},
	})
}

// Of any mixture of options, exactly those that are on are reported.
func TestDebuggingIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		var wantHeavy, wantLight []string
		for _, o := range debugOptions {
			switch rapid.IntRange(0, 3).Draw(t, o.name) {
			case 0:
				fmt.Fprintf(&b, "CONFIG_%s=y\n", o.name)
				if o.heavy {
					wantHeavy = append(wantHeavy, "CONFIG_"+o.name)
				} else {
					wantLight = append(wantLight, "CONFIG_"+o.name)
				}
			case 1:
				fmt.Fprintf(&b, "# CONFIG_%s is not set\n", o.name)
			case 2:
				fmt.Fprintf(&b, "CONFIG_%s_SELFTEST=y\nCONFIG_HAVE_%s=y\n", o.name, o.name)
			}
		}
		heavy, light := debuggingIn(b.String())
		if fmt.Sprint(heavy, light) != fmt.Sprint(wantHeavy, wantLight) {
			t.Errorf("%v and %v in\n%s", heavy, light, b.String())
		}
	})
}

func TestHugePages(t *testing.T) {
	file := func(v string) content { return content{"sys/kernel/mm/transparent_hugepage/enabled": v} }
	diagnose(t, "huge-pages", []sickness{
		{name: "always", before: file("[always] madvise never\n"), severity: Note, says: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
		{name: "madvise", before: file("always [madvise] never\n"), severity: OK, says: "madvise"},
		{name: "never", before: file("always madvise [never]\n"), severity: OK},
		{name: "none chosen", before: file("always madvise never\n"), caveat: "holds"},
		{name: "missing", caveat: "/sys/kernel/mm/transparent_hugepage/enabled: "},
	})
}

func TestTimerSlack(t *testing.T) {
	file := func(v string) content { return content{"proc/self/timerslack_ns": v} }
	diagnose(t, "timer-slack", []sickness{
		{name: "default", before: file("50000\n"), severity: OK, says: "50µs"},
		{name: "real time", before: file("0\n"), severity: OK},
		{name: "more", before: file("4000000\n"), severity: Note, says: "4ms"},
		{name: "below zero", before: file("-1\n"), caveat: "less than 0"},
		{name: "malformed", before: file("much\n"), caveat: "not a whole number"},
		{name: "missing", caveat: "/proc/self/timerslack_ns: "},
	})
}

func TestMitigations(t *testing.T) {
	const directory = "sys/devices/system/cpu/vulnerabilities/"
	diagnose(t, "mitigations", []sickness{
		{name: "none", before: content{directory + "mds": "Not affected\n", directory + "spectre_v1": "Vulnerable\n"}, severity: OK},
		{name: "one", before: content{directory + "mds": "Not affected\n", directory + "spectre_v1": "Mitigation: usercopy\n"}, severity: Note, says: "around 1 fault of the CPU: spectre_v1|"},
		{name: "many", before: content{directory + "a": "Mitigation\n", directory + "b": "Mitigation\n", directory + "c": "Mitigation\n", directory + "d": "Mitigation\n", directory + "e": "Mitigation\n"}, severity: Note, says: "a, b, c, d and 1 more"},
		{name: "not to be read", before: content{directory + "mds": "\n"}, caveat: "holds nothing"},
		{name: "missing", caveat: "/sys/devices/system/cpu/vulnerabilities: "},
	})
}

// A user without capabilities needs a kernel that requires none.
func TestPerfEvents(t *testing.T) {
	files := func(capabilities, level string) content {
		return content{"proc/self/status": "Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t" + capabilities + "\nSeccomp:\t0\n", "proc/sys/kernel/perf_event_paranoid": level}
	}
	const none, root, perfmon, other = "0000000000000000", "000001ffffffffff", "0000004000000000", "0000000000002400"
	diagnose(t, "perf-events", []sickness{
		{name: "Debian", before: files(none, "3\n"), severity: Note, says: "sudo sysctl kernel.perf_event_paranoid=2"},
		{name: "Ubuntu", before: files(none, "4\n"), severity: Note, says: "kernel.perf_event_paranoid is 4"},
		{name: "what it means", before: files(none, "4\n"), severity: Note, says: "run can't see when a program had a CPU"},
		{name: "the kernel's own", before: files(none, "2\n"), severity: OK, says: "is 2"},
		{name: "less", before: files(none, "-1\n"), severity: OK, says: "is -1"},
		{name: "other capabilities", before: files(other, "3\n"), severity: Note},
		{name: "root", before: files(root, "4\n")},
		{name: "CAP_PERFMON", before: files(perfmon, "4\n")},
		{name: "capabilities malformed", before: files("all", "2\n"), caveat: "no set of capabilities"},
		{name: "no capabilities", before: content{"proc/self/status": "Name:\tx\n"}, caveat: "no line CapEff"},
		{name: "level malformed", before: files(none, "high\n"), caveat: "not a whole number"},
		{name: "no perf events", before: content{"proc/self/status": "CapEff:\t0\n"}, caveat: "/proc/sys/kernel/perf_event_paranoid: "},
		{name: "missing", caveat: "/proc/self/status: "},
	})
}
