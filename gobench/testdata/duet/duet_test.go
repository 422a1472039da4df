package duet

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// BenchmarkMeets is run in two processes at once. The one that comes first sets up for longer. Each reports when it had set
// up, when its iterations began and ended, how many CPUs it may use, and its GOMAXPROCS.
func BenchmarkMeets(b *testing.B) {
	if b.N > 1 && write(filepath.Join(os.Getenv("DUET_FOLDER"), "first")) == nil {
		time.Sleep(200 * time.Millisecond)
	}
	ready := time.Now()
	b.ResetTimer()
	began := time.Now()
	for range b.N {
		for time.Since(began) < 20*time.Millisecond {
		}
	}
	b.ReportMetric(float64(ready.UnixMicro()), "ready")
	b.ReportMetric(float64(began.UnixMicro()), "began")
	b.ReportMetric(float64(runtime.NumCPU()), "cpus")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "procs")
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// BenchmarkPanics panics in the process that comes first, before its iterations, while the other one waits for it.
func BenchmarkPanics(b *testing.B) {
	if b.N > 1 && write(filepath.Join(os.Getenv("DUET_FOLDER"), "first")) == nil {
		panic("the first one always does")
	}
	b.ResetTimer()
	for range b.N {
	}
}
