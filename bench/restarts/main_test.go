package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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

// A serve that ends before it is killed, or that somebody else kills, is a fault, told with the end of what it said. One that is killed is none, and one that
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
	e.tool = script(t, "victim", "echo Listening on x >&2; echo large >&2; kill -KILL $$")
	if l, err := e.liveOnce(t.Context()); err != nil || !strings.Contains(l.ended, "signal: killed") || !strings.Contains(l.ended, "large") {
		t.Errorf("victim: %+v, %v", l, err)
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

// A Prometheus whose experiment is killed ends with it.
func TestPrometheusEndsWithTheExperiment(t *testing.T) {
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(folder, "prometheus")); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), startsIn+"="+folder, "PATH="+folder+":"+os.Getenv("PATH"))
	said, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	_, err = fmt.Fscan(said, &address)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil || !strings.HasPrefix(address, "http://") {
		t.Fatal(address, err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		answer, err := http.Get(address)
		if err != nil {
			return
		}
		answer.Body.Close()
		if time.Now().After(end) {
			t.Fatal("it runs on")
		}
	}
}

// startsIn is an environment variable of a process that starts Prometheus: the folder of its experiment.
const startsIn = "RESTARTS_TEST_FOLDER"

// TestMain runs the tests, or a stand-in for Prometheus that is always ready, or a process that starts it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "prometheus" {
		time.AfterFunc(20*time.Second, func() { os.Exit(1) })
		fmt.Println(http.ListenAndServe(strings.TrimPrefix(os.Args[2], "--web.listen-address="), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		os.Exit(1)
	}
	if folder := os.Getenv(startsIn); folder != "" {
		server, _, err := experiment{folder: folder}.startPrometheus(context.Background())
		fmt.Println(server, err)
		select {}
	}
	os.Exit(m.Run())
}

// Before two minutes a rate need not have a value. After that, one without any is a fault.
func TestRatesNeedTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer server.Close()
	for scrapes, want := range map[int]int{20: 0, 3600: 11} {
		if faults, err := prometheus(server.URL).ask(t.Context(), time.Hour, seen{scrapes: scrapes}, io.Discard); err != nil || len(faults) != want {
			t.Errorf("%d scrapes: %q, %v", scrapes, faults, err)
		}
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
