package program

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"chronoscope/process"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// The figures of a volume of LVM are those of its disks once more. A hidden path to a disk counts as a disk, since the disk
// itself counts nothing before Linux 6.5: what others did there was not seen.
func TestDisks(t *testing.T) {
	stat := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	root := fstest.MapFS{
		"sys/block/sda/device/model": {},
		"sys/block/sda/stat":         stat("      10        2      800       30       20        4     1600       70        0       60      100        0        0\n"),
		"sys/block/dm-0/size":        {}, "sys/block/dm-0/stat": stat("12 0 800 31 24 0 1600 99 0 61 130\n"),
		"sys/block/nvme0n1/device/model": {}, "sys/block/nvme0n1/stat": stat("5 0 40 3 0 0 0 0 0 3 3\n"),
		"sys/block/nvme0c0n1/device/model": {}, "sys/block/nvme0c0n1/stat": stat("5 0 40 3 0 0 0 0 0 3 3\n"), "sys/block/nvme0c0n1/hidden": stat("1\n"),
	}
	path := diskWork{read: 40, readNs: 3e6, busyNs: 3e6}
	want := []diskWork{path, path, {read: 800, readNs: 30e6, written: 1600, writtenNs: 70e6, busyNs: 60e6}}
	if got := openDisks(root).look(); !slices.Equal(got.disks, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for own, want := range map[float64]float64{40: 0, 0: 0.003} { // where the disk counts, too, the program's reads are in both
		if got := (diskUse{passedNs: 1e9, ownRead: own, disks: []diskWork{path, path}}).othersShare(); got != want {
			t.Errorf("%v blocks of its own: %v of the time for others, want %v", own, got, want)
		}
	}
	if got := openDisks(fstest.MapFS{}).look(); got.disks != nil {
		t.Errorf("without a /sys: %+v", got)
	}
	if got := parseDisk([]byte("1 2 3\n")); got != (diskWork{}) {
		t.Errorf("of a file that is cut short: %+v", got)
	}
}

// What a program reads itself is not the doing of others; nor is what the file system writes along with each write of it.
// Disks count by themselves: eight that were each busy for 1 % of the time made 8 %.
func TestDisksBusyForOthers(t *testing.T) {
	for name, c := range map[string]struct {
		ownRead, ownWritten float64
		did                 []diskWork
		want                float64
	}{
		"idle":                        {0, 0, []diskWork{{}}, 0},
		"no disk":                     {0, 0, nil, 0},
		"its own reads":               {1000, 0, []diskWork{{busyNs: 0.5e9, readNs: 0.5e9, read: 1000}}, 0},
		"others' reads":               {0, 0, []diskWork{{busyNs: 0.5e9, readNs: 0.5e9, read: 1000}}, 0.5},
		"half of the reads":           {500, 0, []diskWork{{busyNs: 0.4e9, readNs: 0.4e9, read: 1000}}, 0.2},
		"its own writes":              {0, 1600, []diskWork{{busyNs: 0.5e9, writtenNs: 0.5e9, written: 3120}}, 0}, // 200 times fsync(2), ext4
		"others write while it reads": {9, 0, []diskWork{{busyNs: 0.6e9, readNs: 0.3e9, read: 9, writtenNs: 0.3e9, written: 100}}, 0.3},
		"short requests":              {0, 0, []diskWork{{busyNs: 0.2e9, readNs: 0.01e9, read: 50}}, 0.01},
		"requests in a queue":         {0, 0, []diskWork{{busyNs: 0.1e9, readNs: 3e9, read: 5000}}, 0.1},
		"a little of eight disks":     {0, 0, slices.Repeat([]diskWork{{busyNs: 0.01e9, readNs: 0.01e9, read: 10}}, 8), 0.01},
		"one of two disks":            {100, 0, []diskWork{{busyNs: 0.3e9, readNs: 0.3e9, read: 100}, {busyNs: 0.2e9, writtenNs: 0.2e9, written: 50}}, 0.2},
	} {
		sum := diskUse{passedNs: 1e9, ownRead: c.ownRead, ownWritten: c.ownWritten}
		if sum = (diskUse{}).plus(sum).plus(diskUse{disks: c.did}); math.Abs(sum.othersShare()-c.want) > 1e-9 {
			t.Errorf("%s: %v of the time, want %v", name, sum.othersShare(), c.want)
		}
	}
	if got := (diskUse{disks: []diskWork{{busyNs: 1, readNs: 1, read: 1}}}).othersShare(); got != 0 {
		t.Errorf("without a look: %v", got)
	}
}

// A program that computes for 10 ms waits for a disk for 10 ms more. Beside a backup that used no CPU it was trusted. One
// that does not use disks, or that sleeps, does not wait for them.
func TestWaitsForADisk(t *testing.T) {
	busy := []diskWork{{busyNs: 0.4e9, readNs: 0.5e9, read: 1000}}
	backup := diskUse{passedNs: 1e9, disks: busy}
	for _, c := range []struct {
		name   string
		did    diskUse
		uses   bool
		sleeps int
		waitMs float64
		told   bool
	}{
		{"beside a backup", backup, true, 0, 10, true},
		{"alone", diskUse{passedNs: 1e9, ownRead: 990, disks: busy}, true, 0, 10, false},
		{"it does not use disks", backup, false, 0, 10, false},
		{"it sleeps", backup, true, 1, 10, false},
		{"it hardly waits", backup, true, 0, 0.3, false},
	} {
		s := series{probed: true, sleeps: c.sleeps}
		r := s.concluded(20, func(int) Run {
			run := sleptFor(10, c.waitMs)
			run.Others = process.OthersUse{Known: true, PassedNs: run.WallNs}
			run.disks, run.usesDisks = c.did, c.uses
			return run
		})
		if told := strings.Contains(strings.Join(r.Reasons, "; "), "busy for other programs for 40 %"); told != c.told || told != (r.Verdict == stats.Suspect) {
			t.Errorf("%s: %s %q", c.name, r.Verdict, r.Reasons)
		}
	}
}

// A program works 1 ms, is blocked 8 ms, and works 1 ms. Where events tell who ended the block, an answer of another program, of
// the network or of a timer is no wait for a disk. Each one was.
func TestBlocksThatMayBeForADisk(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	begin := func(state tracepoint.State) told {
		return told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0).switched(1, 0, 1, 0, state)
	}
	in := func(context tracepoint.Context, kind tracepoint.Kind, value int32) func(told) told {
		return func(t told) told {
			t = append(t, tracepoint.Event{AtNs: 9 * ms, CPU: 0, Kind: kind, Value: value})
			return append(t, tracepoint.Event{AtNs: 9 * ms, CPU: 0, Kind: tracepoint.Waking, Other: 1, Context: context})
		}
	}
	by := func(thread int32) func(told) told { return func(t told) told { return t.wakes(9, 1, thread, 1) } }
	for _, c := range []struct {
		name  string
		state tracepoint.State
		ends  func(told) told
		want  float64
	}{
		{"another program answers", tracepoint.Sleeping, by(70), 0},
		{"the network", tracepoint.Sleeping, in(tracepoint.InSoftirq, tracepoint.Softirq, tracepoint.NetworkVector), 0},
		{"a timer", tracepoint.Sleeping, in(tracepoint.InInterrupt, tracepoint.TimerExpired, 0), 0},
		{"a disk", tracepoint.Uninterruptible, in(tracepoint.InInterrupt, tracepoint.Interrupt, 0), 8 * ms},
		{"a device, with a signal that may wake it", tracepoint.Sleeping, in(tracepoint.InInterrupt, tracepoint.Interrupt, 0), 8 * ms},
		{"a thread of the kernel that decrypts", tracepoint.Uninterruptible, by(70), 8 * ms},
	} {
		told := c.ends(begin(c.state)).switched(9, 0, 0, 1, 0).switched(10.1, 0, 1, 0, tracepoint.Ended)
		run := events.run(10, 2)
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: told})
		run.traced, run.noted, run.usesDisks, run.BlockedNs = got, ok, true, 8*ms
		if ns := (&series{}).diskNs(&run, events); !ok || got.blocksKnown != 1 || got.blocksUnknown != 0 || ns != c.want {
			t.Errorf("%s: %v, %v ns, want %v: %d known, %d unknown", c.name, ok, ns, c.want, got.blocksKnown, got.blocksUnknown)
		}
		run.traced.blocksUnknown++
		if ns := (&series{}).diskNs(&run, events); ns != 8*ms {
			t.Errorf("%s, and it is not known who ended another block: %v ns, want 8 ms", c.name, ns)
		}
	}
}

