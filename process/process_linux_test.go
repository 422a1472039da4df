package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
	"chronoscope/machine"
)

// callInThreads starts goroutines that make system calls all the time.
func callInThreads(n int) {
	for range n {
		go func() {
			for {
				unix.Nanosleep(&unix.Timespec{Nsec: 1}, nil)
			}
		}()
	}
}

const endsInTwoThreads = "ends in two threads"

func init() {
	if os.Getenv("PROCESS_TEST_PROGRAM") == endsInTwoThreads {
		runtime.LockOSThread() // to the first thread
	}
}

// TestMain plays the programs of the tests.
func TestMain(m *testing.M) {
	if program := programs[os.Getenv("PROCESS_TEST_PROGRAM")]; program != nil {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const workers, yields, looksBefore, manyCalls = 5, 100, 20, 12_000

// manyFiles are more than are all looked at.
const manyFiles = 4 * manyOpens

var programs = map[string]func(){
	// threads come and go, each with work of its own.
	"threads": func() {
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				runtime.LockOSThread() // for good, so that the thread ends
				spin(10 * time.Millisecond)
			})
		}
		all.Wait()
	},
	"niceness": func() { fmt.Print(niceness()) },
	"spins": func() {
		runtime.LockOSThread()
		spin(20 * time.Millisecond)
	},
	// another thread than the first becomes "spins".
	"becomes another": func() {
		runtime.LockOSThread() // to the first thread, or another will do
		become := func() {
			runtime.LockOSThread()
			os.Setenv("PROCESS_TEST_PROGRAM", "spins")
			fmt.Fprintln(os.Stderr, syscall.Exec(os.Args[0], os.Args[:1], os.Environ()))
			os.Exit(1)
		}
		if syscall.Gettid() != os.Getpid() {
			become()
		}
		go become()
		select {}
	},
	"sleeps for no time": func() {
		var none syscall.Timespec
		for range manyCalls {
			syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, 0, 0, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
		}
	},
	// waits for a file with a time limit, which passes.
	"polls": func() {
		r, w, _ := os.Pipe()
		defer w.Close()
		polled := [1]struct {
			fd              int32
			events, revents int16
		}{{fd: int32(r.Fd()), events: 1}}
		limit := syscall.Timespec{Nsec: 20e6}
		syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 1, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	},
	"asks for tracer": func() { unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0) },
	"stops for its tracer": func() {
		runtime.LockOSThread()
		unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
		unix.RawSyscall(unix.SYS_TGKILL, uintptr(unix.Getpid()), uintptr(unix.Gettid()), uintptr(unix.SIGUSR1))
		time.Sleep(20 * time.Millisecond)
	},
	// is a session whose terminal is its standard input, and runs a program that reads from that.
	"has a terminal": func() {
		for _, untraced := range []bool{false, true} {
			c := shell("read word </dev/tty")
			c.Untraced = untraced
			_, err := c.Run(background)
			fmt.Println(errors.Is(err, errWantsTerminal), err)
		}
	},
	"yields": func() {
		for range yields {
			syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
		}
	},
	// asks for a real-time policy of that priority.
	"real time": func() {
		priority, _ := strconv.Atoi(os.Args[1])
		asked := int32(priority)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&asked))); errno != 0 {
			os.Exit(1)
		}
	},
	"notes": func() {
		r, err := Command{Path: "sleep", Args: []string{"0.01"}, Env: []string{"PATH=" + os.Getenv("PATH")}, NoteWaits: true}.Run(background)
		fmt.Println(r.TimedWaits, "timed waits,", errors.Join(err, r.Untraced, r.Unnoted))
	},
	"looks at the clock": func() {
		runtime.LockOSThread()
		for range looksBefore {
			now = time.Now()
		}
		spin(20 * time.Millisecond)
		now = time.Now()
		if len(os.Args) > 1 { // and works on
			spin(10 * time.Millisecond)
		}
	},
	"works until some time": func() {
		for begun := time.Now(); time.Since(begun) < 40*time.Millisecond; {
			spin(time.Millisecond)
		}
	},
	"works until the counter shows so many ticks more": func() {
		ticks, _ := strconv.ParseInt(os.Args[1], 10, 64)
		for begun := clock.Counter(); clock.Counter()-begun < ticks; {
			spin(time.Millisecond)
		}
	},
	// reads a clock by system calls, without the vDSO, before, amid and after its work; or it ends after its
	// last look, as a program may that skips what it is too late for.
	"reads a clock by system calls": func() {
		runtime.LockOSThread()
		for i := range 3 {
			if os.Args[1] == "clock_gettime" {
				var at syscall.Timespec
				syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&at)), 0)
			} else {
				var used unix.Tms
				unix.Times(&used)
			}
			if i == 2 && len(os.Args) > 2 {
				return
			}
			spin(10 * time.Millisecond)
		}
	},
	"opens many files": func() {
		for range manyFiles {
			file, err := unix.Open("/dev/null", 0, 0)
			if err != nil {
				os.Exit(1)
			}
			unix.Close(file)
		}
	},
	// reads a file before, amid and after its work: by its whole path, from the folder that it is in, or from a
	// folder that it has opened.
	"reads a file": func() {
		runtime.LockOSThread()
		dir, name := filepath.Split(os.Args[2])
		folder, err := unix.Open(dir, unix.O_PATH, 0)
		if err != nil || os.Chdir(dir) != nil {
			os.Exit(1)
		}
		for range 3 {
			var file int
			switch os.Args[1] {
			case "whole":
				file, err = unix.Open(os.Args[2], 0, 0)
			case "here":
				file, err = unix.Open(name, 0, 0)
			case "from":
				file, err = unix.Openat2(folder, name, &unix.OpenHow{})
			}
			if err != nil {
				os.Exit(2)
			}
			unix.Close(file)
			spin(10 * time.Millisecond)
		}
	},
	// computes until it has been preempted three times, and then a tenth of it.
	"counts its preemptions": func() {
		runtime.LockOSThread()
		for range 30 {
			var used unix.Rusage
			if unix.Getrusage(unix.RUSAGE_SELF, &used); used.Nivcsw < 3 {
				spin(2 * time.Millisecond)
			}
		}
	},
	// exits while its other threads make system calls.
	"exits amid system calls": func() {
		callInThreads(12)
		time.Sleep(3 * time.Millisecond)
	},
	// reads the load once, while another thread makes system calls.
	"reads the load amid system calls": func() {
		callInThreads(2)
		time.Sleep(3 * time.Millisecond)
		if _, err := os.ReadFile("/proc/loadavg"); err != nil {
			os.Exit(1)
		}
		time.Sleep(time.Millisecond)
	},
	// four threads wait until the same time, which stands in memory once.
	"waits together": func() {
		for range 200 {
			spin(10 * time.Microsecond)
			now = time.Now()
		}
		var until unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &until)
		until = unix.NsecToTimespec(until.Nano() + 20e6)
		was := until
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				_, _, _ = syscall.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&until)), 0, 0, 0)
			})
		}
		all.Wait()
		if until != was {
			os.Exit(1)
		}
	},
	// its first thread ends alone, and some time later another one ends the program.
	endsInTwoThreads: func() {
		us, _ := strconv.Atoi(os.Args[1])
		go func() {
			if len(os.Args) > 2 {
				megabytes, _ := strconv.Atoi(os.Args[2])
				memory := make([]byte, megabytes<<20)
				for i := 0; i < len(memory); i += 4096 {
					memory[i] = 1
				}
			}
			spin(time.Duration(us) * time.Microsecond)
			if len(os.Args) > 3 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}()
		_, _, _ = syscall.Syscall(unix.SYS_EXIT, 0, 0, 0)
	},
	// reads clocks by all functions: the time goes on.
	"reads all clocks": func() {
		for range 1000 {
			var tv syscall.Timeval
			before := time.Now()
			syscall.Gettimeofday(&tv)
			if after := time.Now(); tv.Nano() < before.UnixMicro()*1000 || tv.Nano() > after.UnixNano() || time.Unix(int64(tv.Sec), 0).After(after) {
				os.Exit(1)
			}
			if seconds, err := syscall.Time(nil); err != nil || int64(seconds) < before.Unix() {
				os.Exit(2)
			}
		}
	},
	"looks all the time": func() {
		for range 20_000 {
			now = time.Now()
		}
	},
	// threads look at clocks, all at once, and so does a child.
	"threads look": func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for last := time.Now(); time.Since(last) < 20*time.Millisecond; {
					if now := time.Now(); now.Before(last) {
						os.Exit(1)
					}
				}
			})
		}
		if exec.Command("date").Run() != nil {
			os.Exit(2)
		}
		all.Wait()
	},
	// threads read the counter, which goes forward, all at once, while a child looks at clocks.
	"threads read the counter": func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				runtime.LockOSThread()
				for range 100_000 {
					if first := clock.Counter(); clock.Counter() < first {
						os.Exit(1)
					}
				}
			})
		}
		if exec.Command("date").Run() != nil {
			os.Exit(2)
		}
		all.Wait()
	},
	// has a fault of its own amid reads of the counter, and goes on from that.
	"faults": func() {
		defer func() {
			clock.Counter()
			if recover() == nil {
				os.Exit(1)
			}
		}()
		clock.Counter()
		var nowhere *int64
		*nowhere = clock.Counter()
	},
	"watches": func() {
		r, err := Command{Path: os.Args[1], Args: os.Args[2:], Env: []string{"PATH=" + os.Getenv("PATH")}, Events: true, Untraced: true}.Run(background)
		if err != nil || r.WallNs < 10e6 {
			fmt.Println(r, err)
			return
		}
		fmt.Println("10 ms or more,", len(r.Events), "events")
	},
	"memory": func() {
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 512 {
			block[i] = 1
		}
		runtime.KeepAlive(block)
	},
}

