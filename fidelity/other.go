//go:build !linux

package fidelity

import (
	"errors"
	"io/fs"
	"os/exec"
	"time"

	"chronoscope/clock"
)

func openPTP(fs.FS, time.Duration) (Reference, *clock.Unavailable)          { return onLinuxOnly() }
func openSynchronised(fs.FS, time.Duration) (Reference, *clock.Unavailable) { return onLinuxOnly() }

func onLinuxOnly() (Reference, *clock.Unavailable) {
	return Reference{}, &clock.Unavailable{Reason: clock.OtherSystem, Detail: "it is known on Linux only"}
}

var errNoStop = errors.New("waiting until a process has stopped: only Linux can do that")

func canStop() error { return unavailable(Stop, clock.OtherSystem, errNoStop, "") }

func tieToParent(*exec.Cmd) {}

func stopAndContinue(int, float64) error { return errNoStop }
