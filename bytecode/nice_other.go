//go:build !unix

package bytecode

import "fmt"

func niceThread(nice int) error {
	return fmt.Errorf("competitors of nice %d are not known on this system: measure without a load", nice)
}
