package bytecode

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// The counting thread gets the last CPU, and those with the launcher's name the others. Old virtual machines give all
// threads the launcher's name: then all of them, the counting one too, were bound to the same CPU.
func TestPlaceThreads(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("there have to be two CPUs: %v %v", cpus, err)
	}
	last := len(cpus) - 1
	for _, c := range []struct {
		names []string
		want  [][]int
	}{
		{[]string{launcherThread, launcherThread}, [][]int{cpus, cpus}},
		{[]string{launcherThread, countingThread, "VM Thread"}, [][]int{cpus[:last], cpus[last:], cpus}},
		{[]string{launcherThread, countingThread, countingThread}, [][]int{cpus, cpus, cpus}},
	} {
		if got := placed(t, c.names, cpus); !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("%q: %v, want %v", c.names, got, c.want)
		}
	}
}

// placed names threads, lets placeThreads place them, and returns the CPUs of each.
func placed(t *testing.T, names []string, cpus []int) [][]int {
	var ready, looked sync.WaitGroup
	ready.Add(len(names))
	placed := make(chan struct{})
	got := make([][]int, len(names))
	for i, name := range names {
		looked.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rename(t, name)
			ready.Done()
			<-placed
			got[i], _ = machine.Affinity()
			rename(t, "idle")
			if err := machine.SetAffinity(cpus); err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	placeThreads(os.Getpid(), cpus)
	close(placed)
	looked.Wait()
	return got
}

// rename gives this thread a name.
func rename(t *testing.T, name string) {
	text := append([]byte(name), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0); err != nil {
		t.Error(err)
	}
}
