package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
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
		if err := c.git(ctx, args...); err != nil {
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

func (c checkout) git(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "git", append([]string{"-C", c.dir}, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// reset undoes all changes.
func (c checkout) reset(ctx context.Context) error {
	return c.git(ctx, "checkout", "-q", "-f", "HEAD", "--", ".")
}

// rounds matches a constant of the small suite, which says how often a benchmark repeats its work. loop matches a
// benchmark with a loop, in any module.
var (
	rounds = regexp.MustCompile(`(?m)^const rounds(\w+) = (\d+)$`)
	loop   = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(b \*testing\.B\) \{\n(?:.*\n)*?\tfor .*\{\n((?:\t\t.*\n)+)\t\}\n`)
)

// plant makes n benchmarks take longer by the given share, and returns their names.
func (c checkout) plant(seed int, share float64, n int) (names []string, err error) {
	for try := 0; len(names) < n; try++ {
		if try == 100*n {
			return nil, fmt.Errorf("%s has no %d benchmarks that can be slowed", c.dir, n)
		}
		name, err := c.slow(seed+1000*try, share, names)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// slow makes one benchmark take longer by the given share, unless it is one of those already slowed, and returns its
// name. In the small suite it raises the count of repetitions. In other modules the body of the loop runs once more in
// some iterations.
func (c checkout) slow(seed int, share float64, slowed []string) (name string, err error) {
	path, content, at, err := c.pick(seed, "_test.go", rounds, loop)
	if err != nil {
		return "", err
	}
	if m := rounds.FindSubmatchIndex(content[at:]); m != nil && m[0] == 0 {
		n, err := strconv.Atoi(string(content[at+m[4] : at+m[5]]))
		if err != nil {
			return "", err
		}
		if name = "Benchmark" + string(content[at+m[2]:at+m[3]]); slices.Contains(slowed, name) {
			return name, nil
		}
		return name, splice(path, content, at+m[4], at+m[5], strconv.Itoa(int(float64(n)*(1+share)+0.5)))
	}
	m := loop.FindSubmatchIndex(content[at:])
	body := string(content[at+m[4] : at+m[5]])
	if name = string(content[at+m[2] : at+m[3]]); slices.Contains(slowed, name) {
		return name, nil
	}
	again := fmt.Sprintf("\t\tif planted%[1]s++; planted%[1]s%%%[2]d == 0 {\n%[3]s\t\t}\n", name, int(1/share+0.5), strings.ReplaceAll(body, "\t\t", "\t\t\t"))
	return name, splice(path, fmt.Appendf(content, "\nvar planted%s int\n", name), at+m[5], at+m[5], again)
}

// edit makes one of four edits that change nothing, at a place chosen by the seed, and returns its kind.
func (c checkout) edit(seed int) (name string, err error) {
	path, content, at, err := c.pick(seed, ".go", regexp.MustCompile(`(?m)^func \w+\(`))
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0xed17))
	size := 1 + rng.IntN(40)
	switch name = []string{"comment", "unused function", "longer string", "import"}[seed%4]; name {
	case "comment":
		return name, splice(path, content, at, at, strings.Repeat("// Nothing else is said of it.\n", size)+"\n")
	case "unused function":
		// A variable refers to it, since the linker leaves out what nothing refers to.
		return name, splice(path, content, at, at, fmt.Sprintf("var Kept%[1]d = kept%[1]d\n\nfunc kept%[1]d(x int) int {\n%[2]s\treturn x\n}\n\n", seed, strings.Repeat("\tx = x*3 + x>>1\n", size)))
	case "longer string":
		return name, splice(path, content, at, at, fmt.Sprintf("var Kept%d = %q\n\n", seed, strings.Repeat("longer and longer ", size)))
	}
	imported := []string{"expvar", "net/rpc", "encoding/xml", "text/template", "archive/zip", "image/png", "go/format", "database/sql"}[rng.IntN(8)]
	clause := regexp.MustCompile(`(?m)^package \w+.*\n`).FindIndex(content)
	return name + " " + imported, splice(path, content, clause[1], clause[1], fmt.Sprintf("\nimport _ %q\n", imported))
}

// directive matches a line for the compiler, which has to stay above its function.
var directive = regexp.MustCompile(`(?m)^//go:\w+.*\n\z`)

// pick chooses a random place that one of the expressions matches, in a file whose name has the suffix.
func (c checkout) pick(seed int, suffix string, expressions ...*regexp.Regexp) (path string, content []byte, at int, err error) {
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
	for _, e := range expressions {
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
			for _, m := range e.FindAllIndex(content, -1) {
				if directive.Match(content[:m[0]]) {
					continue
				}
				places = append(places, place{path, content, m[0]})
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

// splice writes a file with the bytes between from and to replaced by text.
func splice(path string, content []byte, from, to int, text string) error {
	return os.WriteFile(path, slices.Concat(content[:from], []byte(text), content[to:]), 0o644)
}
