package machine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// content maps the names of files below the root to their content.
type content map[string]string

func (c content) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range c {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// and returns the content with the files of more added or replaced.
func (c content) and(more content) content {
	all := maps.Clone(c)
	maps.Copy(all, more)
	return all
}

// without returns the content without one file.
func (c content) without(name string) content {
	all := maps.Clone(c)
	delete(all, name)
	return all
}

const window = 200 * time.Millisecond

// examine lets a Doctor examine a machine whose files change while it waits.
func examine(m *Machine, cpus []int, before, after content) ([]Finding, []string) {
	tree := before.tree()
	return Doctor{
		Root: tree, Machine: m, CPUs: cpus, Window: window,
		Wait: func(d time.Duration) time.Duration {
			maps.Copy(tree, after.tree())
			return d
		},
	}.Examine()
}

// sickness is a test case: a machine, its files before the window, the files that change in the
// window, and what is expected on one topic: a finding, a caveat, or neither.
type sickness struct {
	name          string
	m             Machine
	cpus          []int
	before, after content
	severity      Severity // empty if no finding is expected
	says          string   // part of the finding's text
	caveat        string   // part of the text of the caveat on the topic
}

// diagnose compares what is found on a topic with what is expected.
func diagnose(t *testing.T, topic string, cases []sickness) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.m.OS = "linux"
			if c.cpus == nil {
				c.cpus = []int{0}
			}
			findings, caveats := examine(&c.m, c.cpus, c.before, c.after)
			caveats = slices.DeleteFunc(caveats, func(s string) bool { return !strings.HasPrefix(s, topic+": ") })
			switch {
			case c.caveat == "" && len(caveats) > 0:
				t.Errorf("caveats %q", caveats)
			case c.caveat != "" && (len(caveats) != 1 || !strings.Contains(caveats[0], c.caveat)):
				t.Errorf("caveats %q, want one that says %q", caveats, c.caveat)
			}
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Topic == topic })
			if (i < 0) != (c.severity == "") {
				t.Fatalf("findings %+v; want severity %q", findings, c.severity)
			}
			if i < 0 {
				return
			}
			f := findings[i]
			if f.Severity != c.severity {
				t.Errorf("%+v, want %s", f, c.severity)
			}
			if !strings.Contains(f.Seen+"|"+f.Effect+"|"+f.Fix+"|", c.says) {
				t.Errorf("%+v does not say %q", f, c.says)
			}
			checkComplete(t, f)
		})
	}
}

// checkComplete checks that a finding has an effect and a fix if it isn't ok, and neither if it
// is.
func checkComplete(t *testing.T, f Finding) {
	t.Helper()
	good := f.Effect == "" && f.Fix == ""
	bad := f.Effect != "" && f.Fix != ""
	if f.Topic == "" || f.Seen == "" || f.Severity == OK && !good || f.Severity != OK && !bad {
		t.Errorf("%+v is not complete", f)
	}
}

// zipped returns a text compressed with gzip.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// quiet holds the files of a machine that nothing disturbs: four CPUs, two of them isolated.
var quiet = content{
	"proc/stat": "cpu  400 0 0 400 0 0 0 0 0 0\n" +
		"cpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0 0 0\n" +
		"cpu2 100 0 0 100 0 0 0 0 0 0\ncpu3 100 0 0 100 0 0 0 0 0 0\nintr 1 2\n",
	"proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 24: 7 7 7 7 PCI eth0\nLOC: 50 50 50 50 Local timer interrupts\n",
	"proc/meminfo":    "MemTotal:  1000 kB\nSwapTotal:       0 kB\nSwapFree:        0 kB\n",
	"proc/vmstat":     "nr_free_pages 3\npswpin 0\npswpout 0\n",
	"proc/cpuinfo":    "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nflags : tsc constant_tsc nonstop_tsc\n",
	"proc/2/comm":     "kthreadd\n",
	"proc/config.gz":  zipped("CONFIG_HZ=250\n# CONFIG_KASAN is not set\n"),

	"proc/self/status":                                                    "Name:\tx\nCapEff:\t0000000000000000\n",
	"proc/sys/kernel/perf_event_paranoid":                                 "2\n",
	"proc/self/timerslack_ns":                                             "50000\n",
	"sys/devices/system/cpu/online":                                       "0-3\n",
	"sys/devices/system/cpu/isolated":                                     "2-3\n",
	"sys/devices/system/cpu/nohz_full":                                    "2-3\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                        "1\n",
	"sys/devices/system/cpu/vulnerabilities/meltdown":                     "Not affected\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                          "always [madvise] never\n",
	"sys/devices/system/cpu/cpu2/topology/thread_siblings_list":           "2-3\n",
	"sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count":    "0\n",
	"sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count": "0\n",
}

