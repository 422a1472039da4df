package offcpu

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// world is a simulated machine. It schedules threads at random, records the events that a kernel
// records, and keeps an account of how the target's threads really spent their time.
type world struct {
	*rand.Rand
	now     int64
	cpus    []*simCPU
	threads []*simThread
	events  []tracepoint.Event
	truth   map[key]int64
	lives   int64
	still   bool // no thread is moved to another CPU
	whole   map[Cause]int64
	idleNs  int64 // for how long all own threads have been blocked
}

type simCPU struct {
	current *simThread // nil if the CPU is idle
	seen    bool       // an event has said which thread has the CPU
}

type simThread struct {
	id, process int32
	name, group string
	ours        bool
	doing       string // "run", "wait", "block", "gone"
	cpu         int
	blockedNs   int64
	ranNs       int64
	stopped     bool
	unseen      map[int]int64 // time waited on each CPU whose thread was not known
}

const simStart = 1_000_000

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), now: simStart, truth: map[key]int64{}, whole: map[Cause]int64{}}
	for range 1 + w.IntN(4) {
		w.cpus = append(w.cpus, &simCPU{})
	}
	add := func(id, process int32, name string, ours bool) {
		w.threads = append(w.threads, &simThread{id: id, process: process, name: name, group: fmt.Sprint("/", process), ours: ours, doing: "block", cpu: w.IntN(len(w.cpus)), unseen: map[int]int64{}})
	}
	for i := range 1 + w.Int32N(4) {
		add(100+i, 100, fmt.Sprint("own", i), true)
	}
	for i := range w.Int32N(5) {
		add(200+10*i, 200+10*i, fmt.Sprint("other", i), false)
	}
	for _, t := range w.threads {
		c := w.cpus[t.cpu]
		switch w.IntN(3) {
		case 0:
			if t.doing = "wait"; c.current == nil {
				c.current, t.doing = t, "run"
			}
		}
	}
	return w
}

