package program

import (
	"context"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"sync"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/tracepoint"
)

// runner runs commands, and looks at the machine before and after runs.
type runner struct {
	setting  Setting
	rewinds  bool // each run reads all of its input
	launcher *process.Launcher
	throttle *machine.Throttling
	// processes tells how much CPU time other processes use; nil if that can't be known. It is asked before and after a
	// run if the command's previous run was long enough.
	processes *process.Others
	// recorder records tracepoints; nil until it is needed.
	recorder  *wakeupRecorder
	root      fs.FS
	whole     bool // /proc/stat tells of all programs
	oneCPU    bool // the machine has one CPU, so that nothing runs on others
	cpus      int
	disks     disks      // nil until usesDisks is set
	usesDisks bool       // a run did; only then looks read what the disks do
	disksDid  diskUse    // at the last look; zero if that did not read it
	disksSeen diskUse    // since the last run
	lookedAt  time.Time  // when the machine was last looked at
	seen      neighbours // the sum of the looks since the last run
	previous  string     // the name of the command that ran last
	begun     bool       // a stretch without gaps begins with the next run of this command that a look covers
	stolenNs  float64    // the CPUs' steal at the last look
	othersNs  float64    // the CPU time of all other programs so far, at the last look; NaN if not known
	throttled bool       // a control group was, at the last look
	stopped   float64    // the time for which control groups were stopped, in nanoseconds, at the last look
	hz        float64    // the core's rate at ratedAt
	ratedAt   time.Time
	found     map[string]string // the path of each command that was looked up
	sharing   *sharingProbe
}

// lookEvery is the least time between two looks at steal, throttling and contention. A look reads files of the
// kernel, which takes long compared with a short program.
const lookEvery = 20 * time.Millisecond

// worthWatchingNs is a length in nanoseconds. If the previous run took longer, other processes are looked at before and
// after the next one, which takes 0.1 ms, and the cores are probed for sharing, which takes 0.6 ms for two CPUs, and 0.3 ms
// if only one of many is probed.
const worthWatchingNs = 1e6

// rateEvery is the time after which the core's rate is measured again.
const rateEvery = 5 * time.Millisecond

// closing counts recorders that are being closed. The kernel waits for all CPUs for each of some 35 tracepoints: together
// that took 0.4 to 2 s, for which the result would wait. Until then each system call of the machine takes a little longer,
// so that no measurement begins meanwhile.
var closing sync.RWMutex

func newRunner(setting Setting) *runner {
	closing.Lock()
	defer closing.Unlock()
	r := &runner{setting: setting, launcher: process.NewLauncher(), root: setting.Root, cpus: setting.CPUs, found: map[string]string{}, begun: true}
	if r.root == nil {
		r.root = os.DirFS("/")
	}
	r.sharing = newSharingProbe(r.root, setting.Slowed)
	if r.cpus == 0 {
		if cpus, err := machine.Affinity(); err == nil {
			r.cpus = len(cpus)
		}
	}
	r.throttle = machine.OpenThrottling(r.root)
	r.processes, _ = process.OpenOthers()
	r.whole = machine.StatIsWhole(r.root)
	r.oneCPU = r.whole && machine.HasOneCPU(r.root)
	r.look()
	r.stopped = r.throttle.StoppedNs()
	return r
}

func (r *runner) close() {
	r.launcher.Close()
	r.disks.close()
	closing.RLock()
	go func() {
		defer closing.RUnlock()
		r.recorder.close()
	}()
}

// run makes one run of a command.
func (r *runner) run(ctx context.Context, c Command, traced bool) (Run, error) {
	command := r.command(c)
	command.Untraced = !traced || c.Untraced
	if traced && !r.setting.NoWakeups {
		command.CallsEvent, _ = tracepoint.CallsEvent()
	}
	before := r.coreHz()
	if time.Since(r.lookedAt) > lookEvery { // what happened between the runs is not part of them
		r.look()
	}
	watched := c.lastNs > worthWatchingNs
	var slowed map[int]float64
	if watched {
		slowed = r.sharing.now(c.CPUs)
		r.processes.Look(0, nil)
	}
	run := Run{Started: time.Now(), StealNs: math.NaN(), ThrottledNs: math.NaN(), CoreHz: before, slowedBefore: math.NaN(), slowedAfter: math.NaN(), slowedThere: math.NaN()}
	recorded := c.noteWakeups && !r.setting.NoWakeups
	if recorded {
		r.recorder = r.recorder.with(c.noteTimedCalls)
		r.recorder.begin(&command)
	}
	var err error
	blocksBefore := childrenBlocks()
	run.Run, err = r.launcher.Run(ctx, command)
	run.eachCallNs = r.recorder.eachCallNs()
	if recorded {
		if told := r.recorder.take(); run.ExecNs > 0 {
			run.wakeups = wakeupEvents{told, run.ExecNs, int32(os.Getpid()), r.recorder.kernel, r.recorder.eachNs}
		}
	}
	if watched && run.Unwatched == nil && run.LostEvents == 0 {
		run.Others = r.processes.Look(started(run.Events), r.onlyCPU(c))
		if r.oneCPU {
			run.Others.ElsewhereNs = 0 // they may be allowed to use CPUs that are not there
		}
	}
	if watched {
		run.slowedBefore, run.slowedAfter = slowedWhere(slowed, run.Events), slowedWhere(r.sharing.now(c.CPUs), run.Events)
		run.slowedThere = r.sharing.after(c.CPUs, run.Events)
	}
	if childrenBlocks() > blocksBefore {
		r.usesDisks, run.usesDisks = true, watched
	}
	if time.Since(run.Started) > lookEvery && before > 0 {
		run.CoreHz = (before + r.coreHz()) / 2
	}
	if run.WaitOf == process.NoThread {
		run.RunqueueWaitNs = math.NaN()
	} else {
		run.RunqueueWaitNs = float64(run.WaitNs())
	}
	if now := time.Now(); now.Sub(r.lookedAt) > lookEvery {
		run.StealNs, run.ThrottledNs = r.look()
		run.throttled = r.throttled
	}
	run.around, r.seen = r.seen, neighbours{}
	if r.begun = r.begun || c.Name != r.previous; r.begun && run.around.passedNs > 0 {
		run.around.stretches, r.begun = 1, false
	}
	r.previous = c.Name
	run.disks, r.disksSeen = r.disksSeen, diskUse{}
	if run.throttled {
		run.Why = append(run.Why, "a control group that holds this process was throttled")
	}
	run.pause = r.sharing.pauseAfter(ctx, c.Name, &run)
	return run, err
}

