//go:build !unix

package load

import "fmt"

// setNice returns an error: this system has no niceness.
func setNice(nice int) error {
	return fmt.Errorf("competitors of nice %d are not known on this system: measure without a load", nice)
}
