package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// timedLoop is the loop of a benchmark whose iterations the benchmark's timer counts.
type timedLoop struct {
	name        string // of the benchmark
	at          int    // offset of the loop
	first, last int    // offsets of the body: after its opening brace, and of its closing brace
}

// timedLoops returns for each benchmark in a file its last loop over b.N or b.Loop(). It leaves a loop out if the
// timer does not run there, if running the body once more in an iteration would not make it longer, or if the body's
// text can't be copied. A file that can't be parsed has no loops.
func timedLoops(content []byte) (all []timedLoop) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", content, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Recv != nil || f.Body == nil || !strings.HasPrefix(f.Name.Name, "Benchmark") || len(f.Type.Params.List) != 1 || len(f.Type.Params.List[0].Names) != 1 {
			continue
		}
		b := f.Type.Params.List[0].Names[0].Name
		var loop *timedLoop
		running := true
		for _, s := range f.Body.List {
			switch called(s, b) {
			case "StopTimer":
				running = false
			case "StartTimer":
				running = true
			case "ResetTimer":
				loop = nil
			}
			if body := iterations(s, b); body != nil && running && canBeCopied(body) {
				loop = &timedLoop{f.Name.Name, offset(s.Pos()), offset(body.Lbrace) + 1, offset(body.Rbrace)}
			}
		}
		if loop != nil {
			all = append(all, *loop)
		}
	}
	return all
}

// called returns the name of the method of b that a statement calls; empty if it calls none.
func called(s ast.Stmt, b string) string {
	if x, is := s.(*ast.ExprStmt); is {
		if call, is := x.X.(*ast.CallExpr); is {
			return member(call.Fun, b)
		}
	}
	return ""
}

// member returns the name of the field or method of b that an expression selects; empty if it selects none.
func member(x ast.Expr, b string) string {
	if s, is := x.(*ast.SelectorExpr); is {
		if of, is := s.X.(*ast.Ident); is && of.Name == b {
			return s.Sel.Name
		}
	}
	return ""
}

// iterations returns the body of a loop that runs it b.N times; nil if s is something else, or if the body itself counts.
func iterations(s ast.Stmt, b string) *ast.BlockStmt {
	switch s := s.(type) {
	case *ast.RangeStmt:
		if member(s.X, b) == "N" {
			return s.Body
		}
	case *ast.ForStmt:
		if call, is := s.Cond.(*ast.CallExpr); is && member(call.Fun, b) == "Loop" {
			return s.Body
		}
		counts, isCounter := s.Post.(*ast.IncDecStmt)
		limit, isLimit := s.Cond.(*ast.BinaryExpr)
		if !isCounter || !isLimit || member(limit.Y, b) != "N" {
			return nil
		}
		if i, is := counts.X.(*ast.Ident); is && !sets(s.Body, i.Name) {
			return s.Body
		}
	}
	return nil
}

// sets reports whether a block assigns to a variable.
func sets(block *ast.BlockStmt, name string) (found bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		var to []ast.Expr
		switch n := n.(type) {
		case *ast.IncDecStmt:
			to = []ast.Expr{n.X}
		case *ast.AssignStmt:
			to = n.Lhs
		}
		for _, x := range to {
			if i, is := x.(*ast.Ident); is && i.Name == name {
				found = true
			}
		}
		return true
	})
	return found
}

// canBeCopied reports whether a block can stand twice in a function, with another indentation: it has no label, and no string of
// several lines.
func canBeCopied(block *ast.BlockStmt) bool {
	can := true
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			can = false
		case *ast.BasicLit:
			can = can && !strings.Contains(n.Value, "\n")
		}
		return can
	})
	return can
}