func (w *world) tasks() (tasks []tracepoint.Task) {
	for _, t := range w.threads {
		task := tracepoint.Task{CPU: int32(t.cpu), Process: t.process, Thread: t.id, Name: t.name, CGroup: t.group}
		if t.doing == "block" {
			task.State = tracepoint.Sleeping
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// who returns the name of a thread in the result.
func (w *world) who(t *simThread) Who {
	if t == nil {
		return Who{}
	}
	who := Who{Process: t.process, Name: t.name, CGroup: t.group}
	if t.ours {
		who.Thread = t.id
	}
	return who
}

// pass lets time pass, and accounts for it.
func (w *world) pass(ns int64) {
	w.now += ns
	w.passWhole(ns)
	for _, t := range w.threads {
		if !t.ours || t.doing == "gone" {
			continue
		}
		w.lives += ns
		switch c := w.cpus[t.cpu]; {
		case t.doing == "run":
			t.ranNs += ns
		case t.doing == "block":
			t.blockedNs += ns
		case !c.seen:
			t.unseen[t.cpu] += ns
		case c.current == nil:
			w.truth[key{WakeupLatency, Who{}}] += ns
		default:
			w.truth[key{RunqueueWait, w.who(c.current)}] += ns
		}
	}
}

// passWhole accounts for what the own threads do as a whole. When all of them wait, the cause is
// known only when one is woken.
func (w *world) passWhole(ns int64) {
	doing := map[string]bool{}
	for _, t := range w.threads {
		if t.ours {
			doing[t.doing] = true
		}
	}
	switch {
	case doing["run"]:
		w.whole[Ran] += ns
	case doing["wait"]:
		w.whole[RunqueueWait] += ns
	case doing["block"]:
		w.idleNs += ns
	}
}

// note records an event on a CPU. From then on it is known which thread has the CPU, and which had
// it before.
func (w *world) note(number int, kind tracepoint.Kind, e tracepoint.Event) {
	c := w.cpus[number]
	e.AtNs, e.Kind, e.CPU = w.now, kind, int32(number)
	if c.current != nil {
		e.Thread, e.Process = c.current.id, c.current.process
	}
	w.events = append(w.events, e)
	c.seen = true
	for _, t := range w.threads {
		if ns := t.unseen[number]; ns > 0 && t.doing == "wait" && t.cpu == number {
			w.settle(t, number, c.current)
		}
	}
}

// settle accounts for the time that a thread has waited on a CPU whose thread was not known.
func (w *world) settle(t *simThread, number int, had *simThread) {
	k := key{RunqueueWait, w.who(had)}
	if had == nil {
		k.cause = WakeupLatency
	}
	w.truth[k] += t.unseen[number]
	delete(t.unseen, number)
}

func (w *world) those(number int, doing string) (all []*simThread) {
	for _, t := range w.threads {
		if t.doing == doing && (number < 0 || t.cpu == number) {
			all = append(all, t)
		}
	}
	return all
}

func (w *world) any(all []*simThread) *simThread {
	if len(all) == 0 {
		return nil
	}
	return all[w.IntN(len(all))]
}

// step lets something happen on a CPU.
func (w *world) step() {
	w.pass(1 + w.Int64N(50_000))
	number := w.IntN(len(w.cpus))
	c := w.cpus[number]
	switch w.IntN(7) {
	case 0, 1, 2:
		w.change(number, w.any(w.those(number, "wait")))
	case 3, 4:
		w.wake(number, w.any(w.those(-1, "block")))
	case 5:
		if t := w.any(w.those(-1, "wait")); t != nil && !w.still && w.cpus[t.cpu].seen {
			to := w.IntN(len(w.cpus))
			w.note(number, tracepoint.Migrated, tracepoint.Event{Other: t.id, Value: int32(to)})
			t.cpu = to
		}
	case 6:
		if c.current == nil || len(w.threads) > 30 {
			return
		}
		child := &simThread{id: int32(1000 + len(w.threads)), ours: c.current.ours, name: c.current.name, group: c.current.group, doing: "wait", cpu: w.IntN(len(w.cpus)), process: c.current.process, unseen: map[int]int64{}}
		if !child.ours {
			child.process = child.id
		}
		w.note(number, tracepoint.Forked, tracepoint.Event{Other: child.id, Value: child.process})
		w.threads = append(w.threads, child)
		w.note(number, tracepoint.Started, tracepoint.Event{Other: child.id, Value: int32(child.cpu)})
	}
}

// change gives a CPU to another thread; nil makes it idle.
func (w *world) change(number int, next *simThread) {
	c := w.cpus[number]
	prev := c.current
	if prev == next {
		return
	}
	e := tracepoint.Event{Value: int32(tracepoint.Runnable)}
	doing, stopped := "wait", false
	if prev != nil {
		switch w.IntN(8) {
		case 0, 1, 2:
			doing, e.Value = "block", int32(tracepoint.Sleeping)
		case 3:
			doing, e.Value, stopped = "block", int32(tracepoint.Stopped), true
		case 4:
			doing, e.Value = "gone", int32(tracepoint.Ended)
		}
	}
	if next != nil {
		e.Other, e.Name = next.id, next.name
	}
	w.note(number, tracepoint.Switched, e)
	if prev != nil {
		prev.doing, prev.blockedNs, prev.stopped = doing, 0, stopped
	}
	if next != nil {
		next.doing = "run"
	}
	c.current = next
}

// wake wakes a thread, either by the thread on a CPU or by an interrupt there.
func (w *world) wake(number int, t *simThread) {
	if t == nil {
		return
	}
	c := w.cpus[number]
	k := key{cause: Interrupt}
	woken := tracepoint.Event{Other: t.id, Value: int32(t.cpu)}
	disk := Who{Name: "disk0", Interrupt: 33}
	switch how := w.IntN(6); {
	case how == 0:
		w.note(number, tracepoint.TimerExpired, tracepoint.Event{Context: tracepoint.InInterrupt})
		k.cause, woken.Context = Timer, tracepoint.InInterrupt
		w.note(number, tracepoint.Waking, woken)
	case how == 1:
		w.note(number, tracepoint.Interrupt, tracepoint.Event{Value: 33, Name: "disk0", Context: tracepoint.InInterrupt})
		k, woken.Context = key{Device, disk}, tracepoint.InInterrupt
		w.pass(500)
		w.note(number, tracepoint.Waking, woken)
		w.note(number, tracepoint.InterruptEnd, tracepoint.Event{Value: 33, Context: tracepoint.InInterrupt})
	case how == 2:
		w.note(number, tracepoint.Raised, tracepoint.Event{Value: tracepoint.NetworkVector})
		w.note(number, tracepoint.Softirq, tracepoint.Event{Value: tracepoint.NetworkVector, Context: tracepoint.InSoftirq})
		k, woken.Context = key{Network, Who{}}, tracepoint.InSoftirq
		if c.current != nil {
			k = key{w.relation(c.current, t), w.who(c.current)}
		}
		w.note(number, tracepoint.Waking, woken)
		w.note(number, tracepoint.SoftirqEnd, tracepoint.Event{Value: tracepoint.NetworkVector, Context: tracepoint.InSoftirq})
	case c.current == nil:
		woken.Context = tracepoint.InInterrupt
		w.pass(2_000_000) // so that no timer is near
		w.note(number, tracepoint.Waking, woken)
	default:
		k = key{w.relation(c.current, t), w.who(c.current)}
		w.note(number, tracepoint.Waking, woken)
	}
	if t.stopped {
		k.cause = Stopped
	}
	if t.ours {
		w.truth[k] += t.blockedNs
		w.whole[k.cause] += w.idleNs
		w.idleNs = 0
	}
	t.doing, t.blockedNs, t.stopped = "wait", 0, false
}

// ranNs returns for how long the own threads have run so far.
func (w *world) ranNs() (ns int64) {
	for _, t := range w.threads {
		if t.ours {
			ns += t.ranNs
		}
	}
	return ns
}

func (w *world) relation(by, of *simThread) Cause {
	if by.process == of.process {
		return OwnThread
	}
	return OtherProcess
}

// end accounts for unfinished times when the recording ends.
func (w *world) end() {
	for _, t := range w.threads {
		if !t.ours {
			continue
		}
		ran := key{Ran, Who{}}
		if t.doing == "run" && !w.cpus[t.cpu].seen {
			ran.cause = Unknown
		}
		w.truth[ran] += t.ranNs
		if t.doing == "block" {
			k := key{NotWoken, Who{}}
			if t.stopped {
				k.cause = Stopped
			}
			w.truth[k] += t.blockedNs
		}
		for _, ns := range t.unseen {
			w.truth[key{Unknown, Who{}}] += ns
		}
	}
}

// seeds is the number of simulated machines, which the environment can increase.
func seeds() uint64 {
	n, err := strconv.ParseUint(os.Getenv("OFFCPU_SEEDS"), 10, 64)
	if err != nil {
		return 100
	}
	return n
}

// Whatever a machine does, each nanosecond of the threads is attributed to its true cause.
func TestSimulated(t *testing.T) {
	for seed := range seeds() {
		w := newWorld(seed)
		tasks := w.tasks()
		for range 300 {
			w.step()
		}
		w.end()
		a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
		a.Add(w.events)
		r := a.Result(w.now, nil)
		if r.Missed != 0 {
			t.Fatalf("machine %d: %d switches are said to be missing", seed, r.Missed)
		}
		got := map[key]int64{}
		var sum int64
		for _, p := range r.Parts {
			got[key{p.Cause, p.Who}] = p.TotalNs
			sum += p.TotalNs
		}
		maps.DeleteFunc(w.truth, func(_ key, ns int64) bool { return ns == 0 })
		if !maps.Equal(got, w.truth) || sum != w.lives || r.ThreadNs != w.lives {
			t.Fatalf("machine %d: %d ns of %d (said to be %d)\ngot  %v\nwant %v", seed, sum, w.lives, r.ThreadNs, got, w.truth)
		}
	}
}

// If events are lost, no time is attributed to a wrong cause or name: it is unknown, and the
// verdict says so.
func TestSimulatedLosses(t *testing.T) {
	for seed := range seeds() {
		w := newWorld(seed)
		tasks := w.tasks()
		w.run()
		from := w.IntN(len(w.events))
		n := 1 + w.IntN(min(20, len(w.events)-from))
		lost, lastNs := map[int32]int32{}, map[int32]int64{}
		kept := slices.Clone(w.events[:from])
		for _, e := range kept {
			lastNs[e.CPU] = e.AtNs
		}
		for i, e := range w.events[from:] {
			if i < n {
				if lost[e.CPU]++; lost[e.CPU] == 1 {
					kept = append(kept, tracepoint.Event{AtNs: lastNs[e.CPU], CPU: e.CPU, Kind: tracepoint.Losing})
				}
				continue
			}
			if lost[e.CPU] > 0 {
				kept = append(kept, tracepoint.Event{AtNs: e.AtNs, CPU: e.CPU, Kind: tracepoint.Lost, Value: lost[e.CPU]})
				lost[e.CPU] = 0
			}
			kept = append(kept, e)
		}
		slices.SortStableFunc(kept, func(a, b tracepoint.Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
		r := analyse(tasks, kept, w.now)
		if r.Lost > 0 && r.Verdict == stats.Trusted {
			t.Fatalf("machine %d: trusted in spite of %d lost events", seed, r.Lost)
		}
		if r.Lost > 0 {
			w.holds(t, seed, r)
		}
	}
}

// run lets the machine run, and each CPU have an event when the recording begins and before it ends.
func (w *world) run() {
	w.tick()
	for range 300 {
		w.step()
	}
	w.tick()
	w.end()
}

// tick lets each CPU have an event, which tells what thread has it.
func (w *world) tick() {
	for number := range w.cpus {
		w.note(number, tracepoint.TimerExpired, tracepoint.Event{Context: tracepoint.InInterrupt})
	}
}

// without returns the events without those that are left out, once each CPU has had one.
func (w *world) without(leftOut func(tracepoint.Event) bool) []tracepoint.Event {
	seen := min(100, len(w.events))
	return append(w.events[:seen:seen], slices.DeleteFunc(slices.Clone(w.events[seen:]), leftOut)...)
}

// Some kernels leave out switches of certain threads, and don't count them as lost. No time is
// attributed to a wrong thread, and the omissions are counted.
func TestSimulatedSilence(t *testing.T) {
	missed := int64(0)
	for seed := range seeds() {
		w := newWorld(seed)
		w.still = true
		tasks := w.tasks()
		w.run()
		silent := w.events[w.IntN(len(w.events))].Thread
		r := analyse(tasks, w.without(func(e tracepoint.Event) bool {
			return e.Thread == silent && silent != 0 && e.Kind == tracepoint.Switched
		}), w.now)
		w.holds(t, seed, r)
		missed += r.Missed
	}
	if missed == 0 {
		t.Error("no switch is said to be missing")
	}
}

// What the threads do as a whole is one of three: one of them runs, or none has a CPU although one
// is runnable, or all wait for whatever wakes the first of them. If only the last turns are kept,
// earlier times are dropped.
func TestSimulatedWhole(t *testing.T) {
	for seed := range seeds() {
		w := newWorld(seed)
		tasks := w.tasks()
		w.tick()
		a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
		for _, steps := range []int{100, 200} {
			for range steps {
				w.step()
			}
			a.Add(w.events)
			w.events = nil
			a.Settle()
		}
		r := a.Result(w.now, nil)
		w.whole[NotWoken] += w.idleNs
		got, sum := map[Cause]int64{}, int64(0)
		for _, p := range r.Wall {
			if p.Cause == WakeupLatency {
				p.Cause = RunqueueWait
			}
			got[p.Cause] += p.TotalNs
			sum += p.TotalNs
		}
		maps.DeleteFunc(w.whole, func(_ Cause, ns int64) bool { return ns == 0 })
		if !maps.Equal(got, w.whole) || sum != r.WallNs {
			t.Fatalf("machine %d: %d of %d ns\ngot  %v\nwant %v", seed, sum, r.WallNs, got, w.whole)
		}
	}
}

// A recording that waits for something to happen keeps the last turns. Its result is the same as
// that of a recording that began with these turns.
func TestTurns(t *testing.T) {
	for seed := range seeds() {
		w := newWorld(seed)
		tasks := w.tasks()
		w.tick()
		a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
		var began, ran []int64
		for range 4 {
			for range 100 {
				w.step()
			}
			w.note(0, tracepoint.TimerExpired, tracepoint.Event{Context: tracepoint.InInterrupt})
			a.Add(w.events)
			w.events = nil
			a.Turn()
			began, ran = append(began, a.lastNs), append(ran, w.ranNs())
		}
		w.step()
		a.Add(w.events)
		r := a.Result(w.now, nil)
		var total int64
		for _, p := range r.Parts {
			total += p.TotalNs
		}
		if want := w.now - began[2]; r.RecordedNs != want || total != r.ThreadNs || r.WallNs > want {
			t.Fatalf("machine %d: %d ns were kept, want %d; %d of %d ns of threads", seed, r.RecordedNs, want, total, r.ThreadNs)
		}
		want := w.ranNs() - ran[2]
		for _, p := range r.Parts {
			if p.Cause == Ran && p.TotalNs != want {
				t.Fatalf("machine %d: %+v, want %d ns", seed, p, want)
			}
		}
	}
}

// A process of the target that waits for another process of the target does not wait for a
// stranger.
func TestOwnProcess(t *testing.T) {
	tasks := []tracepoint.Task{
		{Process: 1, Thread: 1, Name: "sh", State: tracepoint.Sleeping}, {Process: 2, Parent: 1, Thread: 2, Name: "gzip"}, {Process: 3, Thread: 3, Name: "other", State: tracepoint.Sleeping},
	}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}})
	a.Add([]tracepoint.Event{
		{AtNs: 100, Kind: tracepoint.Waking, Process: 2, Thread: 2, Other: 1},
		{AtNs: 100, Kind: tracepoint.Switched, Process: 2, Thread: 2, Other: 1, Value: int32(tracepoint.Sleeping)},
		{AtNs: 300, Kind: tracepoint.Switched, Process: 1, Thread: 1, Other: 3, Value: int32(tracepoint.Sleeping)},
		{AtNs: 600, Kind: tracepoint.Waking, Process: 3, Thread: 3, Other: 2},
	})
	r := a.Result(600, nil)
	for k, want := range map[key]int64{{OwnProcess, Who{Process: 2, Thread: 2, Name: "gzip"}}: 100, {OtherProcess, Who{Process: 3, Name: "other"}}: 500} {
		i := slices.IndexFunc(r.Parts, func(p Part) bool { return key{p.Cause, p.Who} == k })
		if i < 0 || r.Parts[i].TotalNs != want {
			t.Errorf("%v: want %d of %+v", k, want, r.Parts)
		}
	}
	whole := byCause(r.Wall)
	if want := map[Cause]int64{Ran: 300, OtherProcess: 300}; !maps.Equal(whole, want) {
		t.Errorf("as a whole %v, want %v", whole, want)
	}
}

// Threads are listed while events come in, and the recording begins when all are. One that slept before, and runs when it is
// listed, did not wait for a CPU; one that has had no event until then did, or had one. The target as a whole did
// something unknown while its threads were listed, which the threads' own times did not say.
func TestListedLater(t *testing.T) {
	tasks := []tracepoint.Task{
		{Process: 1, Thread: 1, Name: "woken", State: tracepoint.Runnable, CPU: 0}, {Process: 1, Thread: 2, Name: "hog", State: tracepoint.Runnable, CPU: 1},
		{Process: 1, Thread: 3, Name: "waits", State: tracepoint.Runnable, CPU: 1}, {Process: 1, Thread: 4, Name: "asleep", State: tracepoint.Sleeping},
	}
	a := New(tasks, 0, 5000, Target{Processes: map[int32]bool{1: true}})
	a.Add([]tracepoint.Event{
		{AtNs: 3000, CPU: 0, Kind: tracepoint.Waking, Other: 1},
		{AtNs: 3100, CPU: 0, Kind: tracepoint.Switched, Other: 1},
		{AtNs: 6000, CPU: 1, Kind: tracepoint.Switched, Process: 1, Thread: 2, Other: 3, Value: int32(tracepoint.Runnable)},
	})
	if late := a.Late(); late.Thread != 3 || late.StartNs != 5000 || late.DurationNs != 1000 {
		t.Errorf("the longest delay is %+v", late)
	}
	r := a.Result(8000, nil)
	got := byCause(r.Parts)
	// "woken" ran; "hog" ran until 6000, and waited; "waits" waited until then, and ran.
	if want := map[Cause]int64{RunqueueWait: 1000 + 2000, Ran: 3000 + 1000 + 2000, NotWoken: 3000}; !maps.Equal(got, want) || r.RecordedNs != 3000 {
		t.Errorf("%v in %d ns, want %v in 3000", got, r.RecordedNs, want)
	}
	for _, p := range r.Parts {
		if p.MaxNs > 3000 {
			t.Errorf("longer than the recording: %+v", p)
		}
	}
	whole := byCause(r.Wall)
	if want := map[Cause]int64{Ran: 3000}; !maps.Equal(whole, want) {
		t.Errorf("as a whole %v, want %v", whole, want)
	}
}

// Of one thread the time as a whole is that of the thread, however long the listing took.
func TestWholeOfOneThread(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, Name: "one", State: tracepoint.Runnable, CPU: 0}, {Process: 3, Thread: 3, Name: "other", State: tracepoint.Sleeping}}
	at := func(ns int64, from, to int32, state tracepoint.State) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(state)}
	}
	for _, listedNs := range []int64{50, 150, 250, 350, 450, 550} {
		a := New(tasks, 0, listedNs, Target{Processes: map[int32]bool{1: true}})
		a.Add([]tracepoint.Event{
			at(100, 1, 3, tracepoint.Runnable), at(200, 3, 1, tracepoint.Sleeping), at(300, 1, 0, tracepoint.Sleeping),
			{AtNs: 400, Kind: tracepoint.Waking, Other: 1}, at(410, 0, 1, tracepoint.Runnable), at(600, 1, 0, tracepoint.Sleeping),
		})
		r := a.Result(700, nil)
		if parts, whole := byCause(r.Parts), byCause(r.Wall); !maps.Equal(parts, whole) || parts[Unknown] != 0 || r.WallNs != 700-listedNs || r.ThreadNs != r.WallNs {
			t.Errorf("listed at %d: %v, as a whole %v in %d ns", listedNs, parts, whole, r.WallNs)
		}
	}
}

