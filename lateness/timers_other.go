//go:build !linux

package lateness

import "errors"

// KernelTimers returns none: those of this system are not known here.
func KernelTimers(...int) []Timer { return nil }

// SlackNs fails: the timer slack of this system is not known here.
func SlackNs() (ns int64, err error) {
	return 0, errors.New("only Linux tells its timer slack")
}
