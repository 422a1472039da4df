//go:build !unix

package record

const withoutWaiting = 0
