//go:build amd64 || arm64

package clock

//go:noescape
func spin(work int)
