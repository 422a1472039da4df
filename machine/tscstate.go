package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// judgeTSC judges whether the kernel trusts the time stamp counter. A kernel that finds it
// unstable no longer offers it as a clocksource (kernel/time/clocksource.c lists only
// clocksources fit for high resolution timers; arch/x86/kernel/tsc.c).
func judgeTSC(d *Doctor) (*Finding, error) {
	if d.Machine.Arch != "amd64" || d.Machine.Emulated {
		return nil, nil
	}
	flags, err := d.cpuFlags()
	if err != nil {
		return nil, err
	}
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	const use = "take intervals with the clock monotonic, and look at chronoscope clocks before trusting a counter"
	switch {
	case !has("tsc"):
		return nil, nil
	case len(d.Machine.Clocksources) == 0:
		return nil, errors.New("the kernel's clocksources are not known, and with them whether it holds the counter for stable")
	case !slices.Contains(d.Machine.Clocksources, "tsc") && d.Machine.CounterParameter != "" && (has("constant_tsc") || d.Machine.virtual()):
		return worthNoting(fmt.Sprintf("the boot parameter %s in /proc/cmdline keeps the kernel from using the time stamp counter", d.Machine.CounterParameter),
			"the kernel does not test whether the counter is stable: its readings may differ between CPUs, or drift",
			use+"; chronoscope fidelity tests it"), nil
	case !slices.Contains(d.Machine.Clocksources, "tsc"):
		return spoiling("the kernel does not offer the time stamp counter as clocksource",
			"it was found unstable or told to be: readings may differ between CPUs, or drift",
			use+"; dmesg | grep -i tsc says why, and new firmware may mend it"), nil
	case !has("constant_tsc") && d.Machine.virtual():
		return worthNoting("the hypervisor does not say whether the time stamp counter's rate is constant (no flag constant_tsc in /proc/cpuinfo)",
			"on processors of the last ten years it is; on older ones it may follow the core's frequency, so that ticks are no time", "let the host pass the flag invtsc on; "+use), nil
	case !has("constant_tsc"):
		return spoiling("the time stamp counter's rate is not constant (no flag constant_tsc in /proc/cpuinfo)",
			"it follows the core's frequency, so its ticks are no time", use), nil
	case !has("nonstop_tsc"):
		return worthNoting("the time stamp counter may stop when the CPU sleeps (no flag nonstop_tsc in /proc/cpuinfo)",
			"intervals with sleep in them come out short", use), nil
	}
	return fine("the kernel offers the time stamp counter, at a constant rate that sleep does not stop"), nil
}

func (d *Doctor) cpuFlags() ([]string, error) {
	text, err := d.files().text("proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	cpus := parseCPUInfo(text)
	if len(cpus) == 0 || cpus[0]["flags"] == "" {
		return nil, errors.New("/proc/cpuinfo lists no flags of the CPU")
	}
	return strings.Fields(cpus[0]["flags"]), nil
}
