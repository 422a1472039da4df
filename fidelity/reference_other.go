//go:build !linux

package fidelity

import (
	"io/fs"
	"time"

	"chronoscope/clock"
)

func openPTP(fs.FS, time.Duration) (Reference, *clock.Unavailable) { return Reference{}, onLinuxOnly() }

func openSynchronised(fs.FS, time.Duration) (Reference, *clock.Unavailable) {
	return Reference{}, onLinuxOnly()
}

func onLinuxOnly() *clock.Unavailable {
	return &clock.Unavailable{Reason: clock.OtherSystem, Detail: "it is known on Linux only"}
}