func quietMachine() *Machine {
	return &Machine{
		OS: "linux", Arch: "amd64", Clocksource: "tsc", Clocksources: []Text{"tsc", "hpet"},
		Hypervisor: "none", Container: "none", CPUsOnline: new(4),
	}
}

// Every question that applies is answered, and every finding is ok.
func TestExamineQuiet(t *testing.T) {
	findings, caveats := examine(quietMachine(), []int{2}, quiet, nil)
	if len(caveats) > 0 {
		t.Errorf("caveats %q", caveats)
	}
	var topics []string
	for _, f := range findings {
		topics = append(topics, f.Topic)
		if f.Severity != OK {
			t.Errorf("%+v on a quiet machine", f)
		}
		checkComplete(t, f)
	}
	for _, q := range questions {
		if q.topic != "steal" && !slices.Contains(topics, q.topic) { // no hypervisor can steal
			t.Errorf("nothing on %s in %q", q.topic, topics)
		}
	}
}

// If a file is missing or malformed, there is no finding other than ok, and a caveat names the
// file.
func TestExamineUnreadable(t *testing.T) {
	optional := []string{
		"sys/devices/system/cpu/online",    // only used for the fix
		"sys/devices/system/cpu/nohz_full", // missing on kernels without the option
		"sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count",
	}
	before, _ := examine(quietMachine(), []int{2}, quiet, nil)
	for name := range quiet {
		for fault, changed := range map[string]content{
			"missing":   quiet.without(name),
			"empty":     quiet.and(content{name: ""}),
			"malformed": quiet.and(content{name: "\x00\x1b[2J\xff -1 :\n"}),
		} {
			if fault == "empty" && (strings.HasSuffix(name, "isolated") || strings.HasSuffix(name, "nohz_full")) {
				continue // an empty list of CPUs is valid here
			}
			findings, caveats := examine(quietMachine(), []int{2}, changed, nil)
			for _, f := range findings {
				if f.Severity != OK {
					t.Errorf("%s %s: %+v", fault, name, f)
				}
			}
			if slices.Contains(optional, name) {
				continue
			}
			if len(caveats) == 0 || len(findings) >= len(before) {
				t.Errorf("%s %s: %d findings of %d, caveats %q", fault, name, len(findings), len(before), caveats)
			}
			for _, caveat := range caveats {
				if !printable(caveat) {
					t.Errorf("%s %s: %q can't be printed", fault, name, caveat)
				}
			}
		}
	}
}

// A container may have neither /proc nor /sys. Then nothing is found, and each question has its
// caveat.
func TestExamineNothing(t *testing.T) {
	m := &Machine{OS: "linux", Arch: "amd64", CPUsOnline: new(4), Hypervisor: "kvm"}
	findings, caveats := examine(m, nil, nil, nil)
	for _, f := range findings {
		if f.Topic != "hypervisor" {
			t.Errorf("%+v", f)
		}
	}
	for _, q := range questions {
		if !slices.ContainsFunc(caveats, func(c string) bool { return strings.HasPrefix(c, q.topic+": ") }) {
			t.Errorf("no caveat on %s in %q", q.topic, caveats)
		}
	}
}

