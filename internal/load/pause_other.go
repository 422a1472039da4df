//go:build !unix

package load

import "errors"

// Pause returns an error: this system can't stop a process.
func (l *Load) Pause() error { return errors.ErrUnsupported }

// Resume returns an error: this system can't stop a process.
func (l *Load) Resume() error { return errors.ErrUnsupported }

// endGroup does nothing: the processes that this one has started end by themselves.
func endGroup() {}
