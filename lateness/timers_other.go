//go:build !linux

package lateness

import "errors"

// KernelTimers returns none: only those of Linux are implemented.
func KernelTimers(...int) []Timer { return nil }

// SlackNs returns an error: only Linux tells its timer slack.
func SlackNs() (ns int64, err error) {
	return 0, errors.New("only Linux tells its timer slack")
}
