package gobench

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Loops says which loops of benchmarks have their single calls timed. For that, the source of the tests is
// rewritten on its way to the compiler, as go test -cover does; the files stay as they are.
type Loops int

// The choices of loops.
const (
	// StoppingLoops are those that stop and start their timer in each iteration. The testing package takes some
	// tens of microseconds for that, which can't be told from the time of many iterations.
	StoppingLoops Loops = iota
	AllLoops
)

//go:embed recorder
var recorders embed.FS

// overlay maps files to those that replace them while compiling (go help build, -overlay).
type overlay map[string]string

// with returns both overlays as one.
func (o overlay) with(other overlay) overlay {
	both := overlay{}
	maps.Copy(both, o)
	maps.Copy(both, other)
	return both
}

// flags writes the list of files, and returns the flags of go test that read it. It returns none if there is
// nothing to replace, or if the user replaces files too, by GOFLAGS or by go env -w.
func (o overlay) flags(ctx context.Context, dir, path string) ([]string, error) {
	if len(o) == 0 {
		return nil, nil
	}
	given, err := tool(ctx, dir, "go", "env", "GOFLAGS")
	if err != nil || strings.Contains(given, "-overlay") {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"Replace": o})
	return []string{"-overlay=" + path}, errors.Join(err, os.WriteFile(path, data, 0o600))
}

// recorded writes rewritten tests of a package into a folder, and returns what they replace; nothing if no loop
// of the tests is to be timed.
func recorded(p listed, folder string, of Loops) (overlay, error) {
	replaced := overlay{}
	add := func(path, text string) error {
		to := filepath.Join(folder, fmt.Sprintf("%d.go", len(replaced)))
		replaced[path] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	packages := map[string]bool{}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		path := filepath.Join(p.Dir, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text, in := recordCalls(source, of)
		if in == "" {
			continue
		}
		packages[in] = true
		if err := add(path, text); err != nil {
			return nil, err
		}
	}
	for in := range packages {
		for _, part := range []string{"recorder.go.txt", threadRecorder} {
			text, err := recorders.ReadFile("recorder/" + part)
			if err != nil {
				return nil, err
			}
			path := filepath.Join(p.Dir, fmt.Sprintf("zz_chronoscope_%s_%s_test.go", in, strings.TrimSuffix(part, ".go.txt")))
			if err := add(path, "package "+in+"\n\n"+string(text)); err != nil {
				return nil, err
			}
		}
	}
	return replaced, nil
}

// threadRecorder is the part of the recorder that asks the kernel about the thread.
var threadRecorder = map[bool]string{true: "thread_linux.go.txt", false: "thread_other.go.txt"}[runtime.GOOS == "linux"]

// recordCalls puts a call of the recorder at the beginning of each iteration of the loops over b.N and b.Loop.
// It returns the new source and the name of the package. The name is empty if there is no such loop, or if the
// source can't be parsed: the compiler reports that better.
func recordCalls(source []byte, of Loops) (text, in string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", ""
	}
	testing := testingName(file)
	if testing == "" {
		return "", ""
	}
	var after []loop
	for _, declared := range file.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok && f.Body != nil {
			after = append(after, loopsOf(f.Type, f.Body, testing)...)
		}
	}
	after = slices.DeleteFunc(after, func(l loop) bool { return of == StoppingLoops && !l.stops })
	if len(after) == 0 {
		return "", ""
	}
	slices.SortFunc(after, func(a, b loop) int { return int(a.brace - b.brace) })
	var rewritten strings.Builder
	from := 0
	for _, l := range after {
		to := files.Position(l.brace).Offset + 1
		rewritten.Write(source[from:to])
		fmt.Fprintf(&rewritten, " chronoscopeCall(%s, %v);", l.benchmark, l.stops)
		from = to
	}
	rewritten.Write(source[from:])
	return rewritten.String(), file.Name.Name
}

// testingName returns the name by which a file refers to the testing package; empty if it does not import it by
// a name.
func testingName(file *ast.File) string {
	for _, i := range file.Imports {
		switch {
		case i.Path.Value != `"testing"`:
		case i.Name == nil:
			return "testing"
		case i.Name.Name != "." && i.Name.Name != "_":
			return i.Name.Name
		}
	}
	return ""
}

// loop is a loop in which each iteration is a call.
type loop struct {
	benchmark string // the name of the *testing.B
	brace     token.Pos
	stops     bool // the loop stops the timer
}

// loopsOf returns the loops of a function that has a *testing.B parameter, and those of function literals in it
// that have one too. Loops in other function literals may run in other goroutines, and are left out.
func loopsOf(of *ast.FuncType, body *ast.BlockStmt, testing string) (all []loop) {
	benchmark := benchmarkParameter(of, testing)
	ast.Inspect(body, func(n ast.Node) bool {
		var inner *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncLit:
			all = append(all, loopsOf(n.Type, n.Body, testing)...)
			return false
		case *ast.ForStmt:
			if countsCalls(n, benchmark) {
				inner = n.Body
			}
		case *ast.RangeStmt:
			if isField(n.X, benchmark, "N") {
				inner = n.Body
			}
		}
		if inner != nil && benchmark != "" {
			all = append(all, loop{benchmark: benchmark, brace: inner.Lbrace, stops: stopsTimer(inner, benchmark)})
		}
		return true
	})
	return all
}

// countsCalls reports whether a loop runs b.N times, one by one, or as long as b.Loop returns true.
func countsCalls(n *ast.ForStmt, benchmark string) bool {
	switch condition := n.Cond.(type) {
	case *ast.CallExpr:
		return isField(condition.Fun, benchmark, "Loop")
	case *ast.BinaryExpr:
		step, ok := n.Post.(*ast.IncDecStmt)
		return ok && step.Tok == token.INC && (condition.Op == token.LSS || condition.Op == token.NEQ) && isField(condition.Y, benchmark, "N")
	}
	return false
}

// stopsTimer reports whether a loop's body stops the timer.
func stopsTimer(body *ast.BlockStmt, benchmark string) (stops bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isField(call.Fun, benchmark, "StopTimer") {
			stops = true
		}
		return !stops
	})
	return stops
}

func isField(x ast.Expr, of, field string) bool {
	selector, ok := x.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != field {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == of
}

// benchmarkParameter returns the name of the parameter that is a *testing.B; empty if there is none.
func benchmarkParameter(f *ast.FuncType, testing string) string {
	for _, p := range f.Params.List {
		if pointer, ok := p.Type.(*ast.StarExpr); ok && isField(pointer.X, testing, "B") && len(p.Names) > 0 && p.Names[0].Name != "_" {
			return p.Names[0].Name
		}
	}
	return ""
}
