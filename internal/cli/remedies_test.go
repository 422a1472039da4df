package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/remedy"
)

// flagsOfAll returns the names of all commands' flags.
func flagsOfAll() (names []string) {
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if _, isHyperfines := f.Value.(elsewhere); !isHyperfines {
					names = append(names, f.Name)
				}
			})
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(Streams{io.Discard, io.Discard}))
	return names
}

// Libraries name no flags: they return remedies as codes, which the command turns into words.
// Earlier reasons named --max-time and --cpu to programs without such flags.
func TestLibrariesKnowNoFlags(t *testing.T) {
	names := flagsOfAll()
	flag := regexp.MustCompile(`(^|[ (])--(` + strings.Join(names, "|") + `)($|[ ,.;:)])`)
	for _, planted := range []string{"give more --max-time", "of its own (--cpu), or", "--restart mends it"} {
		if !flag.MatchString(planted) {
			t.Errorf("%q passes", planted)
		}
	}
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bench" || name == "cli" || name == "cmd" || name == "testdata" || strings.HasPrefix(name, ".") && name != "../.." && len(name) > 2):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && flag.MatchString(text) {
				t.Errorf("%s names a flag: %q: give a code of package remedy", path, text)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 || len(names) < 50 {
		t.Errorf("%d files and %d flags: %v", files, len(names), err)
	}
}

// Each remedy is an existing flag or command.
func TestRemediesAreFlags(t *testing.T) {
	names := flagsOfAll()
	for code := range flagsOf {
		flag := regexp.MustCompile(`--([a-z-]+)`).FindStringSubmatch(remedy.Of(code))
		if flag == nil || !strings.Contains(" "+strings.Join(names, " ")+" ", " "+flag[1]+" ") {
			t.Errorf("%s is offered as %q", code, remedy.Of(code))
		}
	}
}
