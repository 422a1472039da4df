//go:build !linux

package process

import "errors"

// AtNiceness returns an error: on this system a thread has no niceness of its own.
func AtNiceness(int, func()) error {
	return errors.New("this system has no niceness of a single thread")
}
