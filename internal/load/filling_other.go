//go:build !linux

package load

import "errors"

// giveWay returns an error: only Linux has this priority.
func giveWay() error { return errors.ErrUnsupported }
