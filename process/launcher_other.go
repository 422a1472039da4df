//go:build !linux

package process

import "context"

// Launcher starts programs one after the other.
type Launcher struct{}

// NewLauncher makes a launcher.
func NewLauncher() *Launcher { return &Launcher{} }

// Close does nothing on this system.
func (l *Launcher) Close() {}

// Run does what [Command.Run] does.
func (l *Launcher) Run(ctx context.Context, c Command) (Run, error) { return c.Run(ctx) }

// On calls do.
func (l *Launcher) On(do func()) { do() }
