package gobench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Locate finds where the function of a benchmark is declared, in the tests of its directory. The file is empty
// if it is not found.
func Locate(b Benchmark) (file string, line int) {
	function, _, _ := strings.Cut(b.plainName(), "/")
	names, _ := fs.Glob(os.DirFS(b.Dir), "*_test.go") // the directory's path is no pattern: it may contain [
	positions := token.NewFileSet()
	for _, name := range names {
		file := filepath.Join(b.Dir, name)
		parsed, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == function {
				return file, positions.Position(f.Pos()).Line
			}
		}
	}
	return "", 0
}