var (
	spun uint64
	now  time.Time
)

// spin uses the given CPU time of its thread.
func spin(d time.Duration) {
	used := func() time.Duration {
		var cpu unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &cpu)
		return time.Duration(cpu.Nano())
	}
	for start := used(); used()-start < d; {
		for range 10000 {
			spun++
		}
	}
}

func program(name string, args ...string) Command {
	return Command{Path: os.Args[0], Args: args, Env: append(os.Environ(), "PROCESS_TEST_PROGRAM="+name)}
}

func shell(script string) Command { return Command{Path: "sh", Args: []string{"-c", script}} }

var background = context.Background()

// both runs a command traced and untraced.
func both(t *testing.T, c Command, check func(t *testing.T, r Run, err error)) {
	t.Helper()
	for _, untraced := range []bool{false, true} {
		t.Run(fmt.Sprintf("untraced=%v", untraced), func(t *testing.T) {
			c.Untraced = untraced
			r, err := c.Run(background)
			check(t, r, err)
		})
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		signal os.Signal
	}{{"exit 0", 0, nil}, {"exit 3", 3, nil}, {"kill -TERM $$", -1, syscall.SIGTERM}, {"(exit 4); exit 5", 5, nil}, {"trap 'exit 6' USR1; kill -USR1 $$; exit 7", 6, nil}} {
		both(t, shell(c.script), func(t *testing.T, r Run, err error) {
			if err != nil || r.ExitCode != c.code || r.Signal != c.signal || (r.Failure() == nil) != (c.code == 0) {
				t.Errorf("%q: %+v, %v", c.script, r, err)
			}
			if r.WallNs <= 0 || r.CPUNs() <= 0 {
				t.Errorf("%q: it took %d ns, and %d ns of CPU time", c.script, r.WallNs, r.CPUNs())
			}
		})
	}
}

