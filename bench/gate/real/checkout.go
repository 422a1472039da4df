package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkout is a module in a git checkout, whose last commit is the module without changes.
type checkout struct{ dir string }

// suite is a module of five quick benchmarks. Each repeats its work as many times as its constant says.
//
//go:embed testdata/suite
var suite embed.FS

// checkOut puts the module into a fresh checkout.
func (e experiment) checkOut(ctx context.Context, dir string) (checkout, error) {
	c := checkout{filepath.Join(dir, "module")}
	switch {
	case e.generated > 0:
		if err := os.Mkdir(c.dir, 0o755); err != nil {
			return c, err
		}
		if err := generate(c.dir, e.generated); err != nil {
			return c, err
		}
	case e.module == "":
		files, err := fs.Sub(suite, "testdata/suite")
		if err != nil {
			return c, err
		}
		if err := os.CopyFS(c.dir, files); err != nil {
			return c, err
		}
		if err := os.Rename(filepath.Join(c.dir, "go.mod.txt"), filepath.Join(c.dir, "go.mod")); err != nil {
			return c, err
		}
	default:
		if err := copyModule(c.dir, e.module); err != nil {
			return c, err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=gate", "-c", "user.email=gate@localhost", "commit", "-q", "-m", "base"}} {
		if _, err := c.git(ctx, args...); err != nil {
			return c, err
		}
	}
	return c, nil
}

// copyModule copies a module's files, which are read-only in a module cache, as writable ones.
func copyModule(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}

func (c checkout) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", c.dir}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// tree returns git's name for the content of the module.
func (c checkout) tree(ctx context.Context) (string, error) {
	return c.git(ctx, "rev-parse", "HEAD^{tree}")
}

// reset undoes all changes.
func (c checkout) reset(ctx context.Context) error {
	_, err := c.git(ctx, "checkout", "-q", "-f", "HEAD", "--", ".")
	return err
}

// rounds matches a constant of the small suite, which says how often a benchmark repeats its work.
var rounds = regexp.MustCompile(`(?m)^const rounds(\w+) = (\d+)$`)

// turns returns the number of iterations to one in which the body runs twice, so that a benchmark takes longer by the share.
// It returns an error if no number comes within a tenth of the share.
func turns(share float64) (int, error) {
	n := max(1, math.Round(1/share))
	if math.Abs(1/n-share) > share/10 {
		return 0, fmt.Errorf("-planted %g: in a module the body of a loop runs twice in one iteration of n: choose 1, 0.5, 0.33, 0.25 or less", share)
	}
	return int(n), nil
}

// functions returns what chooses functions in an expression of go test -bench: of each alternative what stands before its first
// slash. Slashes and bars within brackets and parentheses separate nothing.
func functions(bench string) string {
	var chosen []byte
	brackets, parentheses, inName := 0, 0, true
	for i := 0; i < len(bench); i++ {
		from := i
		switch c := bench[i]; {
		case c == '\\' && i+1 < len(bench):
			i++
		case c == '[':
			brackets++
		case c == ']':
			brackets = max(0, brackets-1)
		case brackets > 0:
		case c == '(':
			parentheses++
		case c == ')':
			parentheses--
		case c == '/' && parentheses == 0:
			inName = false
		case c == '|' && parentheses == 0:
			inName = true
		}
		if inName {
			chosen = append(chosen, bench[from:i+1]...)
		}
	}
	return string(chosen)
}

// plant makes n benchmarks, of those that the expression chooses, take longer by the given share, and returns their names.
func (c checkout) plant(seed int, share float64, n int, bench string) (names []string, err error) {
	chosen, err := regexp.Compile(functions(bench))
	if err != nil {
		return nil, err
	}
	for try := range n {
		name, err := c.slow(seed+1000*try, share, func(name string) bool { return chosen.MatchString(name) && !slices.Contains(names, name) })
		if err != nil {
			return nil, fmt.Errorf("%d of %d benchmarks were slowed, then: %w", len(names), n, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// slow makes one benchmark take longer by the given share, and returns its name. In the small suite it raises the count of
// repetitions. In other modules the body of the loop runs once more in some iterations.
func (c checkout) slow(seed int, share float64, isOpen func(name string) bool) (name string, err error) {
	path, content, at, err := c.pick(seed, "_test.go", func(content []byte) (all []int) {
		for _, m := range rounds.FindAllSubmatchIndex(content, -1) {
			if isOpen("Benchmark" + string(content[m[2]:m[3]])) {
				all = append(all, m[0])
			}
		}
		return all
	}, func(content []byte) (all []int) {
		for _, l := range timedLoops(content) {
			if isOpen(l.name) {
				all = append(all, l.at)
			}
		}
		return all
	})
	if err != nil {
		return "", err
	}
	if m := rounds.FindSubmatchIndex(content[at:]); m != nil && m[0] == 0 {
		n, err := strconv.Atoi(string(content[at+m[4] : at+m[5]]))
		if err != nil {
			return "", err
		}
		return "Benchmark" + string(content[at+m[2]:at+m[3]]), splice(path, content, at+m[4], at+m[5], strconv.Itoa(int(float64(n)*(1+share)+0.5)))
	}
	n, err := turns(share)
	if err != nil {
		return "", err
	}
	all := timedLoops(content)
	l := all[slices.IndexFunc(all, func(l timedLoop) bool { return l.at == at })]
	// A line of its own ends a comment after the body.
	body := strings.TrimRight(string(content[l.first:l.last]), "\n\t ")
	again := fmt.Sprintf("\n\t\tif planted%[1]s++; planted%[1]s%%%[2]d == 0 {%[3]s\n\t\t}\n\t", l.name, n, strings.ReplaceAll(body, "\n\t\t", "\n\t\t\t"))
	return l.name, splice(path, fmt.Appendf(content, "\nvar planted%s int\n", l.name), l.first+len(body), l.last, again)
}

// starts returns a function that finds the offsets at which an expression matches.
func starts(e *regexp.Regexp) func([]byte) []int {
	return func(content []byte) (all []int) {
		for _, m := range e.FindAllIndex(content, -1) {
			all = append(all, m[0])
		}
		return all
	}
}

// edit makes one of four edits that change nothing, at a place chosen by the seed, and returns its kind. What it adds is
// called once, when the package is initialised, since the linker leaves out what nothing calls.
func (c checkout) edit(seed int) (name string, err error) {
	path, content, at, err := c.pick(seed, ".go", starts(regexp.MustCompile(`(?m)^func \w+\(`)))
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0xed17))
	size := 1 + rng.IntN(40)
	added := func(argument, kind, body string) error {
		return splice(path, content, at, at, fmt.Sprintf("var Kept%[1]d = kept%[1]d(%[2]s)\n\n//go:noinline\nfunc kept%[1]d(x %[3]s) int {\n%[4]s}\n\n", seed, argument, kind, body))
	}
	switch name = []string{"comment", "function", "string", "import"}[seed%4]; name {
	case "comment":
		return name, splice(path, content, at, at, strings.Repeat("// Nothing else is said of it.\n", size)+"\n")
	case "function":
		return name, added("1", "int", strings.Repeat("\tx = x*3 + x>>1\n", size)+"\treturn x\n")
	case "string":
		return name, added(strconv.Quote(strings.Repeat("longer and longer ", size)), "string", "\treturn len(x)\n")
	}
	imported := []string{"expvar", "net/rpc", "encoding/xml", "text/template", "archive/zip", "image/png", "go/format", "database/sql"}[rng.IntN(8)]
	clause := regexp.MustCompile(`(?m)^package \w+.*\n`).FindIndex(content)
	return name + " " + imported, splice(path, content, clause[1], clause[1], fmt.Sprintf("\nimport _ %q\n", imported))
}

// directive matches a line for the compiler, which has to stay above its function.
var directive = regexp.MustCompile(`(?m)^//go:\w+.*\n\z`)

// pick chooses a random place in files whose names have the suffix, among the places that the first function with a result finds.
func (c checkout) pick(seed int, suffix string, finds ...func(content []byte) []int) (path string, content []byte, at int, err error) {
	type place struct {
		path    string
		content []byte
		at      int
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "*"+suffix))
	if err != nil {
		return "", nil, 0, err
	}
	var places []place
	for _, find := range finds {
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") != (suffix == "_test.go") {
				continue
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return "", nil, 0, err
			}
			if bytes.Contains(content, []byte("//go:build")) {
				continue
			}
			for _, at := range find(content) {
				if directive.Match(content[:at]) {
					continue
				}
				places = append(places, place{path, content, at})
			}
		}
		if len(places) > 0 {
			break
		}
	}
	if len(places) == 0 {
		return "", nil, 0, fmt.Errorf("no file of %s that ends in %s has a place for a change", c.dir, suffix)
	}
	p := places[rand.New(rand.NewPCG(uint64(seed), 0x9ace)).IntN(len(places))]
	return p.path, p.content, p.at, nil
}

// code returns a hash of the machine code of the test binary of the module's first package. It leaves out line numbers, data, and the
// number of the build.
func (c checkout) code(ctx context.Context) (string, error) {
	binary := c.dir + ".test"
	defer os.Remove(binary)
	if out, err := exec.CommandContext(ctx, "go", "test", "-C", c.dir, "-c", "-ldflags=-buildid=", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %w: %s", err, out)
	}
	file, err := elf.Open(binary)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text := file.Section(".text")
	if text == nil {
		return "", fmt.Errorf("%s has no machine code", binary)
	}
	code, err := text.Data()
	return fmt.Sprintf("%x", sha256.Sum256(code)), err
}

// splice writes a file with the bytes between from and to replaced by text.
func splice(path string, content []byte, from, to int, text string) error {
	return os.WriteFile(path, slices.Concat(content[:from], []byte(text), content[to:]), 0o644)
}
