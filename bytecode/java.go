package bytecode

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"chronoscope/clock"
)

// Java is a Java virtual machine on this system.
type Java struct {
	Path    string `json:"path"`    // of its launcher
	Version string `json:"version"` // as the machine reports it, such as "17.0.15"
	Name    string `json:"name"`    // as the machine reports it, such as "OpenJDK 64-Bit Server VM"
}

// oldestJava is the first Java version that loads the class files that this package writes.
const oldestJava = 5

// FindJava finds a launcher. If path is not empty, it is the launcher or the home of a JDK. Otherwise
// FindJava uses JAVA_HOME, and then PATH. The error is a [*clock.Unavailable]; if there is no launcher,
// it names a package that contains one.
func FindJava(ctx context.Context, path string) (Java, error) {
	launcher, err := findLauncher(path)
	if err != nil {
		return Java{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, launcher, "-version")
	command.WaitDelay = time.Second
	said, err := command.CombinedOutput()
	if err != nil {
		return Java{}, noJava(fmt.Sprintf("%s -version: %v; it said %q", launcher, err, excerpt(said)), unsetOr("name another with its path"))
	}
	j := Java{Path: launcher}
	j.Version, j.Name = parseVersion(said)
	if major := j.Major(); major < oldestJava {
		return j, noJava(fmt.Sprintf("%s is of version %q, and Java %d is the oldest that will do", launcher, j.Version, oldestJava), javaRemedy)
	}
	return j, nil
}

const javaRemedy = "install a Java runtime, such as the package default-jre-headless of Debian and its kin"

// unsetOr returns a remedy. If the environment has options for Java, which may be the cause, it is to unset them, or the
// other one.
func unsetOr(other string) string {
	for _, variable := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		if os.Getenv(variable) != "" {
			return "unset " + variable + ", or " + other
		}
	}
	return other
}

func noJava(detail, remedy string) *clock.Unavailable {
	return &clock.Unavailable{Name: "java", Reason: clock.NotSupportedHere, Detail: detail, Remedy: remedy}
}

// findLauncher returns the path of the java launcher: path itself, or bin/java in the folder path. If path is empty,
// it looks in JAVA_HOME and then in PATH.
func findLauncher(path string) (string, error) {
	name := "java"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	inHome := func(home string) string { return filepath.Join(home, "bin", name) }
	if path != "" {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = inHome(path)
		}
		found, err := exec.LookPath(path)
		if err != nil {
			return "", noJava(fmt.Sprintf("%s: %v", path, err), "name the launcher, or the folder of a JDK")
		}
		return found, nil
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if found, err := exec.LookPath(inHome(home)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", noJava("there is no program java in JAVA_HOME or PATH", javaRemedy)
	}
	return found, nil
}

// parseVersion extracts the version and the name from the output of java -version: the first quoted
// version, and the name from the last line, before "(build".
func parseVersion(said []byte) (version, name string) {
	lines := bufio.NewScanner(bytes.NewReader(said))
	for lines.Scan() {
		line := lines.Text()
		if _, rest, ok := strings.Cut(line, ` version "`); ok && version == "" {
			version, _, _ = strings.Cut(rest, `"`)
		}
		if before, _, ok := strings.Cut(line, " (build "); ok {
			name = before
		}
	}
	return excerpt([]byte(version)), excerpt([]byte(name))
}

// Major returns the major version: 8 for 1.8.0_402, 17 for 17.0.15, 0 if the version has no number.
func (j Java) Major() int {
	parts := strings.FieldsFunc(j.Version, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) > 1 && parts[0] == "1" {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return 0
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0
	}
	return major
}

// excerpt returns the beginning of a program's output, on one line.
func excerpt(said []byte) string {
	const most = 300
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "?")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " ..."
	}
	return text
}
