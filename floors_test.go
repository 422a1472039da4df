package chronoscope_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "chronoscope"

// floors are the packages from the bottom up. Each may only import packages of lower floors, so
// those of one floor don't import one another: what one method needs from another is passed to it
// by the caller.
var floors = []struct {
	name     string
	packages []string
}{
	{"0, the module's description", []string{""}},
	{"1, remedies", []string{"remedy"}},
	{"1, numbers and the machine", []string{"stats", "machine"}},
	{"1, the kernel's records, and stops", []string{"internal/perfring", "internal/stops"}},
	{"2, clocks and tracepoints", []string{"clock", "tracepoint"}},
	{"2, beside the clocks", []string{"clock/check", "clock/clocktest", "process", "internal/group"}},
	{"2, the measuring environment; turns and looks", []string{"env", "repeat"}},
	{"beside", []string{"internal/probe", "internal/classfile", "internal/elffile", "internal/gitcommand", "internal/load", "internal/prometheustest", "internal/wholefile"}},
	{"3, methods", []string{
		"offcpu",
		"timermeter", "fidelity", "activity", "kbest", "gobench", "slowclock", "meter", "program", "lateness", "bytecode/analysis", "changepoint", "fleet", "bisect",
	}},
	{"4, what joins methods", []string{"kbest/benchmark", "bytecode", "validate"}},
	{"4, methods for others' systems", []string{"meter/prometheus", "exporter"}},
	{"5, records", []string{"record"}},
	{"5, records in git", []string{"record/gitarchive"}},
	{"6, views", []string{"view"}},
	{"7, comparison", []string{"compare"}},
	{"7, series", []string{"history"}},
	{"7, renderers", []string{"render"}},
	{"8, the command line", []string{"internal/cli"}},
	{"8, the command", []string{"cmd/chronoscope"}},
}

// libraryFloors is how many of the floors a program imports as a library: up to the packages that
// combine methods, and without those that only integrate with other systems.
const libraryFloors = 10

// allowedModules are the modules that a library package may bring into a program, in addition to
// the standard library.
var allowedModules = []string{
	module, "golang.org/x/sys", "gonum.org/v1/gonum", "github.com/klauspost/cpuid/v2",
}

// vagueNames say nothing about the purpose of a package.
var vagueNames = []string{"util", "utils", "common", "core", "types", "helpers", "helper", "misc", "base"}

// platforms are those for which the module compiles; imports differ between them.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "darwin/amd64", "windows/amd64"}

// importGraph maps a package to the packages that it imports, both as import paths.
type importGraph map[string][]string

// breachesOfFloors lists where the graph breaks the rules: a package that is on no floor, has a
// vague name, or imports from its own floor or above.
func breachesOfFloors(graph importGraph) []string {
	var breaches []string
	for _, importer := range slices.Sorted(maps.Keys(graph)) {
		if slices.Contains(vagueNames, path.Base(importer)) {
			breaches = append(breaches, fmt.Sprintf("%s: the name says nothing; name the idea that the package holds", importer))
		}
		own, ok := floorOf(importer)
		if !ok {
			breaches = append(breaches, fmt.Sprintf("%s stands on no floor: enter it in the table of floors_test.go and in DESIGN.md", importer))
			continue
		}
		for _, imported := range graph[importer] {
			if floor, ok := floorOf(imported); ok && floor >= own {
				breaches = append(breaches, fmt.Sprintf("%s (floor %s) imports %s (floor %s): imports point down only",
					importer, floors[own].name, imported, floors[floor].name))
			}
		}
	}
	return breaches
}

// disallowed lists the imported packages that belong to no allowed module.
func disallowed(imports []string) []string {
	return slices.DeleteFunc(slices.Clone(imports), func(imported string) bool {
		return slices.ContainsFunc(allowedModules, func(allowed string) bool { return within(imported, allowed) })
	})
}