// The first lines of a result say what the target did as a whole: unknown time of that lowers the verdict as well.
func TestUnknownTimeAsAWhole(t *testing.T) {
	for share, want := range map[float64]stats.Verdict{0.005: stats.Trusted, 0.05: stats.Suspect, 0.6: stats.Unusable} {
		r := Result{RecordedNs: 1, ThreadNs: 1, WallNs: 1, Parts: []Part{{Cause: Unknown, Share: 0.002}}, Wall: []Part{{Cause: Unknown, Share: share}}}
		if r.judge(); r.Verdict != want {
			t.Errorf("%v of the wall time: %s %v, want %s", share, r.Verdict, r.Reasons, want)
		}
	}
}

// Another thread than the first one becomes a new program: it takes over the number of the first one, which has ended. The
// target was taken for absent whenever that slept.
func TestExecByAnotherThread(t *testing.T) {
	tasks := []tracepoint.Task{
		{Process: 1, Thread: 1, Name: "first", State: tracepoint.Sleeping}, {Process: 1, Thread: 2, Name: "second", State: tracepoint.Runnable}, {Process: 3, Thread: 3, Name: "other", State: tracepoint.Sleeping},
	}
	for _, target := range []Target{{Processes: map[int32]bool{1: true}}, {Processes: map[int32]bool{1: true}, Thread: 2}} {
		a := New(tasks, 0, 0, target)
		a.Add([]tracepoint.Event{
			{AtNs: 100, Kind: tracepoint.Switched, Other: 2},
			{AtNs: 200, CPU: 1, Kind: tracepoint.Exited, Process: 1, Thread: 1},
			{AtNs: 250, CPU: 1, Kind: tracepoint.Switched, Process: 1, Thread: 1, Value: int32(tracepoint.Ended)},
			{AtNs: 300, Kind: tracepoint.Executed, Process: 1, Thread: 1, Name: "new"},
			{AtNs: 400, Kind: tracepoint.Switched, Process: 1, Thread: 1, Other: 3, Value: int32(tracepoint.Sleeping)},
			{AtNs: 1400, Kind: tracepoint.Waking, Process: 3, Thread: 3, Other: 1},
			{AtNs: 1400, Kind: tracepoint.Switched, Process: 3, Thread: 3, Other: 1, Value: int32(tracepoint.Sleeping)},
		})
		r := a.Result(1500, nil)
		if whole := byCause(r.Wall); whole[Ran] < 400 || whole[OtherProcess] != 1000 {
			t.Errorf("%+v: as a whole %v", target, whole)
		}
	}
}

