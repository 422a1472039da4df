package machine

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// cacheTree returns the files of CPU 1's caches, each given by level, type and size.
func cacheTree(caches ...[3]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i, c := range caches {
		for j, name := range []string{"level", "type", "size"} {
			file := "sys/devices/system/cpu/cpu1/cache/index" + string(rune('0'+i)) + "/" + name
			tree[file] = &fstest.MapFile{Data: []byte(c[j] + "\n")}
		}
	}
	return tree
}

func TestReadDataCaches(t *testing.T) {
	for name, c := range map[string]struct {
		tree fstest.MapFS
		want []Cache
	}{
		// These are the caches of a Xeon.
		"four": {
			cacheTree([3]string{"1", "Data", "48K"}, [3]string{"1", "Instruction", "32K"}, [3]string{"2", "Unified", "1024K"}, [3]string{"3", "Unified", "32768K"}),
			[]Cache{{1, 48 << 10}, {2, 1 << 20}, {3, 32 << 20}},
		},
		"order": {
			cacheTree([3]string{"3", "Unified", "8K"}, [3]string{"1", "Data", "2K"}),
			[]Cache{{1, 2 << 10}, {3, 8 << 10}},
		},
		"malformed are left out": {
			cacheTree([3]string{"0", "Data", "1K"}, [3]string{"1", "Data", "32"}, [3]string{"2", "Unified", "x"}, [3]string{"9", "Unified", "1K"},
				[3]string{"1", "Data", "0K"}, [3]string{"1", "Data", "-1K"}, [3]string{"1", "Data", "18446744073709551615K"}, [3]string{"2", "Unified", "512K"}),
			[]Cache{{2, 512 << 10}},
		},
	} {
		if got, err := ReadDataCaches(c.tree, 1); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// If there are no caches, the error names the file that was tried, or says what was wrong with
// it.
func TestNoDataCaches(t *testing.T) {
	for says, tree := range map[string]fstest.MapFS{
		"caches of CPU 1: /sys/devices/system/cpu/cpu1/cache/index0/level: file does not exist":        {},
		`caches of CPU 1: /sys/devices/system/cpu/cpu1/cache/index0/size: "1M" is no size such as 48K`: cacheTree([3]string{"1", "Data", "1M"}),
	} {
		if got, err := ReadDataCaches(tree, 1); err == nil || err.Error() != says {
			t.Errorf("%v, %v; want %q", got, err, says)
		}
	}
	long := cacheTree([3]string{"1", "Data", strings.Repeat("9", 300)})
	if _, err := ReadDataCaches(long, 1); err == nil || len(err.Error()) > 300 {
		t.Errorf("%v; want a short error", err)
	}
}