// floorOf returns the number of a package's floor.
func floorOf(importPath string) (int, bool) {
	if !within(importPath, module) {
		return 0, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
	for i, floor := range floors {
		if slices.Contains(floor.packages, name) {
			return i, true
		}
	}
	return 0, false
}

// within reports whether a package belongs to a module.
func within(importPath, module string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// absent lists packages of the table that don't exist.
func absent(there map[string]bool) []string {
	var names []string
	for _, floor := range floors {
		for _, name := range floor.packages {
			if !there[path.Join(module, name)] {
				names = append(names, name)
			}
		}
	}
	return names
}

func TestFloors(t *testing.T) {
	there := map[string]bool{} // on any platform
	for _, platform := range platforms {
		graph := importGraph{}
		for _, p := range list(t, platform, "./...") {
			graph[p.ImportPath] = p.Imports
			there[p.ImportPath] = true
		}
		if _, ok := graph[module+"/stats"]; !ok {
			t.Errorf("%s: no package stats among %d: the list is not this module's", platform, len(graph))
		}
		for _, breach := range breachesOfFloors(graph) {
			t.Errorf("%s: %s", platform, breach)
		}
	}
	for _, name := range absent(there) {
		t.Errorf("%q stands on a floor, and there is no such package: take it off the table of floors_test.go", name)
	}
}

// A program that imports a method does not get a table writer or command parser with it.
func TestLibraryDependencies(t *testing.T) {
	for _, platform := range platforms {
		var library []string
		for _, p := range list(t, platform, "./...") {
			if floor, ok := floorOf(p.ImportPath); ok && floor < libraryFloors {
				library = append(library, p.ImportPath)
			}
		}
		var brought []string
		for _, p := range list(t, platform, append([]string{"-deps"}, library...)...) {
			if !p.Standard {
				brought = append(brought, p.ImportPath)
			}
		}
		for _, imported := range disallowed(brought) {
			t.Errorf("%s: a library package brings in %s; find it with: go list -deps, go mod why %[2]s", platform, imported)
		}
	}
}

func TestBreachesOfFloors(t *testing.T) {
	for name, c := range map[string]struct {
		graph importGraph
		want  string // part of the only breach; none if empty
	}{
		"down":                {importGraph{"chronoscope/clock": {"fmt", "chronoscope/stats"}}, ""},
		"down by many floors": {importGraph{"chronoscope/internal/cli": {"chronoscope/machine", "github.com/spf13/cobra"}}, ""},
		"a clock's neighbour": {importGraph{"chronoscope/clock/check": {"chronoscope/clock"}}, ""},
		"the command":         {importGraph{"chronoscope/cmd/chronoscope": {"chronoscope/internal/cli"}}, ""},
		"a namesake":          {importGraph{"chronoscope/stats": {"chronoscopes/report"}}, ""},

		"up":                    {importGraph{"chronoscope/stats": {"chronoscope/view"}}, "chronoscope/stats (floor 1, numbers and the machine) imports chronoscope/view"},
		"across":                {importGraph{"chronoscope/stats": {"chronoscope/machine"}}, "imports chronoscope/machine"},
		"method to method":      {importGraph{"chronoscope/kbest": {"chronoscope/timermeter"}}, "imports chronoscope/timermeter"},
		"clock to its check":    {importGraph{"chronoscope/clock": {"chronoscope/clock/check"}}, "imports chronoscope/clock/check"},
		"library to command":    {importGraph{"chronoscope/record": {"chronoscope/internal/cli"}}, "imports chronoscope/internal/cli"},
		"beside to a method":    {importGraph{"chronoscope/internal/load": {"chronoscope/program"}}, "imports chronoscope/program"},
		"the module's own root": {importGraph{"chronoscope": {"chronoscope/stats"}}, "imports chronoscope/stats"},
		"unknown":               {importGraph{"chronoscope/stopwatch": nil}, "chronoscope/stopwatch stands on no floor"},
		"unknown below a known": {importGraph{"chronoscope/clock/fast": nil}, "chronoscope/clock/fast stands on no floor"},
	} {
		breaches := breachesOfFloors(c.graph)
		if c.want == "" {
			if len(breaches) != 0 {
				t.Errorf("%s: %q", name, breaches)
			}
			continue
		}
		if len(breaches) != 1 || !strings.Contains(breaches[0], c.want) {
			t.Errorf("%s: %q, want one that says %q", name, breaches, c.want)
		}
	}
	vague := breachesOfFloors(importGraph{"chronoscope/internal/util": nil})
	if len(vague) != 2 || !strings.Contains(vague[0], "the name says nothing") {
		t.Errorf("a package named util: %q", vague)
	}
}

func TestDisallowedImports(t *testing.T) {
	got := disallowed([]string{
		"chronoscope/stats", "golang.org/x/sys/unix", "gonum.org/v1/gonum/stat", "github.com/klauspost/cpuid/v2",
		"gonum.org/v1/plot", "golang.org/x/system", "github.com/spf13/cobra",
	})
	if want := []string{"gonum.org/v1/plot", "golang.org/x/system", "github.com/spf13/cobra"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFloorTable(t *testing.T) {
	seen := map[string]bool{}
	for _, floor := range floors {
		for _, name := range floor.packages {
			if seen[name] {
				t.Errorf("%q stands on two floors", name)
			}
			seen[name] = true
		}
	}
	if last := floors[libraryFloors-1].packages; !slices.Contains(last, "validate") {
		t.Errorf("the library ends with %q", last)
	}
}

// listed holds the output of go list for a package.
type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// list runs go list for a platform, such as linux/arm64.
func list(t *testing.T, platform string, args ...string) []listed {
	t.Helper()
	system, architecture, _ := strings.Cut(platform, "/")
	var problems strings.Builder
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard"}, args...)...)
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v for %s: %v\n%s", command.Args, platform, err, problems.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("%v for %s: %v", command.Args, platform, err)
		}
		packages = append(packages, p)
	}
}