// A command is recorded from its exec on. Go's runtime starts a child of its own before, which ends at once: it was counted
// as a thread of the command, and what delayed it, or the command's process before its exec, ended a recording (--until).
func TestCommandBeginsAtItsExec(t *testing.T) {
	a := New([]tracepoint.Task{{Process: 1, Thread: 1, Name: "chronoscope"}}, 0, 0, Target{Parent: 1})
	at := func(ns int64, from, to int32, state tracepoint.State) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(state)}
	}
	a.Add([]tracepoint.Event{
		{AtNs: 100, Kind: tracepoint.Forked, Process: 1, Thread: 1, Other: 2, Value: 2}, // the runtime's child
		{AtNs: 100, Kind: tracepoint.Started, Process: 1, Thread: 1, Other: 2},
		at(5000, 1, 2, tracepoint.Sleeping),
		at(5100, 2, 1, tracepoint.Ended),
		{AtNs: 5200, Kind: tracepoint.Forked, Process: 1, Thread: 1, Other: 3, Value: 3}, // the command
		{AtNs: 5200, Kind: tracepoint.Started, Process: 1, Thread: 1, Other: 3},
		at(9000, 1, 3, tracepoint.Sleeping),
	})
	if late := a.Late(); late.DurationNs != 0 {
		t.Errorf("delayed before the command began: %+v", late)
	}
	a.Add([]tracepoint.Event{
		{AtNs: 9500, Kind: tracepoint.Executed, Process: 3, Thread: 3, Name: "make"},
		at(10_000, 3, 1, tracepoint.Runnable),
		at(10_300, 1, 3, tracepoint.Sleeping),
		{AtNs: 10_400, Kind: tracepoint.Forked, Process: 3, Thread: 3, Other: 4, Value: 4}, // what it starts belongs to it from the fork on
		{AtNs: 10_400, Kind: tracepoint.Started, Process: 3, Thread: 3, Other: 4, CPU: 0},
		at(10_500, 3, 4, tracepoint.Sleeping),
	})
	if late := a.Late(); late.Thread != 3 || late.DurationNs != 300 {
		t.Errorf("delayed: %+v", late)
	}
	r := a.Result(11_000, nil)
	got := byCause(r.Parts)
	if want := map[Cause]int64{Ran: 500 + 200 + 500, RunqueueWait: 300 + 100, NotWoken: 500}; !maps.Equal(got, want) || r.Threads != 2 || r.WallNs != 1500 {
		t.Errorf("%d threads, %v in %d ns, want 2, %v in 1500", r.Threads, got, r.WallNs, want)
	}
	for _, p := range r.Periods {
		if p.Process == 2 || p.Name == "chronoscope" {
			t.Errorf("%+v", p)
		}
	}
}

