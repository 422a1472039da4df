package offcpu

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/internal/load"
	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// TestMain also runs the programs that wait and those that make them wait: the test binary itself
// plays these parts.
func TestMain(m *testing.M) {
	load.Serve()
	if part, ok := parts[os.Getenv("OFFCPU_PART")]; ok {
		runtime.LockOSThread() // the parts run on the first thread
		part()
		return
	}
	os.Exit(m.Run())
}

var parts = map[string]func(){
	"compute": func() {
		for {
			spin(time.Second)
		}
	},
	"wakes": func() { // some thousand sleeps a second
		for {
			time.Sleep(300 * time.Microsecond)
			spin(100 * time.Microsecond)
		}
	},
	"sleeps": func() {
		for {
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&unix.Timespec{Nsec: 10e6})), 0, 0) // without telling the Go runtime
		}
	},
	"reads": func() {
		b := make([]byte, 1)
		for {
			if n, err := unix.Read(0, b); n != 1 || err != nil {
				return
			}
		}
	},
	"fights": fight,
	"stores": store,
}

func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// fight runs two threads that take turns at a lock, which each holds for 10 ms.
func fight() {
	runtime.GOMAXPROCS(4)
	var lock sync.Mutex
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			runtime.LockOSThread()
			for {
				lock.Lock()
				spin(10 * time.Millisecond)
				lock.Unlock()
			}
		})
	}
	all.Wait()
}

// store writes to a disk, bypassing the page cache.
func store() {
	name := os.Getenv("OFFCPU_FILE")
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_DIRECT, 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Remove(name)
	memory, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		fmt.Println(err)
		return
	}
	for at := int64(0); ; at = (at + 1<<20) % (64 << 20) {
		if _, err := unix.Pwrite(fd, memory, at); err != nil {
			fmt.Println(err)
			return
		}
	}
}

// play starts a part on a CPU, or on all CPUs if cpu is negative.
func play(t *testing.T, part string, cpu int, change func(*exec.Cmd)) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "OFFCPU_PART="+part, "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	if change != nil {
		change(c)
	}
	if cpu >= 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before, err := machine.Affinity()
		if err != nil {
			t.Fatal(err)
		}
		if err := machine.SetAffinity([]int{cpu}); err != nil {
			t.Skip(err)
		}
		defer machine.SetAffinity(before)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c
}

// follow records the first thread of a process for a while, or skips the test if the kernel
// refuses. It calls while during the recording.
func follow(t *testing.T, pid int, d time.Duration, while func()) Result {
	t.Helper()
	return followAll(t, Target{Processes: map[int32]bool{int32(pid): true}, Thread: int32(pid)}, d, while)
}

// followAll records a target.
func followAll(t *testing.T, target Target, d time.Duration, while func()) Result {
	t.Helper()
	done := make(chan struct{})
	began := false
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := Record(ctx, Options{Target: target, Duration: d, Root: os.DirFS("/")}, func() error {
		began = true
		go func() {
			defer close(done)
			if while != nil {
				while()
				stop()
			}
		}()
		return nil
	})
	var why *tracepoint.Unavailable
	if errors.As(err, &why) && (os.Geteuid() != 0 || why.Reason == tracepoint.Refused || why.Reason == tracepoint.NoTracefs) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if began {
		<-done
	}
	return r.Result
}

// total returns the time of a cause, for those that of selects.
func (r Result) total(cause Cause, of func(Who) bool) (ns int64) {
	for _, p := range r.Parts {
		if p.Cause == cause && (of == nil || of(p.Who)) {
			ns += p.TotalNs
		}
	}
	return ns
}

// used returns the CPU time of a process.
func used(t *testing.T, pid int) (ns int64) {
	t.Helper()
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, thread.Name()))
		fields := bytes.Fields(text)
		if err != nil || len(fields) != 3 {
			continue
		}
		n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
		ns += n
	}
	return ns
}

// named checks what holds on any machine: a cause gets at most the time that it really took, and
// the rest is unknown and not attributed to another cause. It returns whether the cause got at
// least 95 % of its time. slack is the largest error of the true time.
func named(t *testing.T, r Result, got, want, slack int64) bool {
	t.Helper()
	unknown := r.total(Unknown, nil)
	if float64(got) > 1.05*float64(want)+float64(slack) || float64(got+unknown) < 0.95*float64(want)-float64(slack) {
		t.Errorf("%v is put down to it and %v to nobody known; it took %v\n%+v", time.Duration(got), time.Duration(unknown), time.Duration(want), r.Parts)
	}
	t.Logf("%v of %v named, %v unknown, %d events lost", time.Duration(got), time.Duration(want), time.Duration(unknown), r.Lost)
	return float64(got) >= 0.95*float64(want)-float64(slack)
}

// mostTries is the number of tries in which a cause has to be named at least once.
const mostTries = 20

