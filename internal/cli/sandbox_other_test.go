//go:build !linux

package cli_test

// sandboxes is empty: sandboxes exist on Linux only.
var sandboxes map[string]func()

const noSandbox = 125