// Of a wait that began before the part of the recording that is kept, only what lies in it is shown.
func TestPeriodsFromBefore(t *testing.T) {
	a := New([]tracepoint.Task{{Process: 1, Thread: 1, Name: "asleep", State: tracepoint.Sleeping}}, 0, 0, Target{Processes: map[int32]bool{1: true}})
	for at := range int64(4) {
		a.Add([]tracepoint.Event{{AtNs: at * 1000, CPU: 1, Kind: tracepoint.Switched, Process: 5, Thread: 5, Other: 6}})
		a.Turn()
	}
	r := a.Result(4000, nil)
	for _, p := range r.Periods {
		if p.StartNs < 0 || p.endNs() > r.RecordedNs {
			t.Errorf("%+v of %d ns", p, r.RecordedNs)
		}
	}
	if len(r.Periods) == 0 {
		t.Error("no periods")
	}
	// A wait that ended just before a turn is only counted after it, and may lie before all that is kept.
	at := func(ns int64, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(tracepoint.Runnable)}
	}
	a = New([]tracepoint.Task{{Process: 1, Thread: 1, Name: "waits"}}, 0, 0, Target{Processes: map[int32]bool{1: true}})
	a.Add([]tracepoint.Event{at(1000, 1, 5), at(2000, 5, 1)})
	a.Turn()
	a.Add([]tracepoint.Event{at(2e9, 1, 5), at(2e9+500, 5, 1)})
	a.Settle()
	a.Turn()
	a.Turn()
	for _, p := range a.Result(3e9, nil).Periods {
		if p.StartNs < 0 || p.DurationNs <= 0 {
			t.Errorf("%+v", p)
		}
	}
}