func TestSurroundings(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	stdin, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	io.WriteString(stdin, "a line\n")
	directory := t.TempDir()
	for _, untraced := range []bool{false, true} {
		stdin.Seek(0, io.SeekStart)
		var out, errs bytes.Buffer
		c := Command{
			Path: "/bin/sh", Args: []string{"-c", `cat; echo "$1 $NAME"; pwd; grep Cpus_allowed_list /proc/self/status; echo bad >&2`, "x", "an argument"},
			Env: []string{"NAME=value", "PATH=" + os.Getenv("PATH")}, Dir: directory, Stdin: stdin, Stdout: &out, Stderr: &errs,
			CPUs: cpus[len(cpus)-1:], Untraced: untraced,
		}
		if r, err := c.Run(background); err != nil || r.Failure() != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		want := fmt.Sprintf("a line\nan argument value\n%s\nCpus_allowed_list:\t%d\n", directory, cpus[len(cpus)-1])
		if out.String() != want || errs.String() != "bad\n" {
			t.Errorf("%q and %q, want %q", &out, &errs, want)
		}
	}
	if now, _ := machine.Affinity(); len(now) != len(cpus) {
		t.Errorf("this thread is left on %v", now)
	}
}

// mustTrace skips where this system forbids it.
func mustTrace(t *testing.T, c Command) Run {
	t.Helper()
	r, err := c.Run(background)
	if err != nil {
		t.Fatal(err)
	}
	if r.Untraced != nil {
		t.Skipf("no tracing here: %v", r.Untraced)
	}
	return r
}

