//go:build !linux

package probe

import "errors"

// CPUTime returns an error on this system.
func (p *Probe) CPUTime() (ns float64, threads int, err error) {
	return 0, 0, errors.New("the CPU time of another process is not asked for on this system")
}