// byCause adds up the time of each cause.
func byCause(parts []Part) map[Cause]int64 {
	all := map[Cause]int64{}
	for _, p := range parts {
		all[p.Cause] += p.TotalNs
	}
	return all
}

func analyse(tasks []tracepoint.Task, events []tracepoint.Event, endNs int64) Result {
	a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
	a.Add(events)
	return a.Result(endNs, nil)
}

// holds checks that no cause and no name gets more time than it really took.
func (w *world) holds(t *testing.T, seed uint64, r Result) {
	t.Helper()
	truth := map[key]int64{} // for a thread whose start was lost some time may be unknown
	for k, ns := range w.truth {
		k.who.CGroup = ""
		truth[k] += ns
		if k.who.Process == 0 {
			continue
		}
		name := k.who.Name
		k.who.Name = ""
		truth[k] += ns
		k.who = Who{Name: name}
		truth[k] += ns
	}
	for _, p := range r.Parts {
		p.Who.CGroup = ""
		if want := truth[key{p.Cause, p.Who}]; p.Cause != Unknown && p.TotalNs > want {
			t.Fatalf("machine %d: %+v, which was %d ns", seed, p, want)
		}
	}
	// Time in which one thread waited for a CPU, by the events, is known to be in doubt only when it turns out that it had one.
	whole := maps.Clone(w.whole)
	whole[NotWoken] += w.idleNs
	whole[Stopped] += w.idleNs
	for cause, ns := range byCause(r.Wall) {
		if ns > whole[cause] && cause != Unknown && cause != RunqueueWait && cause != WakeupLatency {
			t.Fatalf("machine %d: as a whole %d ns of %s, which was %d ns", seed, ns, cause, whole[cause])
		}
	}
}

