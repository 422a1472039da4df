//go:build !linux

package lateness

import "errors"

// KernelTimers are those that the system offers: none that are known here.
func KernelTimers(...int) []Timer { return nil }

// SlackNs is by how much the system may delay timers; it is not known here.
func SlackNs() (ns int64, err error) {
	return 0, errors.New("only Linux tells its timer slack")
}
