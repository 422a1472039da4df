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
	"slices"
	"strconv"
	"strings"

	"chronoscope/internal/gitcommand"
	"chronoscope/process"
)

// Build is the compiled tests of some packages.
type Build struct {
	// Tests are benchmarks without a name, one for each package that has tests.
	Tests []Benchmark
	// Failed are the packages that did not compile.
	Failed []*PackageError
}

// PackageError says why the benchmarks of a package can't be measured.
type PackageError struct {
	Package string // its import path
	Err     error
}

// Error returns the reason, which names the package.
func (e *PackageError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *PackageError) Unwrap() error { return e.Err }

// Building is how tests are compiled.
type Building struct {
	Tags    string // as of go build -tags
	LDFlags string // as of go build -ldflags
	Race    bool
	// Layouts is the number of orders of functions in which [Arrange] links a package besides the usual one (go tool
	// link -randlayout); 0 and 1 stand for none.
	Layouts int
	// Seed determines the orders. Two revisions with the same functions get the same orders.
	Seed uint64
	// Calls adds a binary of each package that can time single calls of all its benchmarks.
	Calls bool
	// MayLack leaves out packages that do not exist, in place of an error.
	MayLack bool
	// NoWorkspace compiles without a go.work, also where a folder above has one.
	NoWorkspace bool

	// temporary is the folder for temporary files of the go command, and of the linkers that it starts. Interrupted, they are
	// killed, and leave their files behind.
	temporary string
}

// tool runs the go command, and returns its standard output.
func (b Building) tool(ctx context.Context, dir string, args ...string) (string, error) {
	env := append(gitcommand.Elsewhere(), "GOTMPDIR="+b.temporary, "TMPDIR="+b.temporary)
	if b.NoWorkspace {
		env = append(env, "GOWORK=off")
	}
	unique := (&exec.Cmd{Env: env}).Environ() // the last of those with one name
	return toolWith(ctx, unique, dir, "go", args...)
}

// flags returns the flags for go list and go test.
func (b Building) flags() (flags []string) {
	if b.Tags != "" {
		flags = append(flags, "-tags="+b.Tags)
	}
	if b.Race {
		flags = append(flags, "-race")
	}
	return flags
}

// link returns the linker flags for the layout with that index.
func (b Building) link(layout int) (flags []string) {
	ldflags := b.LDFlags
	if layout > 0 {
		order := 1 + (b.Seed+uint64(layout)*0x9e3779b1)%(1<<31-1) // 0 is the usual order
		ldflags = strings.TrimSpace(fmt.Sprintf("%s -randlayout=%d", ldflags, order))
	}
	if ldflags == "" {
		return nil
	}
	return []string{"-ldflags=" + ldflags}
}

// withGoFlags returns the flags for the linker: its own, or else those of GOFLAGS, which a flag for a layout would replace.
func (b Building) withGoFlags(ctx context.Context, dir string) (ldflags string, err error) {
	if b.LDFlags != "" {
		return b.LDFlags, nil
	}
	all, err := tool(ctx, dir, "go", "env", "GOFLAGS")
	if err != nil {
		return "", err
	}
	for _, word := range quotedFields(all) {
		if flags, given := strings.CutPrefix(strings.TrimLeft(word, "-"), "ldflags="); given {
			ldflags = flags
		}
	}
	return ldflags, nil
}

// forSomePackages returns an error if the flags for the linker begin with a pattern of packages (go help build). The flag for a
// layout would then be one of these flags, and have no effect on other packages.
func (b Building) forSomePackages() error {
	if flags := strings.TrimSpace(b.LDFlags); flags == "" || flags[0] == '-' {
		return nil
	}
	return fmt.Errorf("the linker's flags %q begin with a pattern of packages: leave it out", b.LDFlags)
}

// quotedFields splits a text at spaces, but for those within fields that begin and end with a quotation mark, as the go command
// splits GOFLAGS.
func quotedFields(text string) (fields []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := " "
		if text[0] == '\'' || text[0] == '"' {
			end, text = text[:1], text[1:]
		}
		field, rest, _ := strings.Cut(text, end)
		fields, text = append(fields, field), rest
	}
	return fields
}

