package program

import (
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"chronoscope/process"
	"chronoscope/stats"
)

// The figures of a volume of LVM are those of its disk once more.
func TestDisks(t *testing.T) {
	root := fstest.MapFS{
		"sys/block/sda/device/model": {}, "sys/block/dm-0/size": {},
		"proc/diskstats": {Data: []byte(`   8       0 sda 10 2 800 30 20 4 1600 70 0 60 100 0 0 0 0
   8       1 sda1 9 2 700 29 20 4 1600 70 0 60 99 0 0 0 0
 254       0 dm-0 12 0 800 31 24 0 1600 99 0 61 130 0 0 0 0
`)},
	}
	d := openDisks(root)
	want := diskUse{read: 800, readNs: 30e6, written: 1600, writtenNs: 70e6, busyNs: 60e6}
	if got := parseDisks(root["proc/diskstats"].Data, d.is); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (*disks)(nil).look(); got != (diskUse{}) {
		t.Errorf("without disks: %+v", got)
	}
	if openDisks(fstest.MapFS{}) != nil {
		t.Error("disks without a /sys")
	}
}

// What a program reads itself is not the doing of others; nor is what the file system writes along with each write of it.
func TestDisksBusyForOthers(t *testing.T) {
	second := diskUse{passedNs: 1e9}
	for name, c := range map[string]struct {
		did  diskUse
		want float64
	}{
		"idle":                        {diskUse{}, 0},
		"its own reads":               {diskUse{busyNs: 0.5e9, readNs: 0.5e9, read: 1000, ownRead: 1000}, 0},
		"others' reads":               {diskUse{busyNs: 0.5e9, readNs: 0.5e9, read: 1000}, 0.5},
		"half of the reads":           {diskUse{busyNs: 0.4e9, readNs: 0.4e9, read: 1000, ownRead: 500}, 0.2},
		"its own writes":              {diskUse{busyNs: 0.5e9, writtenNs: 0.5e9, written: 3120, ownWritten: 1600}, 0}, // 200 times fsync(2), ext4
		"others write while it reads": {diskUse{busyNs: 0.6e9, readNs: 0.3e9, read: 9, ownRead: 9, writtenNs: 0.3e9, written: 100}, 0.3},
		"short requests":              {diskUse{busyNs: 0.2e9, readNs: 0.01e9, read: 50}, 0.01},
		"requests in a queue":         {diskUse{busyNs: 0.1e9, readNs: 3e9, read: 5000}, 0.1},
	} {
		if got := second.plus(c.did).othersShare(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v of the time, want %v", name, got, c.want)
		}
	}
	if got := (diskUse{}).othersShare(); got != 0 {
		t.Errorf("without a look: %v", got)
	}
}

// A program that computes for 10 ms waits for a disk for 10 ms more. Beside a backup that used no CPU it was trusted. One
// that does not use disks, or that sleeps, does not wait for them.
func TestWaitsForADisk(t *testing.T) {
	backup := diskUse{passedNs: 1e9, busyNs: 0.4e9, readNs: 0.5e9, read: 1000}
	for _, c := range []struct {
		name   string
		did    diskUse
		uses   bool
		sleeps int
		waitMs float64
		told   bool
	}{
		{"beside a backup", backup, true, 0, 10, true},
		{"alone", diskUse{passedNs: 1e9, busyNs: 0.4e9, readNs: 0.5e9, read: 1000, ownRead: 990}, true, 0, 10, false},
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
	}
}
