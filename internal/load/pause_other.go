//go:build !unix

package load

import "errors"

// Pause is for systems that can stop a process.
func (l *Load) Pause() error { return errors.ErrUnsupported }

// Resume is for systems that can stop a process.
func (l *Load) Resume() error { return errors.ErrUnsupported }
