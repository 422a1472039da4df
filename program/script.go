package program

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// longestInterpreter is how much of a script's first line the kernel reads.
const longestInterpreter = 256

// interpreter is what runs a command that is a script, as its first line says; empty where it
// is a program.
func interpreter(command string) string {
	path, err := exec.LookPath(command)
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, longestInterpreter))
	if err != nil {
		return ""
	}
	line, script := strings.CutPrefix(string(start), "#!")
	if !script {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	return strings.TrimSpace(line)
}