// Threads that wait for disks at the same time delay the program once. The times were summed.
func TestWaitsForDisksAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		blocks []diskBlock // in order of their ends
		want   float64
	}{
		"16 threads at once":             {slices.Repeat([]diskBlock{{10, 11}}, 16), 1},
		"one after the other":            {[]diskBlock{{0, 5}, {5, 8}, {9, 10}}, 9},
		"a long one around short ones":   {[]diskBlock{{1, 2}, {3, 4}, {0, 5}, {4, 7}}, 7},
		"a long one around one of three": {[]diskBlock{{1, 2}, {3, 4}, {2.5, 5}}, 3.5},
	} {
		w := way{trajectory: &trajectory{}}
		for _, b := range c.blocks {
			w.waitsForDisk(b.fromNs, b.toNs)
		}
		if w.forDisksNs != c.want {
			t.Errorf("%s: %v, want %v", name, w.forDisksNs, c.want)
		}
	}
}

// The blocks that a program reads or writes count as its own.
func TestUsesDisks(t *testing.T) {
	dir := t.TempDir()
	_, before := ownBlocks()
	if err := os.WriteFile(dir+"/own", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, now := ownBlocks(); now == before {
		t.Skip("writes to the temporary folder reach no disk, or are not counted")
	}
	r := newRunner(Setting{})
	defer r.close()
	for script, want := range map[string]bool{":": false, "echo x > " + dir + "/x": true} {
		c := Command{Command: process.Command{Path: "/bin/sh", Args: []string{"-c", script}}, lastNs: 2e6}
		var run Run
		var err error
		r.launcher.On(func() {
			for range 2 { // the first one may read the shell
				run, err = r.run(background, c, false)
			}
		})
		if err != nil || run.usesDisks != want {
			t.Errorf("%q: %v, want %v: %v", script, run.usesDisks, want, err)
		}
		if want && !r.usesDisks {
			t.Errorf("%q: looks do not read what disks do", script)
		}
	}
}

// What disks do is read once a run has used one, and a look tells what they did since the look before.
func TestLooksAtDisks(t *testing.T) {
	stat := &fstest.MapFile{Data: []byte("10 0 800 30 0 0 0 0 0 30 30\n")}
	r := newRunner(Setting{Root: fstest.MapFS{"sys/block/sda/device/model": {}, "sys/block/sda/stat": stat}})
	defer r.close()
	if r.look(); r.disksSeen.disks != nil || r.disksDid.disks != nil || r.disks != nil {
		t.Errorf("no run used a disk: %+v, %d files are open", r.disksSeen, len(r.disks))
	}
	r.usesDisks = true
	if r.look(); r.disksSeen.disks != nil {
		t.Errorf("what was before the first reading: %+v", r.disksSeen)
	}
	stat.Data = []byte("12 0 840 35 0 0 0 0 0 34 35\n")
	r.look()
	if want := []diskWork{{busyNs: 4e6, read: 40, readNs: 5e6}}; !slices.Equal(r.disksSeen.disks, want) || !(r.disksSeen.passedNs > 0) {
		t.Errorf("%+v, want %+v", r.disksSeen, want)
	}
}
