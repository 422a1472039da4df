package gobench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"chronoscope/process"
)

// Build is the compiled tests of some packages.
type Build struct {
	// Tests are benchmarks without a name, one for each package that has tests.
	Tests []Benchmark
	// Failed says of packages that did not compile what the compiler said.
	Failed []error
}

// Compile compiles the tests of the packages that the patterns name (go help
// packages), as seen from dir, into the directory into.
func Compile(ctx context.Context, dir, into string, patterns []string) (Build, error) {
	packages, err := list(ctx, dir, patterns)
	if err != nil {
		return Build{}, err
	}
	var b Build
	for i, p := range packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		binary := filepath.Join(into, strconv.Itoa(i)+".test")
		if _, err := tool(ctx, dir, "go", "test", "-c", "-o", binary, p.ImportPath); err != nil {
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			b.Failed = append(b.Failed, fmt.Errorf("compiling the tests of %s: %w", p.ImportPath, err))
			continue
		}
		if _, err := os.Stat(binary); err == nil {
			b.Tests = append(b.Tests, Benchmark{Package: p.ImportPath, Dir: p.Dir, Binary: binary})
		}
	}
	return b, nil
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
}

func list(ctx context.Context, dir string, patterns []string) ([]listed, error) {
	output, err := tool(ctx, dir, "go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "--"}, patterns...)...)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("finding the packages %s: there is no go command in PATH: install Go, or add the folder of its go command to PATH", strings.Join(patterns, " "))
	}
	if err != nil {
		return nil, fmt.Errorf("finding the packages %s: %w: ask for packages of the module that you are in, or go to theirs first", strings.Join(patterns, " "), err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(output)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("finding the packages: go list printed what is no JSON: %w", err)
		}
		all = append(all, p)
	}
}

// tool runs a program of the developer's and returns what it prints. Its error holds
// what it said.
func tool(ctx context.Context, dir, name string, args ...string) (string, error) {
	var output strings.Builder
	var said tail
	run, err := process.Command{Path: name, Args: args, Dir: dir, Stdout: &output, Stderr: &said, Untraced: true}.Run(ctx)
	if err == nil {
		err = run.Failure()
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return output.String(), nil
}
