package kbest

import (
	"io/fs"

	"chronoscope/machine"
)

// Evictor clears the caches of the CPU that it is used on. So a subject finds the caches as cold as in a
// program that runs it rarely (Bryant 2003, section 9.4.2, clear_cache). Bryant swept 512 KB. Here a sweep
// covers twice as much memory as all caches of this machine together hold, in large pages if the system grants
// them.
//
// A sweep clears data from all caches, and code from caches that hold both data and code. Code in the first
// cache stays, and so do address translations and predicted branches. [Evictor.Check] says whether it works
// here: a cache may have another size than the system says, above all on a virtual machine.
type Evictor struct {
	memory   []byte
	release  func() error
	codeFrom uintptr
	codeTo   uintptr
	// Caches has the caches whose sizes it uses, the nearest first; empty if the system does not tell.
	Caches []machine.Cache
}

const (
	cacheLine = 64
	// sweptCaches is the number of bytes swept for each byte of cache. A sweep as large as the caches leaves
	// some lines, since no cache replaces strictly by age.
	sweptCaches = 2
	// unknownCaches is the assumed size of caches whose size is unknown, in bytes: as large as a server's.
	unknownCaches = 64 << 20
	mostSwept     = 1 << 30
)

// NewEvictor takes memory for sweeping the caches. It reads the sizes of CPU 0's caches from sys below root,
// which is usually os.DirFS("/"); if it can't, it assumes 64 MB of caches. It returns an error if memory can't
// be had. Close gives the memory back.
func NewEvictor(root fs.FS) (*Evictor, error) {
	e := &Evictor{}
	e.Caches, _ = machine.ReadDataCaches(root, 0)
	bytes := sweptCaches * unknownCaches
	if len(e.Caches) > 0 {
		bytes = sweptBytes(e.Caches)
	}
	var err error
	if e.memory, e.release, err = largePages(bytes); err != nil {
		return nil, err
	}
	e.codeFrom, e.codeTo = allCode()
	e.Evict() // the system gives memory only when it is touched
	return e, nil
}

func sweptBytes(caches []machine.Cache) int {
	sum := 0
	for _, c := range caches {
		sum += min(c.Bytes, mostSwept)
	}
	return min(sweptCaches*sum, mostSwept)
}

// Bytes returns the number of bytes that a sweep touches.
func (e *Evictor) Bytes() int { return len(e.memory) }

// Evict clears the data caches. It takes some milliseconds for each 32 MB of cache.
//
// Lines are written and then read back, as Bryant does, so that they take up room whatever the caches do with
// writes.
func (e *Evictor) Evict() {
	for i := 0; i < len(e.memory); i += cacheLine {
		e.memory[i]++
	}
	var sum byte
	for i := 0; i < len(e.memory); i += cacheLine {
		sum += e.memory[i]
	}
	Keep(sum)
}

// EvictCode drops the machine code of this whole program from the caches, including that of the measurement. It
// returns an error if that can't be done. Code of the kernel and of libraries outside of Go stays.
func (e *Evictor) EvictCode() error { return flush(e.codeFrom, e.codeTo-e.codeFrom) }

// Close gives the memory back.
func (e *Evictor) Close() error {
	if e.release == nil {
		return nil
	}
	release := e.release
	e.memory, e.release = nil, nil
	return release()
}

// Cold clears the data caches before each trial. Each trial is then one call.
func Cold(e *Evictor) Option { return Before(e.Evict) }

// ColdCode drops the program's code from the caches before each trial. Each trial is then one call. The code of
// the measurement itself is warm again by then, as it times the core in between. If code can't be dropped,
// nothing happens: ask [Evictor.EvictCode] first.
func ColdCode(e *Evictor) Option { return Before(func() { _ = e.EvictCode() }) }
