//go:build !linux

package cli_test

// sandboxes are made on Linux only.
var sandboxes map[string]func()

const noSandbox = 125
