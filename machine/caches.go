package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Cache is a cache that holds data, or data and instructions. On a virtual machine it is what
// the hypervisor shows.
type Cache struct {
	Level int // 1 is the nearest to the core
	Bytes int
}

// Limits of what is accepted as a cache.
const (
	mostCaches       = 16 // per CPU
	mostCacheLevels  = 8
	mostCacheKibs    = 1 << 30 // a terabyte
	bytesInKibibytes = 1024
)

// ReadDataCaches returns the caches through which a CPU reads data, the nearest first, from
// /sys/devices/system/cpu/cpuN/cache below root
// (Documentation/ABI/testing/sysfs-devices-system-cpu, "Parameters for the CPU cache
// attributes"). It leaves out entries that it can't read, and returns an error if it can read
// none.
func ReadDataCaches(root fs.FS, cpu int) ([]Cache, error) {
	f := files{root}
	var caches []Cache
	var failed error
	for index := range mostCaches {
		cache, holdsData, err := f.cache(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d", cpu, index))
		switch {
		case err != nil && (failed == nil || !errors.Is(err, fs.ErrNotExist)):
			failed = err
		case err == nil && holdsData:
			caches = append(caches, cache)
		}
	}
	if len(caches) == 0 && failed == nil {
		failed = errors.New("none of them holds data")
	}
	if len(caches) == 0 {
		return nil, fmt.Errorf("caches of CPU %d: %w", cpu, failed)
	}
	slices.SortStableFunc(caches, func(a, b Cache) int { return cmp.Compare(a.Level, b.Level) })
	return caches, nil
}

// cache reads the directory of one cache. holdsData is false for a cache of instructions only.
func (f files) cache(dir string) (c Cache, holdsData bool, err error) {
	level, err := f.integer(dir + "/level")
	if err != nil {
		return c, false, err
	}
	if level < 1 || level > mostCacheLevels {
		return c, false, fmt.Errorf("/%s/level holds %d, no level of a cache", dir, level)
	}
	kind, err := f.value(dir + "/type")
	if err != nil {
		return c, false, err
	}
	size, err := f.value(dir + "/size")
	if err != nil {
		return c, false, err
	}
	bytes, err := parseCacheSize(string(size))
	if err != nil {
		return c, false, fmt.Errorf("/%s/size: %w", dir, err)
	}
	return Cache{Level: int(level), Bytes: bytes}, kind == "Data" || kind == "Unified", nil
}

// parseCacheSize reads a size such as "48K"; the kernel writes no other unit.
func parseCacheSize(size string) (bytes int, err error) {
	number, inKibibytes := strings.CutSuffix(size, "K")
	kibs, err := strconv.ParseUint(number, 10, 64)
	if err != nil || !inKibibytes || kibs == 0 || kibs > mostCacheKibs {
		return 0, fmt.Errorf("%q is no size such as 48K", clip(size))
	}
	return int(kibs) * bytesInKibibytes, nil
}
