package gobench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// Locate finds where the function of a benchmark is declared, in the tests of its directory. The file is empty
// if it is not found.
func Locate(b Benchmark) (file string, line int) {
	name, _, _ := strings.Cut(b.plainName(), "/")
	files, err := filepath.Glob(filepath.Join(b.Dir, "*_test.go"))
	if err != nil {
		return "", 0
	}
	positions := token.NewFileSet()
	for _, file := range files {
		parsed, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				return file, positions.Position(f.Pos()).Line
			}
		}
	}
	return "", 0
}