// once checks that at least one try names its cause, and that none names another. On some virtual machines
// the kernel leaves out what happens while a CPU is idle, for seconds, and the time that this would explain is
// unknown. So after the first try no CPU is idle any more.
func once(t *testing.T, try func() bool) {
	t.Helper()
	for n := range mostTries {
		if try() || t.Failed() {
			return
		}
		if n == 0 {
			keepBusy(t)
		}
	}
	t.Errorf("in none of %d tries was it named", mostTries)
}

// keepBusy starts a program on each CPU that computes whenever nobody else would.
func keepBusy(t *testing.T) {
	t.Helper()
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	filling, err := load.Fill(t.Context(), cpus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(filling.Stop)
}

// slackNs is how late an account of CPU time may be: some ticks.
const slackNs = 12e6

// waits returns how long a thread waited until something woke it: all time except when it ran,
// waited for a CPU, or waited at the end of the recording.
func waits(r Result) int64 {
	rest := r.ThreadNs
	for _, c := range []Cause{Ran, RunqueueWait, WakeupLatency, NotWoken, Hypervisor} {
		rest -= r.total(c, nil)
	}
	return rest
}

// tries is the number of tries of each test, which the environment can increase.
func tries() int {
	n, err := strconv.Atoi(os.Getenv("OFFCPU_TRIES"))
	return max(1, n, map[bool]int{true: 1}[err != nil])
}

// lastCPU returns the last CPU that this process may use.
func lastCPU(t *testing.T) int {
	t.Helper()
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	return cpus[len(cpus)-1]
}

// A competitor on the CPU of a thread that always wants it takes as much time from the thread as
// the competitor's own account of CPU time says.
func TestCompetitors(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for range tries() {
		for _, part := range []string{"compute", "wakes"} {
			t.Run(part, func(t *testing.T) {
				cpu := lastCPU(t)
				victim := play(t, "compute", cpu, nil)
				rival := play(t, part, cpu, nil)
				time.Sleep(50 * time.Millisecond)
				pid := rival.Process.Pid
				once(t, func() bool {
					var before, after int64
					var window time.Duration
					r := follow(t, victim.Process.Pid, time.Minute, func() {
						start := time.Now()
						before = used(t, pid)
						time.Sleep(900 * time.Millisecond)
						after, window = used(t, pid), time.Since(start)
					})
					took := int64(float64(after-before) * float64(r.RecordedNs) / float64(window))
					return named(t, r, r.total(RunqueueWait, func(w Who) bool { return w.Process == int32(pid) }), took, slackNs)
				})
			})
		}
	}
}

// What a program asks for, and what others do to it, takes a known time.
func TestKnownWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const d = 600 * time.Millisecond
	for range tries() {
		t.Run("timer", func(t *testing.T) {
			victim := play(t, "sleeps", -1, nil)
			once(t, func() bool {
				r := follow(t, victim.Process.Pid, d, nil)
				return named(t, r, r.total(Timer, nil), waits(r), slackNs)
			})
		})
		t.Run("stopped", func(t *testing.T) {
			victim := play(t, "compute", -1, nil)
			time.Sleep(20 * time.Millisecond)
			once(t, func() bool {
				var stopped time.Duration
				r := follow(t, victim.Process.Pid, time.Minute, func() {
					for range 3 {
						start := time.Now()
						victim.Process.Signal(unix.SIGSTOP)
						time.Sleep(100 * time.Millisecond)
						victim.Process.Signal(unix.SIGCONT)
						stopped += time.Since(start)
						time.Sleep(20 * time.Millisecond)
					}
				})
				// The process stops only when it gets a CPU, so that the true time may be off by
				// its wait for one.
				return named(t, r, r.total(Stopped, nil), int64(stopped), r.total(RunqueueWait, nil)+slackNs)
			})
		})
		t.Run("pipe", func(t *testing.T) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer write.Close()
			victim := play(t, "reads", -1, func(c *exec.Cmd) { c.Stdin = read })
			read.Close()
			time.Sleep(50 * time.Millisecond)
			once(t, func() bool {
				r := follow(t, victim.Process.Pid, time.Minute, func() {
					for range 25 {
						write.Write([]byte{1})
						time.Sleep(20 * time.Millisecond)
					}
				})
				return named(t, r, r.total(OtherProcess, func(w Who) bool { return int(w.Process) == os.Getpid() }), waits(r), slackNs)
			})
		})
		t.Run("lock", func(t *testing.T) {
			victim := play(t, "fights", -1, func(c *exec.Cmd) { c.Env = append(c.Env, "GOMAXPROCS=4") })
			time.Sleep(50 * time.Millisecond)
			once(t, func() bool {
				r := followAll(t, Target{Processes: map[int32]bool{int32(victim.Process.Pid): true}}, d, nil)
				own := r.total(OwnThread, nil)
				other := r.total(OtherProcess, nil) + r.total(Device, nil) + r.total(Network, nil) + r.total(KernelThread, nil) + r.total(Interrupt, nil)
				if other*20 > own+slackNs {
					t.Errorf("%v by own threads, %v by others: %+v", time.Duration(own), time.Duration(other), r.Parts)
				}
				return own >= int64(d)/2 && r.total(Unknown, nil)*20 <= own
			})
		})
		t.Run("disk", func(t *testing.T) {
			folder, err := os.MkdirTemp("/var/tmp", "offcpu") // /tmp may be in memory
			if err != nil {
				t.Skip(err)
			}
			defer os.RemoveAll(folder)
			var said bytes.Buffer
			victim := play(t, "stores", -1, func(c *exec.Cmd) {
				c.Env, c.Stdout = append(c.Env, "OFFCPU_FILE="+filepath.Join(folder, "file")), &said
			})
			time.Sleep(50 * time.Millisecond)
			r := follow(t, victim.Process.Pid, d, nil)
			pid := int32(victim.Process.Pid)
			device := r.total(Device, nil)
			if device == 0 {
				t.Skipf("nothing waited for a disk here: %s %+v", &said, r.Parts)
			}
			var others int64
			for _, p := range r.Periods {
				if p.Thread == pid && (p.Cause == OtherProcess || p.Cause == KernelThread || p.Cause == Interrupt || p.Cause == Network) {
					others += p.DurationNs
				}
			}
			if others*20 > device {
				t.Errorf("%v for the disk, %v for others, %d lost: %+v", time.Duration(device), time.Duration(others), r.Lost, r.Parts)
			}
		})
	}
}