// Compile compiles the tests of the packages that the patterns name (go help
// packages), as seen from dir, into the directory into. The temporary files of the go command are in that directory, too.
func Compile(ctx context.Context, dir, into string, patterns []string, building Building) (Build, error) {
	var err error
	if building.temporary, err = filepath.Abs(filepath.Join(into, "temporary")); err != nil {
		return Build{}, err
	}
	if err := os.Mkdir(building.temporary, 0o700); err != nil {
		return Build{}, err
	}
	packages, err := building.list(ctx, dir, patterns)
	if err != nil {
		return Build{}, err
	}
	if i := slices.IndexFunc(packages, listed.isMissing); i >= 0 && !(building.MayLack && inModule(ctx, dir)) {
		return Build{}, fmt.Errorf("finding the packages %s: %s: %s", strings.Join(patterns, " "), packages[i].Error.Err, elsewhere)
	}
	packages = slices.DeleteFunc(packages, listed.isMissing)
	if building.Layouts > 1 {
		building.LDFlags, err = building.withGoFlags(ctx, dir)
		if err != nil {
			return Build{}, err
		}
	}
	account, err := building.accounting(ctx, dir, into)
	if err != nil {
		return Build{}, fmt.Errorf("preparing the testing package: %w", err)
	}
	var b Build
	for i, p := range packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 && p.Error == nil { // the compiler says what the error is
			continue
		}
		test, err := building.compile(ctx, dir, filepath.Join(into, strconv.Itoa(i)), p, account)
		if err != nil {
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			b.Failed = append(b.Failed, &PackageError{p.ImportPath, fmt.Errorf("compiling the tests of %s: %w", p.ImportPath, err)})
			continue
		}
		if _, err := os.Stat(test.Binary); err == nil {
			b.Tests = append(b.Tests, test)
		}
	}
	return b, nil
}

// compile compiles the tests of a package into binaries whose names begin with base. replaced are the files to
// replace.
func (b Building) compile(ctx context.Context, dir, base string, p listed, replaced overlay) (test Benchmark, err error) {
	test = Benchmark{Package: p.ImportPath, Dir: p.Dir, Binary: base + ".test"}
	link := func(ctx context.Context, binary string, layout int, replaced overlay) error {
		overlaid, err := replaced.flags(ctx, dir, binary+".json")
		if err != nil {
			return err
		}
		flags := slices.Concat([]string{"test", "-c", "-o", binary}, overlaid, b.flags(), b.link(layout))
		_, err = b.tool(ctx, dir, append(flags, p.ImportPath)...)
		return err
	}
	stopping, err := recorded(p, base+".stopping", StoppingLoops)
	if err != nil {
		return test, err
	}
	stopping = replaced.with(stopping)
	err = link(ctx, test.Binary, 0, stopping)
	if err != nil && ctx.Err() == nil {
		stopping = nil
		err = link(ctx, test.Binary, 0, nil) // if this fails too, its error is that of the usual testing package
	}
	if err != nil {
		return test, err
	}
	test.Orders = &Orders{First: b.Layouts, failed: b.forSomePackages(), Link: func(ctx context.Context, layout int) (string, error) {
		binary := fmt.Sprintf("%s.%d.test", base, layout)
		return binary, link(ctx, binary, layout, stopping)
	}}
	if !b.Calls {
		return test, nil
	}
	all, err := recorded(p, base+".all", AllLoops)
	if len(all) == 0 || err != nil {
		return test, err
	}
	test.CallsBinary = base + ".calls.test"
	return test, link(ctx, test.CallsBinary, 0, all)
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Error                     *struct{ Err string } // nil if it can be loaded
}

// isMissing reports whether the package does not exist. One that exists, but can't be loaded, has a folder.
func (p listed) isMissing() bool { return p.Error != nil && p.Dir == "" }

// inModule reports whether dir is in a Go module. Elsewhere go list -e reports packages that exist as missing.
func inModule(ctx context.Context, dir string) bool {
	file, err := tool(ctx, dir, "go", "env", "GOMOD")
	file = strings.TrimSpace(file)
	return err == nil && file != "" && file != os.DevNull
}

// elsewhere is the remedy for packages that are not in the module of the folder, or where there is no module.
const elsewhere = "ask for packages of the module in the current folder, or change to the folder of their module"

// list returns the packages that the patterns name, also those that are missing or can't be loaded, with their errors.
func (b Building) list(ctx context.Context, dir string, patterns []string) ([]listed, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Error"}, b.flags()...)
	output, err := b.tool(ctx, dir, slices.Concat(args, []string{"--"}, patterns)...)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("finding the packages %s: there is no go command in PATH: install Go, or add the folder of its go command to PATH", strings.Join(patterns, " "))
	}
	if err != nil && !inModule(ctx, dir) {
		return nil, fmt.Errorf("finding the packages %s: %w\n%s", strings.Join(patterns, " "), err, elsewhere)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the packages %s: %w", strings.Join(patterns, " "), err)
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

// tool runs one of the developer's programs and returns its standard output. If it fails, the error holds what
// it wrote to standard error.
func tool(ctx context.Context, dir, name string, args ...string) (string, error) {
	return toolWith(ctx, nil, dir, name, args...)
}

// git is tool for git commands on the repository around dir.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return toolWith(ctx, gitcommand.Environment(ctx, dir), dir, "git", args...)
}

// toolWith is tool with an environment; nil is this process's own.
func toolWith(ctx context.Context, env []string, dir, name string, args ...string) (string, error) {
	var output strings.Builder
	var said tail
	run, err := process.Command{Path: name, Args: args, Env: env, Dir: dir, Stdout: &output, Stderr: &said, Untraced: true}.Run(ctx)
	if err == nil {
		err = run.Failure()
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
		if text := strings.TrimSpace(said.String()); text != "" {
			err = fmt.Errorf("%w\n%s", err, text)
		}
		return "", err
	}
	return output.String(), nil
}
