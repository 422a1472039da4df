package load

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind says what a competitor does.
type Kind string

// The kinds.
const (
	// Registers computes without touching memory.
	Registers Kind = "registers"
	// Memory writes to more memory than a core's own caches hold.
	Memory Kind = "memory"
	// Sleeping alternates between computing and sleeping, a millisecond each.
	Sleeping Kind = "sleeping"
	// Bursty alternates between computing and sleeping, each time for a random span that is
	// exponentially distributed with a mean of 2 ms, from 0.1 to 10 ms.
	Bursty Kind = "bursty"
	// Waking wakes up a thousand times per second, for a few microseconds each time.
	Waking Kind = "waking"
	// Changing alternates between computing and sleeping, each time for a random span of 20 ms to a
	// second.
	Changing Kind = "changing"
	// Forking starts processes that end at once.
	Forking Kind = "forking"
	// Building keeps as many processes running as there are CPUs that it may use. Each allocates
	// memory and compiles for about 150 ms and ends; then another one starts.
	Building Kind = "building"
	// Filling computes while nobody else wants the CPU, at Linux's lowest priority (SCHED_IDLE, sched(7)), so that the CPU is
	// never idle.
	Filling Kind = "filling"
)

// Kinds lists all kinds.
var Kinds = []Kind{Registers, Memory, Sleeping, Bursty, Waking, Changing, Forking, Building, Filling}

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

// marker is the environment variable that makes this program a competitor. Its value is the competitor's kind, number and
// niceness, or the role of a process that a competitor starts: nobody, or job and a number.
const (
	marker = "CHRONOSCOPE_COMPETITOR"
	nobody = "nobody" // the process ends at once
	job    = "job"    // the process compiles for a while
)

// Serve turns the process into a competitor if it was started as one, and then does not return. Call it
// first in main, and in TestMain.
func Serve() {
	role, ok := os.LookupEnv(marker)
	if !ok {
		return
	}
	name, number, _ := strings.Cut(role, " ")
	number, niceness, _ := strings.Cut(number, " ")
	if name == nobody {
		os.Exit(0)
	}
	competes := name != job
	if competes {
		awakeAtEnd()
	}
	go func() { // the pipe ends when the process that started this one ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		if competes {
			endGroup()
		}
		os.Exit(0)
	}()
	n, _ := strconv.ParseUint(number, 10, 64)
	random := rand.New(rand.NewPCG(n, 0)) // each competitor has its own sequence, which is the same each time
	if name == job {
		compile(random, between(random, 20*time.Millisecond, 150*time.Millisecond, time.Second))
		os.Exit(0)
	}
	if err := lower(Kind(name), niceness); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := os.Stdout.Write([]byte{'r'}); err != nil {
		os.Exit(1)
	}
	compete(Kind(name), n, random)
}

// lower sets the priority that a competitor of the kind and niceness has.
func lower(kind Kind, niceness string) error {
	nice, _ := strconv.Atoi(niceness)
	if kind != Filling && nice == 0 {
		return nil
	}
	runtime.LockOSThread() // the priority is the thread's
	if kind == Filling {
		return giveWay()
	}
	return setNice(nice)
}

// compete does what a competitor of the kind does, and never returns.
func compete(kind Kind, number uint64, random *rand.Rand) {
	var block []uint64
	if kind == Memory {
		block = make([]uint64, memoryBytes/8)
	}
	for x := uint64(1); ; {
		switch kind {
		case Memory:
			x += walk(block)
		case Sleeping:
			x = computeFor(x, time.Millisecond)
			time.Sleep(time.Millisecond)
		case Bursty:
			x = computeFor(x, between(random, 100*time.Microsecond, 2*time.Millisecond, 10*time.Millisecond))
			time.Sleep(between(random, 100*time.Microsecond, 2*time.Millisecond, 10*time.Millisecond))
		case Waking:
			x = multiply(x, 1000)
			time.Sleep(950 * time.Microsecond) // waking up takes the rest of the millisecond
		case Changing:
			x = computeFor(x, between(random, 20*time.Millisecond, 200*time.Millisecond, time.Second))
			time.Sleep(between(random, 20*time.Millisecond, 200*time.Millisecond, time.Second))
		case Forking:
			start(nobody)
		case Building:
			build(number)
		default:
			x = multiply(x, 1e6)
		}
		if x == 0 {
			os.Exit(0) // never happens, but the compiler does not know that
		}
	}
}

// between draws spans from an exponential distribution with the given mean until one is between least and
// most, and returns that span.
func between(random *rand.Rand, least, mean, most time.Duration) time.Duration {
	for {
		if span := time.Duration(random.ExpFloat64() * float64(mean)); least <= span && span <= most {
			return span
		}
	}
}

func computeFor(x uint64, span time.Duration) uint64 {
	for begin := time.Now(); time.Since(begin) < span; {
		x = multiply(x, 1000)
	}
	return x
}

// memoryBytes is more than a core's own caches hold, and little enough for ten competitors.
const memoryBytes = 16 << 20

func multiply(x uint64, rounds int) uint64 {
	for range rounds {
		x = x*6364136223846793005 + 1
	}
	return x
}

// walk writes to each cache line of a block.
func walk(block []uint64) (sum uint64) {
	for i := 0; i < len(block); i += 8 {
		block[i]++
		sum += block[i]
	}
	return sum
}

// start runs this program in another role and waits for its end. If that fails, start waits for a while,
// so that the caller does not try again without pause.
func start(role string) {
	self, err := os.Executable()
	if err == nil {
		c := exec.Command(self)
		c.Env = append(os.Environ(), marker+"="+role)
		var input io.Closer // when it is closed, the other process ends
		if input, err = c.StdinPipe(); err == nil {
			err = c.Run()
			_ = input.Close()
		}
	}
	if err != nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// build starts one job after the other on each CPU, and never returns.
func build(number uint64) {
	for cpu := range uint64(runtime.NumCPU()) {
		go func() {
			for n := number<<32 + cpu<<16; ; n++ {
				start(job + " " + strconv.FormatUint(n, 10))
			}
		}()
	}
	select {}
}

// compile compiles regular expressions for a span. Like any compiler it parses, allocates memory, and
// writes code.
func compile(random *rand.Rand, span time.Duration) {
	var compiled []*regexp.Regexp
	for begin := time.Now(); time.Since(begin) < span; {
		var text strings.Builder
		for range 50 {
			fmt.Fprintf(&text, "(%x[a-f%d-9]*|%x+?){1,%d}", random.Uint32(), random.IntN(9), random.Uint32(), 2+random.IntN(8))
		}
		compiled = append(compiled, regexp.MustCompile(text.String()))
	}
	runtime.KeepAlive(compiled)
}