// Each thread is seen, also those that are long gone when the program ends, and their
// CPU times add up to what wait4 says of the process.
func TestThreads(t *testing.T) {
	r := mustTrace(t, program("threads"))
	busy, sum := 0, int64(0)
	for _, thread := range r.Threads {
		sum += thread.CPUNs
		if thread.CPUNs >= 9e6 {
			busy++
		}
	}
	if busy < workers || r.WaitOf != AllThreads {
		t.Errorf("%d of %d workers were seen: %+v", busy, workers, r)
	}
	// The kernel goes on counting while a thread exits; a whole worker would be 10 ms.
	if off := r.CPUNs() - sum; off < -1e6 || off > 9e6 {
		t.Errorf("the threads ran for %d ns, the process for %d", sum, r.CPUNs())
	}
	if r.InvoluntarySwitches+r.VoluntarySwitches == 0 || r.MinorFaults == 0 {
		t.Errorf("no switches or faults: %+v", r)
	}
}

// A thread that executes a program gets the number of the first one, which ends: what it does
// from then on was not counted.
func TestExecByAnotherThread(t *testing.T) {
	r := mustTrace(t, program("becomes another"))
	var sum int64
	for _, thread := range r.Threads {
		sum += thread.CPUNs
	}
	if off := r.CPUNs() - sum; r.Failure() != nil || sum < 20e6 || off > 9e6 {
		t.Errorf("the threads ran for %d ns, the process for %d: %+v", sum, r.CPUNs(), r)
	}
}

// Processes of the program count, too.
func TestDescendants(t *testing.T) {
	c := program("threads")
	c.Args, c.Path = []string{"-c", `"$0"; "$0"`, c.Path}, "sh"
	r := mustTrace(t, c)
	busy := 0
	for _, thread := range r.Threads {
		if thread.CPUNs >= 9e6 {
			busy++
		}
	}
	if busy < 2*workers || r.CPUNs() < 2*workers*9e6 {
		t.Errorf("%d threads of 10 ms were seen, and %d ns: %+v", busy, r.CPUNs(), r)
	}
}

// The memory is the program's own, however much this process has.
func TestPeakResident(t *testing.T) {
	ours := make([]byte, 200<<20)
	for i := 0; i < len(ours); i += 512 {
		ours[i] = 1
	}
	small, large := mustTrace(t, shell("exit 0")), mustTrace(t, program("memory"))
	runtime.KeepAlive(ours)
	if small.MaxRSSBytes <= 0 || small.MaxRSSBytes > 50<<20 {
		t.Errorf("a shell has %d bytes", small.MaxRSSBytes)
	}
	if large.MaxRSSBytes < 64<<20 || large.MaxRSSBytes > 150<<20 {
		t.Errorf("a program with 64 MB has %d bytes", large.MaxRSSBytes)
	}
	if small.AllRSSBytes != small.MaxRSSBytes {
		t.Errorf("one process has %d bytes, all have %d", small.MaxRSSBytes, small.AllRSSBytes)
	}
	started := program("memory")
	started.Args, started.Path = []string{"-c", `"$0"; exit 0`, started.Path}, "sh"
	if by := mustTrace(t, started); by.MaxRSSBytes < 64<<20 || by.MaxRSSBytes > 150<<20 {
		t.Errorf("a shell that starts a program with 64 MB has %d bytes", by.MaxRSSBytes)
	}
	many := mustTrace(t, shell("for i in 1 2 3 4 5 6 7 8; do (exit 0); done; exit 0"))
	if most := many.MaxRSSBytes; many.AllRSSBytes < 2*most || many.AllRSSBytes > 9*most {
		t.Errorf("a shell and eight copies of it have %d bytes, one has %d", many.AllRSSBytes, most)
	}
}

// gone waits until a process has ended; a zombie has.
func gone(t *testing.T, pid string) {
	t.Helper()
	for range 500 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is left behind", pid)
}

func TestNothingIsLeftBehind(t *testing.T) {
	for _, c := range []struct {
		script   string
		untraced bool
	}{
		{"sleep 1000 & echo $!", false},
		{"sleep 1000 & echo $!", true},
		{"setsid sleep 1000 & daemon=$!; sleep 0.2; echo $daemon", false}, // of a session of its own
	} {
		var out bytes.Buffer
		command := shell(c.script)
		command.Stdout, command.Untraced = &out, c.untraced
		if r, err := command.Run(background); err != nil || !c.untraced && r.Untraced != nil {
			t.Skipf("no tracing here: %v, %v", r.Untraced, err)
		}
		pid := strings.TrimSpace(out.String())
		if _, err := strconv.Atoi(pid); err != nil {
			t.Fatalf("it printed %q", &out)
		}
		gone(t, pid)
	}
}

