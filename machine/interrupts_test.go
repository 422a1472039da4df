package machine

import (
	"slices"
	"testing"
	"testing/fstest"
)

const interruptsBefore = `           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 36:          0       4714 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
LOC:       4204       4199   Local timer interrupts
RES:       2201       2354   Rescheduling interrupts
ERR:          0
MIS:          0
`

const interruptsAfter = `           CPU0       CPU1
 24:          1          3  IO-APIC   5-edge      ACPI:Ged
 36:          0       4720 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
LOC:       5204       4449   Local timer interrupts
RES:       2201       2355   Rescheduling interrupts
ERR:          0
MIS:          0
`

func TestInterruptsSince(t *testing.T) {
	read := func(text string) Interrupts {
		all, err := ReadInterrupts(fstest.MapFS{"proc/interrupts": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before, after := read(interruptsBefore), read(interruptsAfter)
	for cpu, want := range [][2]uint64{{1000, 0}, {250, 3 + 6 + 1}} {
		timer, others, known := after.Since(before, cpu)
		if timer != want[0] || others != want[1] || !known {
			t.Errorf("CPU %d: %d, %d, %v; want %d, %d", cpu, timer, others, known, want[0], want[1])
		}
	}
	arm := read("      CPU0\n 11:   500   GICv3  27 Level     arch_timer\n")
	if timer, others, known := arm.Since(Interrupts{}, 0); timer != 500 || others != 0 || !known {
		t.Errorf("arm64: %d, %d, %v", timer, others, known)
	}
	azure := read("      CPU0\nLOC:   3\nHVS:   1000\nRES:   2\n")
	if timer, others, known := azure.Since(Interrupts{}, 0); timer != 1003 || others != 2 || !known {
		t.Errorf("Hyper-V: %d, %d, %v", timer, others, known)
	}
	xen := read("      CPU0 CPU1\nLOC:   0 0\n 48:   1000 0  xen-percpu-virq      timer0\n 54:   0 900  xen-percpu    -virq      timer1\n 50:   7 0  xen-percpu-ipi       resched0\n")
	for cpu, want := range [][2]uint64{{1000, 7}, {900, 0}} {
		if timer, others, known := xen.Since(Interrupts{}, cpu); timer != want[0] || others != want[1] || !known {
			t.Errorf("Xen, CPU %d: %d, %d, %v; want %d, %d", cpu, timer, others, known, want[0], want[1])
		}
	}
	if busiest := xen.busiest(Interrupts{}, 0); !slices.Equal(busiest, []string{"50"}) {
		t.Errorf("Xen: %q are no timer's", busiest)
	}
	if _, _, known := (Interrupts{"24": {0: 1}}).Since(Interrupts{}, 0); known {
		t.Error("a timer that isn't listed is known")
	}
	if _, err := ReadInterrupts(fstest.MapFS{}); err == nil {
		t.Error("no file, no error")
	}
}

func FuzzParseInterrupts(f *testing.F) {
	f.Add(interruptsBefore)
	f.Add("CPU0 CPU9999999999999999999\n")
	f.Add("")
	f.Add("\n:\n")
	f.Add("CPU0\nLOC: 99999999999999999999\nX\n:\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseInterrupts(text)
		if err == nil {
			all.Since(all, 0)
		}
	})
}
