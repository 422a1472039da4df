//go:build linux && (amd64 || arm64)

package clock

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A reading through the vDSO lies between two readings of the same clock through the system
// call. The kernel updates the two one after the other at a tick, and a clock may be set, so a
// few readings may fail.
func TestVDSOAndSystemCallAgree(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	for name, p := range posixClocks {
		direct, fast := gettimeBySyscall(p.id), v.gettime(p.id)
		agreed := 0
		for range 100 {
			before, between, after := direct(), fast(), direct()
			if before <= between && between <= after {
				agreed++
			}
		}
		if agreed < 90 {
			t.Errorf("%s: %d of 100 readings lie within their sandwich", name, agreed)
		}
	}
}

func TestGettimeofdayAgreesWithRealtime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, unitNs := range map[string]int64{"gettimeofday": 1e3, "time": 1e9} {
		c, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if int64(c.UnitNs) != unitNs {
			t.Errorf("%s: a tick is %g ns", name, c.UnitNs)
		}
		coarse, err := Open("realtime-coarse")
		if err != nil {
			t.Skip(err)
		}
		// The coarse clock is behind by one tick at most, which is 10 ms for the lowest
		// CONFIG_HZ. time(2) advances at the same tick.
		within := false
		for range 3 {
			low, reading, high := coarse.Read(), c.Read()*unitNs, gettimeBySyscall(unix.CLOCK_REALTIME)()
			within = within || low-unitNs < reading && reading <= high
		}
		if !within {
			t.Errorf("%s is not the calendar's time", name)
		}
	}
}

func TestAgreeRefusesAVDSOThatReadsSomethingElse(t *testing.T) {
	now := int64(0)
	direct := func() int64 { now++; return now }
	if !agree(direct, direct) {
		t.Error("a clock does not agree with itself")
	}
	if agree(direct, func() int64 { return now + 1000 }) || agree(direct, func() int64 { return 0 }) {
		t.Error("clocks a thousand ticks apart agree")
	}
}

func TestPreferredWayOfReading(t *testing.T) {
	now := int64(0)
	direct := func() int64 { now++; return now }
	wrong := func() int64 { return now + 1000 }
	if read, api := preferred("call", wrong, direct); read() < 0 || read() > now || !strings.HasPrefix(api, "call, system call") {
		t.Errorf("a vDSO that reads something else: %q", api)
	}
	slow := func() int64 { Spin(1000); return direct() }
	if _, api := preferred("call", slow, direct); !strings.Contains(api, "passes on") {
		t.Errorf("a vDSO that is no faster: %q", api)
	}
	if _, api := preferred("call", direct, slow); api != "call in the vDSO" {
		t.Errorf("a vDSO that is faster: %q", api)
	}
}
