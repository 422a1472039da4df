package tracepoint

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mustOpen opens a recorder, or skips the test if this system refuses.
func mustOpen(t *testing.T) *Recorder {
	t.Helper()
	r, err := Open()
	var why *Unavailable
	if errors.As(err, &why) && (os.Geteuid() != 0 || why.Reason == Refused || why.Reason == NoTracefs) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// The kernel records the life of a program that sleeps, in order of time: its start, its name, that
// it sleeps, that a timer wakes it, and its end. Its timer may expire before it sleeps if it loses its
// CPU in between, and some virtual machines leave out the switches of seconds: one try in 20 has to
// show all.
func TestRecord(t *testing.T) {
	r := mustOpen(t)
	var seen life
	for range 20 {
		if seen = recordSleep(t, r); seen == (life{1, 1, 1, 1, true, true}) {
			return
		}
		t.Log(seen)
	}
	t.Errorf("in none of 20 tries was a whole life seen; the last: %+v", seen)
}

// life is what was recorded of a program that sleeps.
type life struct {
	forked, executed, exited, started int
	asleep, woken                     bool
}

// recordSleep runs sleep once. The order of events and the program's name have to be right in each try.
func recordSleep(t *testing.T, r *Recorder) (seen life) {
	t.Helper()
	program := exec.Command("sleep", "0.05")
	if err := program.Run(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * late)
	pid, last := int32(program.Process.Pid), int64(0)
	for _, e := range r.TakeAll() {
		if e.AtNs < last {
			t.Fatalf("%+v comes after %d", e, last)
		}
		last = e.AtNs
		if e.Thread == pid || e.Other == pid {
			seen.add(t, e, pid)
		}
	}
	return seen
}

func (l *life) add(t *testing.T, e Event, pid int32) {
	t.Helper()
	switch e.Kind {
	case Forked:
		l.forked++
	case Started:
		l.started++
	case Exited:
		l.exited++
	case Executed:
		l.executed++
		if e.Name != "sleep" {
			t.Errorf("%+v is called otherwise", e)
		}
	case Switched:
		l.asleep = l.asleep || e.Thread == pid && State(e.Value) == Sleeping
	case Waking:
		l.woken = l.woken || e.Other == pid && l.asleep && e.Context == InInterrupt
	}
}

// A paused recorder records nothing, and goes on afterwards.
func TestPause(t *testing.T) {
	r := mustOpen(t)
	of := func() (seen int) {
		r.Drop()
		program := exec.Command("true")
		if err := program.Run(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * late)
		for _, e := range r.TakeAll() {
			if pid := int32(program.Process.Pid); e.Thread == pid || e.Other == pid {
				seen++
			}
		}
		return seen
	}
	for range 3 {
		r.Pause()
		if n := of(); n > 0 {
			t.Fatalf("%d events of a program were recorded in a pause", n)
		}
		r.Resume()
		if of() == 0 {
			t.Fatal("nothing was recorded after a pause")
		}
	}
	if r.Lost() > 0 {
		t.Errorf("%d events were lost", r.Lost())
	}
}

// A sleep is a system call that waits until some time. A call whose time has passed ends at once.
func TestTimedCalls(t *testing.T) {
	mustOpen(t)
	r, err := OpenWithTimedCalls()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	past := unix.Timespec{Sec: 1}
	for range 3 {
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &past, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := unix.Poll(nil, 1); err != nil && err != unix.EINTR {
		t.Fatal(err)
	}
	if _, err := unix.Poll(nil, 0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * late)
	calls := map[string]int{}
	for _, e := range r.TakeAll() {
		if e.Thread == int32(unix.Gettid()) && (e.Kind == TimedCall || e.Kind == TimedOut) {
			calls[fmt.Sprint(e.Name, " ", e.Kind == TimedOut)]++
		}
	}
	if r.Lost() > 0 || len(calls) == 0 {
		t.Skipf("%d events were lost; %v", r.Lost(), calls) // the kernel lacks CONFIG_FTRACE_SYSCALLS
	}
	if calls["clock_nanosleep false"] != 3 || calls["clock_nanosleep true"] != 3 {
		t.Errorf("three sleeps whose time has passed: %v", calls)
	}
	if polls := calls["poll false"] + calls["ppoll false"]; polls != 1 && polls != 2 { // ppoll(2) is recorded even if its time is 0
		t.Errorf("a poll of 1 ms: %v", calls)
	}
}

// After closing nothing stays open, and two recorders at the same time don't disturb one another.
func TestCloses(t *testing.T) {
	mustOpen(t)
	before := descriptors(t)
	for range 3 {
		r, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A process that may open few files is told what to do. If they suffice without timed calls, it goes without these.
func TestFewFiles(t *testing.T) {
	mustOpen(t).Close()
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	allow(t, 5)
	var why *Unavailable
	if _, err := Open(); !errors.As(err, &why) || why.Reason != TooManyFiles || !strings.Contains(why.Remedy, "ulimit -n") {
		t.Errorf("%v", err)
	}
	allow(t, 10+(len(scheduling)+5)*len(cpus))
	r, err := OpenWithTimedCalls()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// allow lets this process open n more files, until the test ends.
func allow(t *testing.T, n int) {
	t.Helper()
	var usual unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &usual); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &usual) })
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for _, file := range open {
		taken[file.Name()] = true
	}
	limit := uint64(0) // of the numbers of open files
	for free := 0; free < n; limit++ {
		if !taken[fmt.Sprint(limit)] {
			free++
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: usual.Max}); err != nil {
		t.Fatal(err)
	}
}

// The buffers of all CPUs together take 64 MB at most, however many there are.
func TestBuffersAreLimited(t *testing.T) {
	for cpus, want := range map[int]int{1: 4096, 2: 4096, 4: 4096, 5: 2048, 128: 128, 100_000: 16} {
		if got := pagesOfEach(cpus); got != want {
			t.Errorf("%d CPUs: %d pages each, want %d", cpus, got, want)
		}
	}
}

// In a namespace of process numbers of its own, a recording of wake-ups would mix the machine's numbers with those of the
// namespace: it is refused. Which interrupt has a CPU needs no numbers, and the own thread has its number of the namespace.
func TestOtherNamespace(t *testing.T) {
	const child = "TRACEPOINT_TEST_NAMESPACE"
	if os.Getenv(child) != "" {
		r, err := Open()
		if err == nil {
			r.Close()
		}
		fmt.Println(err)
		fmt.Println(disturbed())
		return
	}
	mustOpen(t)
	c := exec.Command(os.Args[0], "-test.run=^TestOtherNamespace$")
	c.Env = append(os.Environ(), child+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	said, err := c.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil || !strings.Contains(string(said), "("+string(OtherNamespace)+")") || !strings.Contains(string(said), "--pid=host") {
		t.Errorf("%v: %s", err, said)
	}
	if !strings.Contains(string(said), "the calling thread was interrupted") {
		t.Errorf("%v: %s", err, said)
	}
}

// disturbed computes until an interrupt of the calling thread is recorded, but not for longer than 5 s.
func disturbed() string {
	cpus, err := onlineCPUs()
	if err != nil {
		return err.Error()
	}
	r, err := OpenDisturbances(cpus)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seen := 0
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); {
		for _, e := range r.Take() {
			seen++
			if e.Thread == int32(unix.Gettid()) && e.Kind != Switched {
				return "the calling thread was interrupted"
			}
		}
	}
	return fmt.Sprint(seen, " events, and none of the calling thread")
}

// Events come between two readings of Now, also if a time namespace shifts CLOCK_MONOTONIC for this process: else a recording
// has none of its time. Half of the shift of a second is allowed for.
func TestTimeNamespace(t *testing.T) {
	const child, offNs = "TRACEPOINT_TEST_TIME", 5e8
	if os.Getenv(child) == "" {
		mustOpen(t)
		namespace := []string{"-fT", "--monotonic", "1", "--boottime", "1"}
		if said, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
			t.Skipf("no time namespace: %v: %s", err, said)
		}
		c := exec.Command("unshare", append(namespace, os.Args[0], "-test.run=^TestTimeNamespace$")...)
		c.Env = append(os.Environ(), child+"=1")
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	program, before := exec.Command("true"), Now()
	if err := program.Run(); err != nil {
		t.Fatal(err)
	}
	after, seen := Now(), 0
	time.Sleep(2 * late)
	for _, e := range r.TakeAll() {
		if pid := int32(program.Process.Pid); e.Thread == pid || e.Other == pid {
			if seen++; e.AtNs < before-offNs || e.AtNs > after+offNs {
				t.Fatalf("%+v is not between %d and %d", e, before, after)
			}
		}
	}
	if seen == 0 {
		t.Error("no event of a program")
	}
}

// With the rights of the packaged unit, a user other than root and two capabilities, a tracefs is read that only root may
// enter, as systemd mounts it. An earlier version asked access(2), which ignores these capabilities.
func TestRightsOfTheUnit(t *testing.T) {
	if err := openAsUnit(t, 1); err != nil {
		t.Error(err)
	}
}

// Where other recorders have the locked memory of the user, the remedy is more of it or to wait, and not the rights that are
// there already: the EPERM of mmap(2) was once taken for that of perf_event_open(2).
func TestLockedMemoryIsUsedUp(t *testing.T) {
	if paranoid, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err != nil || strings.HasPrefix(string(paranoid), "-") {
		t.Skipf("locked memory is not limited: %s, %v", paranoid, err)
	}
	var usual unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &usual); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &usual) })
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Max: usual.Max}); err != nil {
		t.Fatal(err)
	}
	err := openAsUnit(t, 100)
	var why *Unavailable
	if !errors.As(err, &why) || why.Reason != LockedMemory || !why.Transient() || strings.Contains(err.Error(), "setcap") {
		t.Errorf("%v", err)
	}
}

