package machine

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// debugOptions lists kernel options for finding faults. heavy marks those that slow the kernel
// down considerably, because they check each memory access or each lock (Kconfig help texts in
// lib/Kconfig.debug, lib/Kconfig.kasan, mm/Kconfig.debug and kernel/Kconfig.preempt).
var debugOptions = []struct {
	name  string
	heavy bool
}{
	{"KASAN_GENERIC", true},
	{"KASAN_SW_TAGS", true},
	{"KMSAN", true},
	{"KCSAN", true},
	{"KCOV", true},
	{"GCOV_KERNEL", true},
	{"PROVE_LOCKING", true},
	{"LOCK_STAT", true},
	{"DEBUG_LOCK_ALLOC", true},
	{"DEBUG_OBJECTS", true},
	{"DEBUG_PAGEALLOC_ENABLE_DEFAULT", true},
	{"SLUB_DEBUG_ON", true},
	{"DEBUG_PREEMPT", false},
	{"DEBUG_ATOMIC_SLEEP", false},
	{"DEBUG_SPINLOCK", false},
	{"DEBUG_MUTEXES", false},
	{"DEBUG_VM", false},
}

// judgeDebugKernel examines the options with which the kernel was built.
func judgeDebugKernel(d *Doctor) (*Finding, error) {
	config, err := d.kernelConfig()
	if err != nil {
		return nil, err
	}
	heavy, light := debuggingIn(config)
	const fix = "start the system with the distribution's ordinary kernel, one without these options (uname -r shows which runs)"
	seen := "the kernel was built to find faults: " + strings.Join(append(heavy, light...), ", ")
	switch {
	case len(heavy) > 0:
		return spoiling(seen, "system calls, page faults and switches take a multiple of what they take in production", fix), nil
	case len(light) > 0:
		return worthNoting(seen, "system calls and switches take some percent longer", fix), nil
	}
	return fine("the kernel was built without slow debugging options"), nil
}

func debuggingIn(config string) (heavy, light []string) {
	on := map[string]bool{}
	for line := range strings.Lines(config) {
		name, isOn := strings.CutSuffix(strings.TrimSpace(line), "=y")
		on[name] = isOn
	}
	for _, o := range debugOptions {
		name := "CONFIG_" + o.name
		switch {
		case on[name] && o.heavy:
			heavy = append(heavy, name)
		case on[name]:
			light = append(light, name)
		}
	}
	return heavy, light
}

// kernelConfig returns the text of the kernel's configuration, from the running kernel
// (CONFIG_IKCONFIG_PROC) or from the file that distributions install with its image.
func (d *Doctor) kernelConfig() (string, error) {
	config, err := d.zippedText("proc/config.gz")
	if err == nil || d.Machine.Kernel == "" {
		return config, err
	}
	config, errB := d.files().text("boot/config-" + string(d.Machine.Kernel))
	if errB != nil {
		return "", fmt.Errorf("%w; %w", err, errB)
	}
	if !strings.Contains(config, "CONFIG_") {
		return "", fmt.Errorf("/boot/config-%s holds no kernel option", d.Machine.Kernel)
	}
	return config, nil
}

// zippedText returns the content of a file that is compressed with gzip.
func (d *Doctor) zippedText(name string) (string, error) {
	file, err := d.Root.Open(name)
	if err != nil {
		return "", plainer(name, err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return "", plainer(name, err)
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, maxFileBytes))
	if err != nil {
		return "", plainer(name, err)
	}
	if !strings.Contains(string(data), "CONFIG_") {
		return "", fmt.Errorf("/%s holds no kernel option", name)
	}
	return string(data), nil
}
