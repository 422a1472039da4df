package clock

import (
	"strings"
	"testing"
)

// On a processor without RDTSCP the counter is read without it, also at the end of a region.
func TestNoRDTSCP(t *testing.T) {
	if _, err := tried(instructionRDTSC); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { Open("tsc") }) // tries RDTSCP again
	outcomeIs(t, instructionRDTSCP, illegal(instructionRDTSCP))
	c, err := Open("tsc")
	if err != nil {
		t.Fatal(err)
	}
	if rdtscp.Load() {
		t.Error("the end of a region is still read with RDTSCP")
	}
	if start, end := c.Start(), c.End(); end < start {
		t.Errorf("a region from %d to %d", start, end)
	}
	if _, err := Open("tscp"); reasonOf(err) != NoInstruction || !strings.Contains(err.Error(), "RDTSCP in a child process ended in SIGILL") {
		t.Errorf("tscp: %v", err)
	}
}

// A vDSO that shows another time than the system call is not used.
func TestWrongVDSO(t *testing.T) {
	real := kernelVDSO
	t.Cleanup(func() { kernelVDSO = real })
	kernelVDSO = func() (vdso, error) {
		return vdso{gettime: func(int32) func() int64 { return func() int64 { return 42 } }}, nil
	}
	c, err := Open("monotonic")
	if err != nil {
		t.Skip(err)
	}
	if !strings.Contains(c.API, "system call (the vDSO reads something else)") || c.Read() == 42 {
		t.Errorf("%q reads %d", c.API, c.Read())
	}
}

// The clock's API says that its counter is trapped and emulated.
func TestTrappedTSC(t *testing.T) {
	slow := func() int64 { Spin(10_000); return counter() }
	c, err := openCounter(instructionRDTSC, "RDTSC", slow, counterChain)()
	if err != nil {
		t.Skip(err)
	}
	if c.API != "RDTSC, which a hypervisor or sandbox traps and emulates" && !strings.Contains(c.API, "untried") {
		t.Errorf("%q", c.API)
	}
}
