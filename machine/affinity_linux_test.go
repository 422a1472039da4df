package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// All threads of the process are bound, also those that are started later.
func TestSetProcessAffinity(t *testing.T) {
	before := ownCPUs(t)
	if len(before) < 2 {
		t.Skip("all threads are bound to the only CPU anyway")
	}
	defer SetProcessAffinity(before)
	last := before[len(before)-1:]
	if err := SetProcessAffinity(last); err != nil {
		t.Fatal(err)
	}
	block := make(chan struct{})
	defer close(block)
	for range 3 {
		go func() { // each blocks a thread
			r, w, err := os.Pipe()
			if err != nil {
				return
			}
			defer r.Close()
			go func() { <-block; w.Close() }()
			syscall.Read(int(r.Fd()), make([]byte, 1)) // Fd makes it blocking
		}()
	}
	time.Sleep(50 * time.Millisecond)
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) < 2 {
		t.Fatal(threads, err)
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, allowed, _ := strings.Cut(string(text), "Cpus_allowed_list:")
		allowed, _, _ = strings.Cut(strings.TrimSpace(allowed), "\n")
		if allowed != FormatCPUList(last) {
			t.Errorf("%s may run on %s, want %v", name, allowed, last)
		}
	}
	if err := SetProcessAffinity([]int{maxCPU}); err == nil {
		t.Error("a CPU that does not exist is accepted")
	}
	if got, err := Affinity(); err != nil || !slices.Equal(got, last) {
		t.Errorf("%v, %v", got, err)
	}
}