// If the wait ends early, the questions that need no watching are still answered.
func TestExamineInterrupted(t *testing.T) {
	findings, caveats := Doctor{
		Root: quiet.tree(), Machine: quietMachine(), CPUs: []int{2}, Window: window,
		Wait: func(time.Duration) time.Duration { return 3 * time.Millisecond },
	}.Examine()
	if !slices.ContainsFunc(caveats, func(c string) bool { return strings.Contains(c, "watched for 3ms only; 50ms would be enough") }) {
		t.Errorf("caveats %q", caveats)
	}
	for topic, want := range map[string]bool{"turbo": true, "debug-kernel": true, "interrupts": false, "swap": false} {
		if slices.ContainsFunc(findings, func(f Finding) bool { return f.Topic == topic }) != want {
			t.Errorf("%s in %+v: want %v", topic, findings, want)
		}
	}
}

// The files exist on Linux only. On other systems only the description is judged, and nothing
// waits.
func TestExamineElsewhere(t *testing.T) {
	findings, caveats := Doctor{
		Machine: &Machine{OS: "darwin", CPUs: 1},
		Wait:    func(time.Duration) time.Duration { t.Error("it waits"); return 0 },
	}.Examine()
	if len(findings) != 1 || findings[0].Topic != "cpus" || len(caveats) != 1 || !strings.Contains(caveats[0], "on Linux only, this is darwin") {
		t.Errorf("%+v, %q", findings, caveats)
	}
}

// If the CPUs of the measurements are not given, they are those that the process may use.
func TestExamineAllCPUs(t *testing.T) {
	m := quietMachine()
	m.CPUList = "0-3"
	findings, _ := examine(m, nil, quiet, content{"proc/interrupts": "CPU0 CPU1 CPU2 CPU3\n24: 7 7 7 9007\nLOC: 0 0 0 0\n"})
	if !slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Topic == "interrupts" && strings.Contains(f.Seen, "45000 interrupts a second beside the timer's on CPU 3")
	}) {
		t.Errorf("%+v", findings)
	}
}

// Whatever one file contains before the window and another one after it, the findings are
// complete and printable, and hold no NaN or infinity.
func FuzzExamine(f *testing.F) {
	names := slices.Sorted(maps.Keys(quiet))
	for file := range byte(len(names)) {
		f.Add(file, file, []byte("0\n"), []byte("1\n"))
	}
	f.Add(byte(slices.Index(names, "proc/stat")), byte(slices.Index(names, "proc/stat")),
		[]byte("cpu2 0 0 0 0 0 0 0 0\n"), []byte("cpu2 18446744073709551615 1 1 1 1 1 1 18446744073709551615\ncpu3 1 1 1 1 1 1 1 1\n"))
	f.Add(byte(slices.Index(names, "proc/interrupts")), byte(slices.Index(names, "proc/interrupts")),
		[]byte("CPU2\n\x1b: 1\n"), []byte("CPU2\n\x1b: 18446744073709551615\n24: 9999\n"))
	f.Add(byte(slices.Index(names, "proc/config.gz")), byte(0), []byte(zipped("CONFIG_KASAN_GENERIC=y\n"))[:20], []byte{})
	f.Fuzz(func(t *testing.T, file, later byte, before, after []byte) {
		m := quietMachine()
		m.Hypervisor = "kvm"
		findings, caveats := examine(m, []int{2},
			quiet.and(content{names[int(file)%len(names)]: string(before)}),
			content{names[int(later)%len(names)]: string(after)})
		for _, finding := range findings {
			checkComplete(t, finding)
			text := fmt.Sprintf("%s %s %s %s", finding.Topic, finding.Seen, finding.Effect, finding.Fix)
			if !printable(text) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%q can't stand in a report", text)
			}
		}
		for _, caveat := range caveats {
			if !printable(caveat) {
				t.Errorf("%q can't be printed", caveat)
			}
		}
		if _, err := json.Marshal(findings); err != nil {
			t.Error(err)
		}
	})
}
