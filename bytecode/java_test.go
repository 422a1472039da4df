package bytecode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"chronoscope/clock"
)

// The outputs of java -version are from the vendors' documentation.
func TestVersion(t *testing.T) {
	for _, c := range []struct {
		said, version, name string
		major               int
	}{
		{"openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)\nOpenJDK 64-Bit Server VM (build 17.0.15+6, mixed mode)\n", "17.0.15", "OpenJDK 64-Bit Server VM", 17},
		{"java version \"1.8.0_402\"\nJava(TM) SE Runtime Environment (build 1.8.0_402-b08)\nJava HotSpot(TM) 64-Bit Server VM (build 25.402-b08, mixed mode)\n", "1.8.0_402", "Java HotSpot(TM) 64-Bit Server VM", 8},
		{"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"25\" 2025-09-16\n", "25", "", 25},
		{"java version \"1.4.2\"\n", "1.4.2", "", 4},
		{"", "", "", 0},
		{"no version at all", "", "", 0},
		{"x version \"99999999999999999999\"", "99999999999999999999", "", 0},
	} {
		version, name := parseVersion([]byte(c.said))
		if j := (Java{Version: version, Name: name}); j.Version != c.version || j.Name != c.name || j.Major() != c.major {
			t.Errorf("%q: %q, %q, %d", c.said, version, name, j.Major())
		}
	}
}

func FuzzVersion(f *testing.F) {
	f.Add([]byte("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK VM (build 17)\n"))
	f.Add([]byte(" version \"1."))
	f.Fuzz(func(t *testing.T, said []byte) {
		version, name := parseVersion(said)
		if (Java{Version: version}).Major() < 0 || len(version) > 400 || len(name) > 400 {
			t.Errorf("%q, %q", version, name)
		}
	})
}

// script writes a launcher that is a shell script and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	path := filepath.Join(t.TempDir(), "java")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindJavaRefuses(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"not there":     {filepath.Join(t.TempDir(), "java"), "name the launcher"},
		"an empty home": {t.TempDir(), "name the launcher"},
		"too old":       {script(t, "echo 'java version \"1.4.2\"' >&2"), "Java 5 is the oldest"},
		"broken":        {script(t, "echo out of luck >&2; exit 3"), "out of luck"},
		"something":     {script(t, "echo hello"), "Java 5 is the oldest"},
	} {
		_, err := FindJava(t.Context(), c.path)
		var unavailable *clock.Unavailable
		if !errors.As(err, &unavailable) || unavailable.Remedy == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	if _, err := FindJava(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "default-jre-headless") {
		t.Errorf("no Java: %v, want the package", err)
	}
}

// If an option in the environment may be the cause, the remedy names its variable.
func TestRemedyForOptionsOfTheEnvironment(t *testing.T) {
	broken := script(t, "echo 'Unrecognized VM option Foo' >&2; exit 1")
	for _, c := range []struct{ variable, want string }{{"", "name another with its path"}, {"JAVA_TOOL_OPTIONS", "unset JAVA_TOOL_OPTIONS, or name another with its path"}} {
		for _, v := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
			t.Setenv(v, "")
		}
		if c.variable != "" {
			t.Setenv(c.variable, "-XX:+Foo")
		}
		_, err := FindJava(t.Context(), broken)
		var unavailable *clock.Unavailable
		if !errors.As(err, &unavailable) || unavailable.Remedy != c.want {
			t.Errorf("%q is set: %v, want %q", c.variable, err, c.want)
		}
	}
}

func TestFindJavaByHome(t *testing.T) {
	launcher := script(t, "echo 'openjdk version \"21.0.1\"' >&2")
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(launcher, filepath.Join(home, "bin", "java")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
	for _, path := range []string{"", home} {
		if j, err := FindJava(context.Background(), path); err != nil || j.Version != "21.0.1" || j.Path != filepath.Join(home, "bin", "java") {
			t.Errorf("%q: %+v, %v", path, j, err)
		}
	}
}

// answerOf returns a complete answer with the given numbers.
func answerOf(longs ...int64) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, append([]int64{magicLong, int64(len(longs) + headerLongs)}, longs...))
	return b.Bytes()
}

func FuzzAnswer(f *testing.F) {
	whole := answerOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	f.Add(whole, 16)
	f.Add(whole[:40], 16)
	f.Add([]byte("OpenJDK 64-Bit Server VM warning: something"), 16)
	f.Fuzz(func(t *testing.T, data []byte, longs int) {
		if longs < headerLongs || longs > 1000 {
			return
		}
		answer, err := readAnswer(bufio.NewReader(bytes.NewReader(data)), longs)
		if err != nil {
			return
		}
		methods := []Method{Counter, Discrete, TSC}
		blocks, err := readBlocks(answer, methods, 8)
		if err != nil || len(blocks) == 0 {
			return
		}
		stretch, err := newStretch("x", 0, blocks, methods)
		if err == nil && (stretch.Kept[Counter].Trials > stretch.All.Trials || stretch.CountsAMilli < 0) {
			t.Errorf("%+v", stretch)
		}
	})
}