// A control group's quota stops its members, and the kernel counts for how long.
func TestQuota(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	group := quotaGroup(t)
	for range tries() {
		victim := play(t, "compute", lastCPU(t), nil)
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(victim.Process.Pid)), 0); err != nil {
			t.Skip(err)
		}
		time.Sleep(150 * time.Millisecond)
		stoppedNs := func() (ns int64) {
			root := os.DirFS("/")
			for _, name := range machine.CPUStatsOf(root, strconv.Itoa(victim.Process.Pid)) {
				if stopped := machine.StoppedNsIn(root, name); !math.IsNaN(stopped) {
					ns += int64(stopped)
				}
			}
			return ns
		}
		once(t, func() bool {
			var before, after int64
			r := follow(t, victim.Process.Pid, time.Minute, func() {
				before = stoppedNs()
				time.Sleep(950 * time.Millisecond)
				after = stoppedNs()
			})
			const oneNs = 80e6 // the group may be stopped at the start and at the end of the recording
			return named(t, r, r.total(Throttled, nil), after-before, 2*oneNs)
		})
		victim.Process.Kill()
		victim.Wait()
	}
}

// quotaGroup returns a control group, of version 2 or 1, that may use a fifth of a CPU.
func quotaGroup(t *testing.T) string {
	t.Helper()
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		t.Skip(err)
	}
	defer mounts.Close()
	why := "no hierarchy of control groups limits CPU time here"
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || f[2] != "cgroup2" && !(f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,")) {
			continue
		}
		group := filepath.Join(f[1], fmt.Sprint("offcpu-test-", os.Getpid()))
		if err := os.Mkdir(group, 0o755); err != nil {
			why = err.Error()
			continue
		}
		t.Cleanup(func() {
			for range 20 {
				if os.Remove(group) == nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		if f[2] == "cgroup2" {
			os.WriteFile(filepath.Join(f[1], "cgroup.subtree_control"), []byte("+cpu"), 0)
			err = os.WriteFile(filepath.Join(group, "cpu.max"), []byte("20000 100000"), 0)
		} else {
			err = os.WriteFile(filepath.Join(group, "cpu.cfs_quota_us"), []byte("20000"), 0)
		}
		if err == nil {
			return group
		}
		why = err.Error()
	}
	t.Skip(why)
	return ""
}

// For a program that only sleeps, no other cause is reported.
func TestIdle(t *testing.T) {
	c := exec.Command("sleep", "10")
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	for range 500 { // until the program is loaded, perhaps from a disk
		in, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", c.Process.Pid))
		if strings.Contains(string(in), "nanosleep") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	r := follow(t, c.Process.Pid, 300*time.Millisecond, nil)
	if len(r.Parts) != 1 || r.Parts[0].Cause != NotWoken || r.Parts[0].TotalNs != r.RecordedNs || len(r.Worst) != 0 {
		t.Errorf("%+v", r)
	}
}

// If the recording ends early, all resources are released.
func TestRecordEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	follow(t, os.Getpid(), 30*time.Millisecond, nil)
	_, err := Record(ctx, Options{Target: Target{Processes: map[int32]bool{1: true}}, Duration: time.Hour, Root: os.DirFS("/")}, func() error { return nil })
	if err != nil || time.Since(start) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	wrong := errors.New("wrong")
	if _, err := Record(t.Context(), Options{Duration: time.Hour, Root: os.DirFS("/")}, func() error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
}
