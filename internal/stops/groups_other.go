//go:build !linux

package stops

// With does nothing on this system.
func With(int) (leave func()) { return func() {} }

// PassOn does nothing on this system.
func PassOn() {}
