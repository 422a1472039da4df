package onecpu

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"chronoscope/machine"
)

func TestMain(m *testing.M) {
	if os.Getenv(Marker) != "" {
		fmt.Print(syscall.Getpgrp())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The program on one CPU is in a process group of its own: a terminal's Ctrl-C reaches it once, through the program that
// waits for it, and it has time to show what it has.
func TestOwnGroup(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err) // nothing can be pinned here
	}
	var group strings.Builder
	done, err := Confine(t.Context(), cpus[0], nil, &group)
	if own := fmt.Sprint(syscall.Getpgrp()); !done || err != nil || group.String() == own || group.String() == "" {
		t.Errorf("group %q, that of the test is %s; done %v, %v", group.String(), own, done, err)
	}
}
