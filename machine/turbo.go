package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// turboSwitches are the files by which the kernel allows or forbids frequencies above the rated
// one (Documentation/admin-guide/pm/intel_pstate.rst, cpufreq.rst). off is the value that forbids
// them.
var turboSwitches = []struct {
	file string
	off  int64
}{
	{"sys/devices/system/cpu/intel_pstate/no_turbo", 1},
	{"sys/devices/system/cpu/cpufreq/boost", 0},
}

// judgeTurbo judges whether the core may run above its rated frequency.
func judgeTurbo(d *Doctor) (*Finding, error) {
	var missing []string
	for _, s := range turboSwitches {
		value, err := d.files().integer(s.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, "/"+s.file)
			continue
		case err != nil:
			return nil, err
		case value != 0 && value != 1:
			return nil, fmt.Errorf("/%s holds %d, neither 0 nor 1", s.file, value)
		case value == s.off:
			return fine("turbo frequencies are switched off"), nil
		}
		return worthNoting("turbo frequencies are allowed",
			"the core's frequency depends on its temperature and on how many other cores are busy: the same work takes 10 to 50 % longer at one time than at another",
			fmt.Sprintf("for comparisons, as root: echo %d > /%s", s.off, s.file)), nil
	}
	return nil, fmt.Errorf("there is no %s: virtual machines and fixed-frequency CPUs have no such switch", strings.Join(missing, " and no "))
}
