package program

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// longestInterpreter is the number of bytes of a script's first line that the kernel reads.
const longestInterpreter = 256

// interpreter returns the interpreter that the first line of a script names; empty if the command is no script.
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
