package clock

import (
	"errors"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// documented is the list of clocks in the documentation of the command's output. Scripts depend
// on it.
const documented = "`tsc`, `tsc-fenced`, `tscp` (amd64); `cntvct`, `cntvct-fenced` (arm64); `go-time-now`, `realtime`, `realtime-coarse`, `monotonic`, `monotonic-raw`, `monotonic-coarse`, `boottime`, `tai`, `process-cputime`, `thread-cputime`, `monotonic-syscall` (past the vDSO), `gettimeofday`, `time`, `times`, `clock`, `getrusage-self`, `getrusage-thread`, `perf-task-clock`, `perf-cycles`, `perf-ref-cycles`, `perf-instructions`"

func TestNamesAreTheDocumentedOnes(t *testing.T) {
	var want []string
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(documented, -1) {
		want = append(want, match[1])
	}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
}

func TestNamesCannotBeChangedFromOutside(t *testing.T) {
	Names()[0] = "changed"
	if Names()[0] == "changed" {
		t.Error("Names gives its own list away")
	}
}

func TestOpenOfAnUnknownNameListsWhatExists(t *testing.T) {
	_, err := Open("sundial")
	var unknown *UnknownName
	if !errors.As(err, &unknown) || unknown.Name != "sundial" || !slices.Equal(unknown.Known, Names()) {
		t.Fatalf("Open(sundial) = %v", err)
	}
	if !strings.Contains(err.Error(), "monotonic-raw") {
		t.Errorf("the message does not list the clocks: %v", err)
	}
}

func TestListAccountsForEveryName(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clocks, missing := List()
	var seen []string
	for _, c := range clocks {
		seen = append(seen, c.Name)
		c.Close()
	}
	for _, u := range missing {
		if u.Reason == "" || u.Detail == "" || !strings.Contains(u.Error(), u.Name) {
			t.Errorf("%s is unavailable without a reason: %v", u.Name, u)
		}
		seen = append(seen, u.Name)
	}
	slices.Sort(seen)
	want := Names()
	slices.Sort(want)
	if !slices.Equal(seen, want) {
		t.Errorf("List accounts for %v, want %v", seen, want)
	}
}

func TestCountersOfAnotherArchitectureSaySo(t *testing.T) {
	for name, architecture := range map[string]string{
		"tsc": "amd64", "tsc-fenced": "amd64", "tscp": "amd64", "cntvct": "arm64", "cntvct-fenced": "arm64",
	} {
		if architecture == runtime.GOARCH {
			continue
		}
		_, err := Open(name)
		var u *Unavailable
		if !errors.As(err, &u) || u.Reason != OtherArchitecture || u.Name != name {
			t.Errorf("Open(%s) = %v", name, err)
		}
	}
}
