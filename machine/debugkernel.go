package machine

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// debugOptions are kernel options for finding faults, and whether they slow down
// much: those check each access to memory or each lock (Kconfig help texts in
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

// judgeDebugKernel looks into the options that the kernel was built with.
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

// kernelConfig is the text of the configuration: of the running kernel itself
// (CONFIG_IKCONFIG_PROC), or the file that distributions put beside its image.
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

// zippedText is the content of a file that gzip has packed.
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
