package machine_test

import (
	"fmt"
	"testing/fstest"

	"chronoscope/machine"
)

// Read describes the machine whose /proc and /sys are in a file tree, so that a test can describe
// any machine. [machine.Identify] describes this one.
func ExampleRead() {
	root := fstest.MapFS{
		"proc/cpuinfo": {Data: []byte("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n")},
		"sys/devices/system/clocksource/clocksource0/current_clocksource": {Data: []byte("tsc\n")},
	}
	m := machine.Read(root, "amd64")
	fmt.Println(m.CPU, m.Clocksource)
	// Output: AMD EPYC tsc
}

// FormatCPUList writes CPUs as the kernel does.
func ExampleParseCPUList() {
	cpus, err := machine.ParseCPUList("0,2-4")
	fmt.Println(cpus, err, machine.FormatCPUList(cpus))
	// Output: [0 2 3 4] <nil> 0,2-4
}
