package load

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Kind is what a competitor does.
type Kind string

// The kinds.
const (
	// Registers: it computes without touching memory.
	Registers Kind = "registers"
	// Memory: it walks through more memory than caches hold.
	Memory Kind = "memory"
	// Sleeping: it works and sleeps in turn, a millisecond each.
	Sleeping Kind = "sleeping"
	// Forking: it starts processes that end at once.
	Forking Kind = "forking"
)

// Kinds are all of them.
var Kinds = []Kind{Registers, Memory, Sleeping, Forking}

// ParseKind reads the name of a kind.
func ParseKind(name string) (Kind, error) {
	if kind := Kind(name); slices.Contains(Kinds, kind) {
		return kind, nil
	}
	var names []string
	for _, kind := range Kinds {
		names = append(names, string(kind))
	}
	return "", fmt.Errorf("load: there is no load called %q: choose one of %s", name, strings.Join(names, ", "))
}

// marker in the environment makes this program a competitor, of the kind that it names,
// or a process that ends at once.
const (
	marker = "CHRONOSCOPE_COMPETITOR"
	nobody = "nobody"
)

// Serve turns the process into a competitor where it was started as one, and then does
// not return. Call it first in main, and in TestMain.
func Serve() {
	name, ok := os.LookupEnv(marker)
	if !ok {
		return
	}
	kind, err := ParseKind(name)
	if err != nil {
		os.Exit(0)
	}
	go func() { // the end of the pipe is the end of the process that started this one
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if _, err := os.Stdout.Write([]byte{'r'}); err != nil {
		os.Exit(1)
	}
	compete(kind)
}

func compete(kind Kind) {
	var block []uint64
	if kind == Memory {
		block = make([]uint64, memoryBytes/8)
	}
	for x := uint64(1); ; {
		switch kind {
		case Memory:
			x += walk(block)
		case Sleeping:
			for begin := time.Now(); time.Since(begin) < napping; {
				x = multiply(x, 1000)
			}
			time.Sleep(napping)
		case Forking:
			fork()
		default:
			x = multiply(x, 1e6)
		}
		if x == 0 {
			os.Exit(0) // never, which the compiler does not know
		}
	}
}

// napping is how long a sleeping competitor works, and sleeps.
const napping = time.Millisecond

// memoryBytes are more than a core's own caches hold, and not too much for ten.
const memoryBytes = 16 << 20

func multiply(x uint64, rounds int) uint64 {
	for range rounds {
		x = x*6364136223846793005 + 1
	}
	return x
}

// walk touches each cache line of a block.
func walk(block []uint64) (sum uint64) {
	for i := 0; i < len(block); i += 8 {
		block[i]++
		sum += block[i]
	}
	return sum
}

// fork starts a process that ends at once. Where none can be started it waits, so as not
// to ask without pause.
func fork() {
	self, err := os.Executable()
	if err == nil {
		c := exec.Command(self)
		c.Env = append(os.Environ(), marker+"="+nobody)
		err = c.Run()
	}
	if err != nil {
		time.Sleep(10 * time.Millisecond)
	}
}
