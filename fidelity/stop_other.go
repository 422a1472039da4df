//go:build !linux

package fidelity

import (
	"errors"
	"os/exec"

	"chronoscope/clock"
)

var errNoStop = errors.New("that a process has stopped can be waited for on Linux only")

func canStop() error { return unavailable(Stop, clock.OtherSystem, errNoStop, "") }

func tieToParent(*exec.Cmd) {}

func stopAndContinue(int, float64) error { return errNoStop }
