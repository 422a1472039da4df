//go:build !unix

package cli

const withoutWaiting = 0
