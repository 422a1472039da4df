package process

import (
	"os"
	"testing"
	"time"
)

func TestTellsOf(t *testing.T) {
	for file, want := range map[string]fileTells{
		"/proc/self/schedstat": waiting, "/proc/17/task/18/schedstat": waiting, "/proc/thread-self/sched": waiting, "/proc/schedstat": waiting,
		"/proc/loadavg": busy, "/proc/pressure/cpu": waiting, "/proc//self/../pressure/io": waiting,
		"/sys/fs/cgroup/cpu.stat": waiting, "/sys/fs/cgroup/a/cpu.pressure": waiting, "/mnt/groups/cpu/cpu.stat": waiting,
		"/proc/stat": waiting, "/proc/uptime": times, "/proc/self/status": ownCounts,
		"/proc/17/stat": busy, "/proc/17/task/18/stat": busy, "/proc/self/stat": nothing, "/proc/cpuinfo": nothing, "/proc/self/maps": nothing, "/proc/self/mountinfo": nothing,
		"/sys/devices/system/cpu/online": nothing, "/sys/fs/cgroup/cpu.max": nothing, "/etc/status": nothing, "/process/stat": nothing,
		"/home/a/cpu": nothing, "/srv/loadavg": nothing, "": nothing,
	} {
		if got := tellsOf(file); got != want {
			t.Errorf("%s: %d, want %d", file, got, want)
		}
	}
}

// A program that read in /proc that it had waited, and then did less, was trusted at 29.5 ms: it takes 56 alone.
// One that reads how many CPUs there are, before its work or without any, is no such program.
func TestFilesThatTellOfWaiting(t *testing.T) {
	const all = -1
	for _, c := range []struct {
		name    string
		command Command
		leastNs int64
		mostNs  int64
	}{
		{"schedstat", program("reads a file", "whole", "/proc/self/schedstat"), all, 0},
		{"loadavg", program("reads a file", "here", "/proc/loadavg"), all, 0},
		{"schedstat of a folder", program("reads a file", "from", "/proc/self/schedstat"), all, 0},
		{"schedstat, by a child", shell("cat /proc/$$/schedstat >/dev/null; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), all, 0},
		{"stat", program("reads a file", "whole", "/proc/stat"), all, 0},
		{"uptime", program("reads a file", "whole", "/proc/uptime"), 18e6, 60e6},
		{"status", program("reads a file", "from", "/proc/self/status"), 18e6, 80e6},
		{"another file", program("reads a file", "from", "/proc/self/maps"), 0, 0},
		{"stat once", shell("read x </proc/stat; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), all, 0},
		{"uptime once", shell("read x </proc/uptime; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustNoteClocks(t, c.command)
			if !r.FilesToldPossibly && c.name != "another file" || !r.WaitingToldPossibly && c.leastNs == all {
				t.Errorf("opening the file was not noticed: %+v", r)
			}
			c.command.NoteWaits, c.command.NoteOpens = true, true
			r = mustNoteClocks(t, c.command)
			if r.Unnoted != nil {
				t.Skip(r.Unnoted)
			}
			if want := c.name == "loadavg"; r.BusyTold != want {
				t.Errorf("it tells how busy the machine is: %v, want %v", r.BusyTold, want)
			}
			if c.leastNs == all {
				c.leastNs, c.mostNs = r.CPUNs(), r.CPUNs()
			}
			if r.Failure() != nil || r.UncorrectedWorkNs < c.leastNs || r.UncorrectedWorkNs > c.mostNs || r.ClockWorkNs < r.UncorrectedWorkNs {
				t.Errorf("%d ns of work by files, want %d to %d: %+v", r.UncorrectedWorkNs, c.leastNs, c.mostNs, r)
			}
		})
	}
}

// What the tracer itself reads of the program's threads is not taken for its doing. Others may open such files
// at any time, as other tests do.
func TestTracerOpensFilesUnnoticed(t *testing.T) {
	for begun := time.Now(); time.Since(begun) < 20*time.Second; {
		c := program("looks at the clock", "and works on")
		c.NoteWaits = true
		if r := mustNoteClocks(t, c); !r.FilesToldPossibly {
			return
		}
	}
	t.Error("in each run of 20 s somebody opened a file that tells of waiting")
}

// Opens are looked at as long as that costs little, and cost the other calls none of their stops.
func TestTooManyOpens(t *testing.T) {
	for _, c := range []struct {
		count   int
		ran     time.Duration
		tooMany bool
	}{
		{manyOpens, 0, false}, {manyOpens + 1, 390 * time.Millisecond, true}, {manyOpens + 1, time.Second, false},
	} {
		o := opens{count: c.count}
		if got := o.tooMany(c.ran); got != c.tooMany {
			t.Errorf("%+v: %v", c, got)
		}
	}
	mustNoteWaits(t, shell("exit 0"))
	many := program("opens many files")
	if r := mustNoteWaits(t, many); r.Failure() != nil || r.Stops > manyFiles/10 {
		t.Errorf("%d stops for %d files, which nobody asked for: %+v", r.Stops, manyFiles, r)
	}
	many.NoteOpens = true
	if r := mustNoteWaits(t, many); r.Failure() != nil || r.Unnoted != nil || r.Stops < manyFiles {
		t.Errorf("%d stops for %d files: %+v", r.Stops, manyFiles, r)
	}
}

// A program that opens more files than are looked at was taken for one that opens no other.
func TestOpensNotLookedAt(t *testing.T) {
	o := opens{count: manyOpens}
	if o.look(os.Getpid(), &syscallInfo{}, 0); o.missed {
		t.Error("the last file that is looked at is missed")
	}
	if o.look(os.Getpid(), &syscallInfo{}, 0); !o.missed {
		t.Error("a file that is not looked at is not missed")
	}
	for missed, want := range map[bool]bool{false: false, true: true} {
		follows := tracer{noteOpens: true, waits: &waits{opens: opens{missed: missed}}}
		follows.opened(times)
		if follows.run.FilesToldPossibly || follows.run.WaitingToldPossibly {
			t.Errorf("the machine's times were opened: %+v", follows.run)
		}
		if follows.opened(waiting); follows.run.WaitingToldPossibly != want {
			t.Errorf("some files were not looked at: %v, possibly told: %v", missed, follows.run.WaitingToldPossibly)
		}
	}
}