// A wait that is too short for a quota to have stopped it is not kept until the quota's account is certain: two programs that
// wake each other make a hundred thousand a second. One that is long enough is.
func TestShortWaitsAreNotKept(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, Name: "a", State: tracepoint.Sleeping}, {Process: 2, Thread: 2, Name: "b", State: tracepoint.Sleeping}}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}})
	turn := func(ns int64, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to}
	}
	a.Add([]tracepoint.Event{turn(0, 2, 1)})
	for i := range int64(1000) {
		a.Add([]tracepoint.Event{turn(i*2000+1000, 1, 2), turn(i*2000+2000, 2, 1)})
	}
	if n := len(a.waits); n != 0 {
		t.Errorf("%d short waits are kept", n)
	}
	a.Add([]tracepoint.Event{turn(3e6, 1, 2), turn(4e6, 2, 1)})
	if n := len(a.waits); n != 1 {
		t.Errorf("%d long waits are kept, want 1", n)
	}
	r := a.Result(5e6, nil)
	want := map[Cause]int64{RunqueueWait: 2e6, Ran: 3e6}
	if parts, whole := byCause(r.Parts), byCause(r.Wall); !maps.Equal(parts, want) || !maps.Equal(whole, want) {
		t.Errorf("%v, as a whole %v, want %v", parts, whole, want)
	}
}

