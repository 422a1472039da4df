package machine

import (
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	statBegin     = "cpu  100 10 50 5000 300 3 7 20 0 0\ncpu0 50 5 25 2500 150 1 3 10 0 0\nctxt 5\nprocs_running 1\n"
	pressureBegin = "some avg10=14.68 avg60=6.97 avg300=13.97 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=999999\n"
)

// contentionBetween returns the contention between two states of the files. An empty text means
// that the file does not exist.
func contentionBetween(stat, pressure string, ownNs float64) Contention {
	files := fstest.MapFS{}
	for name, text := range map[string][2]string{
		"proc/stat": {statBegin, stat}, "proc/pressure/cpu": {pressureBegin, pressure},
	} {
		if text[1] != "" {
			files[name] = &fstest.MapFile{Data: []byte(text[0])}
		}
	}
	var own float64
	w := openContention(files, func() float64 { return own })
	defer w.Close()
	own = ownNs
	for name, text := range map[string]string{"proc/stat": stat, "proc/pressure/cpu": pressure} {
		if f := files[name]; f != nil {
			f.Data = []byte(text)
		}
	}
	return w.Look()
}

func TestContention(t *testing.T) {
	const ms = 1e6
	nan := math.NaN()
	stat := "cpu  130 20 60 9000 900 4 9 99 0 0\n"                                                                     // 30 + 10 + 10 + 1 + 2 ticks of 10 ms
	pressure := "some avg10=0.00 avg60=0.00 avg300=0.00 total=26000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" // 25 ms
	long := strings.Repeat("9", 600)
	for _, c := range []struct {
		name           string
		stat, pressure string
		ownNs          float64
		want           Contention
	}{
		{"two programs", stat, pressure, 400 * ms, Contention{130 * ms, 25 * ms}},
		{"only this one, within the grain", stat, pressure, 540 * ms, Contention{-10 * ms, 25 * ms}},
		{"no own account", stat, pressure, nan, Contention{nan, 25 * ms}},
		{"no files", "", "", 0, Contention{nan, nan}},
		{"counters that fall", "cpu  1 1 1 1 1 1 1 1 0 0\n", "some total=1\n", 0, Contention{nan, nan}},
		{"other first lines", "cpu0 130 20 60 9000 900 4 9 99 0 0\n", "full avg10=0.00 total=26000\n", 0, Contention{nan, nan}},
		{"no numbers", "cpu  x 20 60 9000 900 4 9 99 0 0\n", "some total=-5\n", 0, Contention{nan, nan}},
		{"numbers beyond a float64", "cpu  " + long + " 20 60 9000 900 4 9 99 0 0\n", "some total=" + long + "\n", 0, Contention{nan, nan}},
		{"cut short", "cpu  130 20 60", "some avg10=0.00", 0, Contention{nan, nan}},
		{"no text at all", "\x00\xff", "\n\n", 0, Contention{nan, nan}},
	} {
		got := contentionBetween(c.stat, c.pressure, c.ownNs)
		if !alike(got.OthersNs, c.want.OthersNs) || !alike(got.WaitedNs, c.want.WaitedNs) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// alike reports whether two figures are equal; two unknown figures count as equal.
func alike(a, b float64) bool { return math.Abs(a-b) < 1e-6 || math.IsNaN(a) && math.IsNaN(b) }

// A look tells the contention since the previous look.
func TestContentionSinceTheLastLook(t *testing.T) {
	files := fstest.MapFS{"proc/pressure/cpu": &fstest.MapFile{Data: []byte("some total=5\n")}}
	w := openContention(files, OwnCPUNs)
	defer w.Close()
	files["proc/pressure/cpu"].Data = []byte("some total=12\n")
	first := w.Look()
	if second := w.Look(); first.WaitedNs != 7e3 || second.WaitedNs != 0 {
		t.Errorf("7 µs, and then 0: %v, %v", first.WaitedNs, second.WaitedNs)
	}
}

// On the real machine, whichever figures are known are not negative.
func TestContentionHere(t *testing.T) {
	w := OpenContention(os.DirFS("/"))
	defer w.Close()
	for range 3 {
		if c := w.Look(); c.OthersNs < -OthersErrorNs || c.WaitedNs < 0 {
			t.Errorf("%+v", c)
		}
	}
}
