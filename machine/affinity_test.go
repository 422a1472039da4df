package machine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// ownCPUs locks the goroutine to its thread and returns the CPUs of the thread. It skips the test
// if the system has no affinity or denies it.
func ownCPUs(t *testing.T) []int {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cpus, err := Affinity()
	if err == nil {
		err = SetAffinity(cpus)
	}
	if err != nil {
		var unsupported *UnsupportedError
		var denied *AffinityError
		if !errors.As(err, &unsupported) && !errors.As(err, &denied) {
			t.Fatalf("an error of no known type: %v", err)
		}
		t.Skip(err)
	}
	return cpus
}

func TestPin(t *testing.T) {
	before := ownCPUs(t)
	if len(before) == 0 || !slices.IsSorted(before) {
		t.Fatalf("affinity %v", before)
	}
	for _, cpu := range before {
		restore, err := Pin([]int{cpu})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Affinity(); err != nil || !slices.Equal(got, []int{cpu}) {
			t.Errorf("pinned to %d: %v, %v", cpu, got, err)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if got, err := Affinity(); err != nil || !slices.Equal(got, before) {
			t.Errorf("restored: %v, %v, want %v", got, err, before)
		}
	}
}

// SetAffinity refuses a CPU that does not exist, alone and together with one that exists, and the
// thread keeps its CPUs.
func TestSetAffinityRefuses(t *testing.T) {
	before := ownCPUs(t)
	for _, c := range []struct {
		cpus []int
		says string
	}{
		{[]int{0, 1, 2, 3, maxCPU + 1}, "binding this thread to CPUs [0-3,"},
		{nil, "binding this thread to CPUs []: the list of CPUs is empty; name at least one"},
		{[]int{-1}, "there is no CPU -1; name"},
		{[]int{before[0], maxCPU + 1}, "there is no CPU 65536; name"},
		{[]int{maxCPU}, "sched_setaffinity: invalid argument; name CPUs that are online"},
		{[]int{before[0], maxCPU}, "the kernel left out CPU 65535; name CPUs that are online"},
	} {
		cpus := c.cpus
		var refused *AffinityError
		if err := SetAffinity(cpus); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want an *AffinityError that says %q", cpus, err, c.says)
		}
		if restore, err := Pin(cpus); err == nil {
			t.Errorf("%v: pinned", cpus)
			restore()
		}
		if got, err := Affinity(); err != nil || !slices.Equal(got, before) {
			t.Errorf("after %v: affinity %v, %v, want %v", cpus, got, err, before)
		}
	}
}

func TestUnsupportedError(t *testing.T) {
	err := error(&UnsupportedError{Operation: "walking on water", Reason: "it gives way", Remedy: "swim"})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Error("it is no errors.ErrUnsupported")
	}
	want := "walking on water: not supported on " + runtime.GOOS + ": it gives way; swim"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
