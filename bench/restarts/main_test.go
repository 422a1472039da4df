package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script writes a program for a shell, and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A serve that ends before it is killed is a fault, told with the end of what it said. One that is killed is none, and one that
// does not listen is an error.
func TestHowALifeEnds(t *testing.T) {
	e := experiment{least: 50 * time.Millisecond, most: 60 * time.Millisecond, folder: t.TempDir()}
	e.tool = script(t, "killed", "echo Listening on x >&2; exec sleep 20")
	if l, err := e.liveOnce(t.Context()); err != nil || l.ended != "" || l.peakKiB == 0 {
		t.Errorf("killed: %+v, %v", l, err)
	}
	e.least, e.most = 20*time.Second, 21*time.Second
	e.tool = script(t, "crashed", "echo Listening on x >&2; echo panic: of a test >&2; exit 2")
	if l, err := e.liveOnce(t.Context()); err != nil || !strings.Contains(l.ended, "exit status 2") || !strings.Contains(l.ended, "panic: of a test") {
		t.Errorf("crashed: %+v, %v", l, err)
	}
	e.tool = script(t, "deaf", "echo no port >&2; exit 1")
	if l, err := e.liveOnce(t.Context()); err == nil || !strings.Contains(err.Error(), "no port") {
		t.Errorf("deaf: %+v, %v", l, err)
	}
}

// A Prometheus that ends at once is noticed before the first life.
func TestPrometheusEnds(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(script(t, "prometheus", "exit 1"))+":"+os.Getenv("PATH"))
	e := experiment{folder: t.TempDir(), address: "127.0.0.1:1"}
	if _, _, err := e.startPrometheus(t.Context()); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Error(err)
	}
}

// Faults and what the lives used are printed also if Prometheus can't be asked.
func TestConclude(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var out strings.Builder
	err := conclude(t.Context(), &out, prometheus(server.URL), time.Hour, []life{{peakKiB: 2048}}, []string{"life 1 left a file"})
	if err == nil || !strings.Contains(out.String(), "FAULT: life 1 left a file") || !strings.Contains(out.String(), "1 lives") || strings.Contains(out.String(), "no fault") {
		t.Errorf("%v:\n%s", err, &out)
	}
}