// together runs two commands at the same time, untraced.
func (r *runner) together(ctx context.Context, both [2]Command) (runs [2]Run, errs [2]error) {
	var programs [2]process.Command
	for i, c := range both {
		programs[i] = r.command(c)
		programs[i].Untraced = true
	}
	shown, errs := process.Together(ctx, programs)
	for i := range shown {
		runs[i].Run = shown[i]
	}
	r.look() // what the two kept from each other is not part of the next run
	return runs, errs
}

// command returns what is run of a command, with the niceness of the setting.
func (r *runner) command(c Command) process.Command {
	command := c.Command
	command.Events = true
	if command.Stdin != nil && r.rewinds {
		command.Stdin.Seek(0, io.SeekStart) // a pipe, which can be read one time only, refuses this
	}
	if command.Nice == 0 && r.setting.Nice != 0 {
		command.Nice, command.OwnSession = r.setting.Nice, true
	}
	if path, err := r.find(command.Path); err == nil {
		command.Path = path
	}
	return command
}

// onlyCPU returns the CPU to which a command is bound; nil if it may use several.
func (r *runner) onlyCPU(c Command) []int {
	cpus := c.CPUs
	if len(cpus) == 0 {
		cpus, _ = machine.Affinity()
	}
	if len(cpus) != 1 {
		return nil
	}
	return cpus
}

// started returns the number of threads and processes that the program started, including its first one.
func started(events []process.Event) (n int) {
	for _, e := range events {
		if e.Kind == process.Forked {
			n++
		}
	}
	return n
}

// coreHz returns the core's rate, measured at most rateEvery ago; NaN if it can't be measured.
func (r *runner) coreHz() float64 {
	if r.setting.CoreHz == nil {
		return math.NaN()
	}
	if time.Since(r.ratedAt) > rateEvery {
		r.hz, r.ratedAt = r.setting.CoreHz(), time.Now()
	}
	return r.hz
}

// find returns the path of a command. It looks each name up only once.
func (r *runner) find(name string) (string, error) {
	if path, ok := r.found[name]; ok {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err == nil {
		r.found[name] = path
	}
	return path, err
}

// look returns steal and throttled time since the last look.
func (r *runner) look() (stolenNs, throttledNs float64) {
	before := r.lookedAt
	r.lookedAt = time.Now()
	stolen, othersRan := math.NaN(), math.NaN()
	if all, err := machine.ReadCPUTimes(r.root, machine.AllCPUs); err == nil {
		stolen, othersRan = all.StolenNs, all.RanNs()-machine.OwnCPUNs()
	}
	stolenNs, r.stolenNs = stolen-r.stolenNs, stolen
	others := othersRan - r.othersNs
	if r.othersNs = othersRan; !r.whole {
		others = math.NaN()
	}
	if machine.ProcError() != nil {
		throttledNs = math.NaN()
	}
	if r.throttled = r.throttle.Throttled(); r.throttled {
		stopped := r.throttle.StoppedNs()
		throttledNs, r.stopped = stopped-r.stopped, stopped
	}
	if r.usesDisks {
		if r.disks == nil {
			r.disks = openDisks(r.root)
		}
		disks := r.disks.look()
		disks.ownRead, disks.ownWritten = ownBlocks()
		if r.disksDid.disks != nil {
			did := disks.since(r.disksDid)
			did.passedNs = float64(r.lookedAt.Sub(before))
			r.disksSeen = r.disksSeen.plus(did)
		}
		r.disksDid = disks
	}
	if !before.IsZero() {
		elsewhere := others
		if r.oneCPU {
			elsewhere = 0
		}
		r.seen = r.seen.plus(neighbours{float64(r.lookedAt.Sub(before)), others, elsewhere, 0})
	}
	return stolenNs, throttledNs
}

// beside runs a command that is not timed, and returns how long it waited for a CPU.
func beside(ctx context.Context, c process.Command) (waitNs int64, err error) {
	c.Untraced = true
	run, err := c.Run(ctx)
	if err != nil {
		return 0, err
	}
	return run.WaitNs(), run.Failure()
}