// openAsUnit opens recorders with the rights of the packaged unit, until one fails or there are most, and closes them all.
func openAsUnit(t *testing.T, most int) error {
	t.Helper()
	mustOpen(t).Close()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	skip, opened := make(chan error, 1), make(chan error, 1)
	go func() { // its thread ends with it: it is not unlocked
		runtime.LockOSThread()
		err := asUnit()
		skip <- err
		var all []*Recorder
		for len(all) < most && err == nil {
			var r *Recorder
			if r, err = OpenDisturbances(cpus[:1]); err == nil {
				all = append(all, r)
			}
		}
		for _, r := range all {
			r.Close()
		}
		opened <- err
	}()
	if err := <-skip; err != nil {
		t.Skip(err)
	}
	return <-opened
}

// asUnit gives the calling thread a mount of tracefs, another user, and the capabilities of the packaged unit.
func asUnit() error {
	const tracing, user = "/sys/kernel/tracing", 23456
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if _, missing := os.Stat(tracing + "/events"); err == nil && missing != nil {
		err = unix.Mount("tracefs", tracing, "tracefs", 0, "") // its mode is 0700; all mounts of it share their mode, so none is set
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0)
	}
	if err != nil {
		return err
	}
	// of this thread alone, unlike unix.Setresuid
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, user, user, user); errno != 0 {
		return errno
	}
	var set [2]unix.CapUserData // of 32 capabilities each
	for _, c := range []int{unix.CAP_PERFMON, unix.CAP_DAC_READ_SEARCH} {
		set[c/32].Effective |= 1 << (c % 32)
		set[c/32].Permitted |= 1 << (c % 32)
	}
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &set[0])
}