// firstWord calls once when something is written.
type firstWord struct {
	once sync.Once
	call func()
}

func (w *firstWord) Write(text []byte) (int, error) {
	w.once.Do(w.call)
	return len(text), nil
}

// Whatever it does, the program ends when the context does, with what was counted. A busy
// machine may not let it begin for long.
func TestInterrupted(t *testing.T) {
	for _, script := range []string{"exec sleep 1000", "sleep 1000 & sleep 1000", "trap '' TERM INT; while :; do :; done", "yes", "kill -STOP $$"} {
		for _, untraced := range []bool{false, true} {
			ctx, cancel := context.WithCancel(background)
			c := shell("echo; " + script)
			c.Stdout = &firstWord{call: func() { time.AfterFunc(100*time.Millisecond, cancel) }}
			c.Untraced = untraced
			ended := make(chan struct{})
			var r Run
			var err error
			go func() {
				defer close(ended)
				r, err = c.Run(ctx)
			}()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Fatalf("%q, untraced %v: it still runs", script, untraced)
			}
			cancel()
			stopped := script == "kill -STOP $$" && !untraced // a tracer does not let it stop
			if !stopped && (!errors.Is(err, context.Canceled) || r.Signal != syscall.SIGKILL || r.WallNs <= 0) {
				t.Errorf("%q, untraced %v: %+v, %v", script, untraced, r, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := shell("exit 0").Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Children of other parts of the same process are theirs to wait for.
func TestChildrenOfOthers(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 15 {
				if i%2 == 0 {
					if r, err := shell("exit 3").Run(background); err != nil || r.ExitCode != 3 {
						t.Errorf("%+v, %v", r, err)
					}
				} else if err := exec.Command("sh", "-c", "sleep 0.01; exit 4").Run(); err == nil || err.Error() != "exit status 4" {
					t.Errorf("another's child ended with %v", err)
				}
			}
		})
	}
	all.Wait()
}

func TestCantStart(t *testing.T) {
	plain := t.TempDir() + "/plain"
	os.WriteFile(plain, []byte("text"), 0o644)
	script := t.TempDir() + "/script"
	os.WriteFile(script, []byte("no program"), 0o755)
	for name, c := range map[string]struct {
		command Command
		remedy  string
	}{
		"missing": {Command{Path: "/no/such/program"}, "it is there"}, "no name": {Command{}, "it is there"},
		"not executable": {Command{Path: plain}, "may be executed"}, "no program": {Command{Path: script}, "built for this machine"},
		"no directory": {Command{Path: "/bin/sh", Dir: "/no/such/directory"}, "folder to run it in"}, "a directory": {Command{Path: "/"}, "a file that may be executed"},
	} {
		var start *StartError
		if _, err := c.command.Run(background); !errors.As(err, &start) || !strings.Contains(err.Error(), c.remedy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Too many open files were answered with a machine that it was not built for.
	for errno, remedy := range map[syscall.Errno]string{syscall.EMFILE: "ulimit -n", syscall.EAGAIN: "ulimit -u", syscall.E2BIG: "fewer arguments", syscall.EPERM: "seccomp", syscall.EIO: "check that it is there"} {
		if err := (&StartError{Path: "/bin/sh", Err: &os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: errno}}); !strings.Contains(err.Error(), remedy) {
			t.Errorf("%v", err)
		}
	}
	// In a chroot without /dev the program was blamed.
	if err := (&StartError{Path: "/bin/sh", Err: &os.PathError{Op: "open", Path: "/dev/null", Err: syscall.ENOENT}}); !strings.Contains(err.Error(), "mknod") || strings.Contains(err.Error(), "interpreter") {
		t.Errorf("%v", err)
	}
	var unbound *machine.AffinityError
	if _, err := (Command{Path: "/bin/sh", CPUs: []int{4000}}).Run(background); !errors.As(err, &unbound) {
		t.Errorf("CPU 4000: %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriterFails(t *testing.T) {
	c := shell("yes")
	c.Stdout = full{}
	if r, err := c.Run(background); err == nil || err.Error() != "full" {
		t.Errorf("%+v, %v", r, err)
	}
}
