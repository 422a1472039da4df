package duet

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// The benchmarks are run in two processes at once. The first process sets up for longer. Each reports when it had set
// up, when its iterations began, how many CPUs it may use, its GOMAXPROCS, and by how much its environment is longer.

func BenchmarkMeets(b *testing.B) {
	ready := setUp(b)
	b.ResetTimer()
	began := time.Now()
	for range b.N {
		work(began)
	}
	report(b, ready, began)
}

func BenchmarkMeetsInLoop(b *testing.B) {
	ready := setUp(b)
	var began time.Time
	for b.Loop() {
		if began.IsZero() {
			began = time.Now()
		}
		work(began)
	}
	report(b, ready, began)
}

func BenchmarkPart(b *testing.B) { b.Run("meets", BenchmarkMeetsInLoop) }

func BenchmarkMeetsLate(b *testing.B) {
	b.StopTimer()
	ready := setUp(b)
	b.StartTimer()
	began := time.Now()
	for range b.N {
		work(began)
	}
	report(b, ready, began)
}

func setUp(b *testing.B) (ready time.Time) {
	if write(filepath.Join(os.Getenv("DUET_FOLDER"), filepath.Base(b.Name())+strconv.Itoa(b.N))) == nil {
		time.Sleep(200 * time.Millisecond)
	}
	return time.Now()
}

func work(began time.Time) {
	for time.Since(began) < 20*time.Millisecond {
	}
}

func report(b *testing.B, ready, began time.Time) {
	b.ReportMetric(float64(ready.UnixMicro()), "ready")
	b.ReportMetric(float64(began.UnixMicro()), "began")
	b.ReportMetric(float64(runtime.NumCPU()), "cpus")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "procs")
	b.ReportMetric(float64(len(os.Getenv("CHRONOSCOPE_PADDING"))), "padding")
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// BenchmarkPanics panics in the first process, before its iterations, while the other one waits for it.
func BenchmarkPanics(b *testing.B) {
	if b.N > 1 && write(filepath.Join(os.Getenv("DUET_FOLDER"), "first")) == nil {
		panic("the first process always does")
	}
	b.ResetTimer()
	for range b.N {
	}
}
