package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"chronoscope/bytecode"
	"chronoscope/machine"
	"chronoscope/record"
)

// What an interrupted run has measured is only read by runs with the same options and of the same origin, and not if it
// was removed, is a day old or damaged.
func TestBytecodeStore(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", os.Getenv("XDG_CACHE_HOME"))
	t.Setenv("LocalAppData", os.Getenv("XDG_CACHE_HOME"))
	m := &machine.Machine{CPU: "Test CPU"}
	open := func(o bytecode.Options) *bytecodeStore {
		t.Helper()
		s, err := openBytecodeStore(m, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	o := bytecode.Options{Instructions: []string{"iadd"}, Seed: 1, Progress: func(bytecode.Progress) {}}
	if open(o).load() != nil {
		t.Error("something was kept before")
	}
	if err := open(o).save(&bytecode.Series{Length: 137}); err != nil {
		t.Fatal(err)
	}
	o.Seed, o.Progress, o.Continue = 2, nil, &bytecode.Series{}
	if s := open(o).load(); s == nil || s.Length != 137 {
		t.Errorf("%+v came back", s)
	}
	other := o
	other.Instructions = []string{"isub"}
	if open(other).load() != nil {
		t.Error("it came back to a run with other options")
	}
	elsewhere, err := openBytecodeStoreOf("another build", m, o)
	if err != nil || elsewhere.load() != nil {
		t.Errorf("it came back to another build, or: %v", err)
	}
	tomorrow := time.Now().Add(time.Hour)
	if err := os.Chtimes(open(o).file, tomorrow, tomorrow); err != nil {
		t.Fatal(err)
	}
	if open(o).load() != nil {
		t.Error("it came back from the future, as if a clock had been set back")
	}
	yesterday := time.Now().Add(-keptFor - time.Minute)
	if err := os.Chtimes(open(o).file, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if open(o).load() != nil {
		t.Error("it came back after a day")
	}
	if err := os.WriteFile(open(o).file, []byte(`{"length": `), 0o644); err != nil {
		t.Fatal(err)
	}
	if open(o).load() != nil {
		t.Error("what is broken came back")
	}
	open(o).forget()
	if _, err := os.Stat(open(o).file); err == nil {
		t.Error("it was not forgotten")
	}
	// Without a cache folder nothing is kept, and nothing fails.
	var none *bytecodeStore
	none.forget()
	if none.load() != nil {
		t.Error("from nowhere something came")
	}
}

// A run that failed continues where it stopped, once the cause of the failure is removed.
func TestFailedBytecodeIsKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", os.Getenv("XDG_CACHE_HOME"))
	t.Setenv("LocalAppData", os.Getenv("XDG_CACHE_HOME"))
	o := bytecode.Options{
		Java: bytecode.Java{Path: filepath.Join(t.TempDir(), "java")}, Mode: bytecode.Interpreter, Instructions: []string{"iadd"},
		Methods: []bytecode.Method{bytecode.Nano}, NoReference: true, Length: 10,
	}
	e := &bytecodeExperiment{flags: &bytecodeFlags{}, call: &call{header: &record.Header{Machine: &machine.Machine{CPU: "Test CPU"}}}}
	store, err := openBytecodeStore(e.header.Machine, o)
	if err != nil {
		t.Fatal(err)
	}
	before := &bytecode.Series{Java: o.Java, Mode: o.Mode, Length: o.Length, Instructions: o.Instructions, Starts: []bytecode.Start{{Complete: true}}}
	if err := store.save(before); err != nil {
		t.Fatal(err)
	}
	if r, err := e.runOne(t.Context(), o); err == nil || r == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if kept := store.load(); kept == nil || len(kept.Starts) != 1 {
		t.Errorf("%+v is kept", kept)
	}
}