// A thread that its group's quota stops seems to wait for a CPU. The time in the group's account is
// attributed to the quota, at the beginning of the wait, and the rest to the thread that had the
// CPU.
func TestQuotaOfWaits(t *testing.T) {
	const ms = 1_000_000
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, Name: "a"}, {Process: 2, Thread: 2, Name: "b", State: tracepoint.Sleeping}}
	at := func(msec int64, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: msec * ms, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to}
	}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}})
	quota := &Quota{}
	a.Regroup(func(int32) (Group, bool) { return Group{Quotas: []*Quota{quota}}, true })
	quota.Add(0, 0)
	a.Add([]tracepoint.Event{at(20, 1, 0), {AtNs: 90 * ms, Kind: tracepoint.Waking, Other: 2}, at(90, 0, 2)})
	quota.Add(95*ms, 0)
	quota.Add(105*ms, 80*ms) // the quota let it continue at 100
	a.Add([]tracepoint.Event{at(110, 2, 1)})
	quota.Add(115*ms, 80*ms)
	a.Add([]tracepoint.Event{at(130, 1, 2), at(133, 2, 1)})
	quota.Add(140*ms, 80*ms)
	r := a.Result(140*ms, nil)
	for k, want := range map[key]int64{{Ran, Who{}}: 47 * ms, {Throttled, Who{}}: 80 * ms, {RunqueueWait, Who{Process: 2, Name: "b"}}: 13 * ms} {
		i := slices.IndexFunc(r.Parts, func(p Part) bool { return key{p.Cause, p.Who} == k })
		if i < 0 || r.Parts[i].TotalNs != want {
			t.Errorf("%v: want %d of %+v", k, want, r.Parts)
		}
	}
}

// A process that is moved into a control group belongs to the target from then on, whatever it does: it was never seen.
func TestProcessesJoin(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Sleeping}, {Process: 4, Thread: 4, State: tracepoint.Sleeping}}
	at := func(ns int64, cpu, from, to int32, state tracepoint.State) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, CPU: cpu, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(state)}
	}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}})
	a.Add([]tracepoint.Event{
		at(100, 0, 0, 2, tracepoint.Runnable), {AtNs: 100, CPU: 1, Kind: tracepoint.Waking, Other: 3, Value: 0}, at(100, 1, 0, 5, tracepoint.Runnable), at(110, 1, 5, 0, tracepoint.Sleeping),
		{AtNs: 120, CPU: 0, Process: 2, Thread: 2, Kind: tracepoint.Renamed, Name: "two"}, {AtNs: 120, CPU: 1, Kind: tracepoint.Renamed},
	})
	for _, id := range []int32{3, 5} {
		a.thread(id, id, 120)
	}
	a.Join(map[int32]bool{1: true, 2: true, 3: true, 4: true, 5: true})
	a.Add([]tracepoint.Event{at(150, 0, 2, 3, tracepoint.Ended), {AtNs: 160, CPU: 0, Process: 3, Thread: 3, Kind: tracepoint.Waking, Other: 4}, at(170, 0, 3, 4, tracepoint.Ended)})
	r := a.Result(200, nil)
	want := map[Cause]int64{Ran: 80, RunqueueWait: 40, OwnProcess: 40, NotWoken: 280}
	if got := byCause(r.Parts); !maps.Equal(got, want) || r.Threads != 5 {
		t.Errorf("%d threads: %v, want %v", r.Threads, got, want)
	}
	if whole := byCause(r.Wall); whole[Ran] != 80 || r.WallNs != 200 {
		t.Errorf("as a whole %v of %d ns", whole, r.WallNs)
	}
}
