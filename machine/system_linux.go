package machine

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// askSystem sets what system calls tell. They also work if /proc is not mounted.
func (m *Machine) askSystem() {
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		m.Kernel = cleaned(unix.ByteSliceToString(name.Release[:]))
	}
	if cpus, err := Affinity(); err == nil {
		m.setCPUs(cpus)
	}
	if load, err := Load(); err == nil {
		m.Load1 = &load
	}
	tickHz, err := readTickHz()
	if err != nil {
		m.caveat("timer tick: %v", err)
		return
	}
	m.TickHz = &tickHz
}

// Load returns the load average of the last minute over the whole machine: on Linux the mean
// number of threads that run, wait to run, or wait for a disk.
func Load() (float64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("load average: sysinfo: %w; a container's seccomp profile has to allow it", err)
	}
	return hundredths(float64(info.Loads[0]) / (1 << unix.SI_LOAD_SHIFT)), nil
}

// readTickHz returns the rate of the kernel's timer interrupt. The resolution that the kernel
// states for its coarse clocks is the length of its tick: KTIME_LOW_RES in
// include/linux/hrtimer.h.
func readTickHz() (float64, error) {
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &resolution); err != nil {
		return 0, fmt.Errorf("clock_getres(CLOCK_MONOTONIC_COARSE): %w", err)
	}
	return tickHz(time.Duration(resolution.Nano()))
}

// tickHz returns the rate of ticks of the given length. A length with which no kernel is built,
// such as 1 ns on an emulated system, is an error.
func tickHz(tick time.Duration) (float64, error) {
	if tick < 100*time.Microsecond || tick > 100*time.Millisecond {
		return 0, fmt.Errorf("clock_getres(CLOCK_MONOTONIC_COARSE) says %v, which is no kernel's tick", tick)
	}
	return math.Round(float64(time.Second) / float64(tick)), nil
}
