package probe

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chronoscope/clock"
)

// The sources and compiled forms of the probes that are part of this package. go generate makes
// probe.jar from Probe.java, and probe.exe from Probe.cs, so that a machine needs no Java or C#
// compiler.
//
//go:generate sh -c "d=$(mktemp -d) && javac --release 8 -Xlint:-options -g:none -d $d runtimes/Probe.java && jar --create --file runtimes/probe.jar --main-class Probe -C $d ."
//go:generate mcs -optimize+ -debug- -out:runtimes/probe.exe runtimes/Probe.cs
//go:embed runtimes
var files embed.FS

// Kit is a probe that is part of this package, and the command that starts it.
type Kit struct {
	// Runtime is the family to which its runtime belongs, one of [Runtimes].
	Runtime string
	// Name is the name of the runtime that the probe reports.
	Name string
	// Programs can run it, or compile it; the first one that is installed is used.
	Programs []string
	// Package contains such a program, on Debian and its derivatives.
	Package string

	files   []string // the files that it needs, the probe itself first
	before  []string // arguments before the probe's file
	compile bool     // whether it is compiled into a program
}

var kits = []Kit{
	{Runtime: "c", Name: "c", Programs: []string{"gcc", "clang"}, Package: "gcc", files: []string{"probe.c"}, compile: true},
	{Runtime: "java", Name: "java", Programs: []string{"java"}, Package: "default-jre-headless",
		files: []string{"probe.jar"}, before: append(slices.Clone(ofJava), "-jar")},
	{Runtime: "java", Name: "java-Xint", Programs: []string{"java"}, Package: "default-jre-headless",
		files: []string{"probe.jar"}, before: append(slices.Clone(ofJava), "-Xint", "-jar")},
	{Runtime: "dotnet", Name: "dotnet", Programs: []string{"mono"}, Package: "mono-runtime", files: []string{"probe.exe"}},
	{Runtime: "dotnet", Name: "coreclr", Programs: []string{"dotnet"}, Package: "dotnet-runtime-8.0 (of Microsoft's packages)",
		files: []string{"probe.exe", "probe.runtimeconfig.json"}, before: []string{"exec"}},
	{Runtime: "python", Name: "python", Programs: []string{"python3", "python"}, Package: "python3", files: []string{"probe.py"}},
	{Runtime: "node", Name: "node", Programs: []string{"node", "nodejs"}, Package: "nodejs", files: []string{"probe.js"}},
}

// ofJava are the arguments that give the probe access to the counter that sun.misc.Perf used to offer.
// The first one makes Java 8, which has no such modules, ignore the second.
var ofJava = []string{"-XX:+IgnoreUnrecognizedVMOptions", "--add-exports=java.base/jdk.internal.perf=ALL-UNNAMED"}

// Runtimes returns the families of runtimes that have a kit.
func Runtimes() []string {
	var names []string
	for _, k := range kits {
		if !slices.Contains(names, k.Runtime) {
			names = append(names, k.Runtime)
		}
	}
	return names
}

// Kits returns the kits of a family. Java has one with and one without its compilers, .NET one for Mono
// and one for CoreCLR.
func Kits(runtime string) []Kit {
	return slices.DeleteFunc(slices.Clone(kits), func(k Kit) bool { return k.Runtime != runtime })
}

// Start starts the probe, and compiles it first if necessary. The files that it needs are kept in the
// user's cache folder, in a folder that is named after the hash of their content. The error is a
// [*clock.Unavailable] if the machine has no program for it.
func (k Kit) Start(ctx context.Context, limits Limits) (*Probe, error) {
	program := k.find()
	if program == "" {
		return nil, &clock.Unavailable{
			Name: k.Name, Reason: clock.NotSupportedHere,
			Detail: fmt.Sprintf("there is no program %s in PATH", strings.Join(k.Programs, " or ")),
			Remedy: "install the package " + k.Package,
		}
	}
	shelf, err := k.shelf(program)
	if err != nil {
		return nil, err
	}
	command := append(append([]string{program}, k.before...), shelf.path(k.files[0]))
	if k.compile {
		compiled, err := k.compiled(ctx, program, shelf)
		if err != nil {
			shelf.close()
			return nil, err
		}
		command = []string{compiled}
	}
	p, err := Start(ctx, command, limits)
	if err != nil {
		shelf.close()
		return nil, err
	}
	p.release = shelf.close
	return p, nil
}

// find returns the path of the first of the programs that is installed.
func (k Kit) find() string {
	for _, name := range k.Programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// shelf puts the kit's files into a folder for the program.
func (k Kit) shelf(program string) (*shelf, error) {
	contents := map[string][]byte{}
	for _, name := range k.files {
		content, err := files.ReadFile("runtimes/" + name)
		if err != nil {
			return nil, fmt.Errorf("the probe of %s is missing in this program: %w", k.Name, err)
		}
		contents[name] = content
	}
	s, err := newShelf(contents, program)
	if err != nil {
		return nil, fmt.Errorf("keeping the probe of %s in the cache folder: %w", k.Name, err)
	}
	return s, nil
}

// compiling is the longest time that compiling may take.
const compiling = 30 * time.Second

// compiled returns the path of the compiled program, and compiles it if that was not done before.
func (k Kit) compiled(ctx context.Context, compiler string, s *shelf) (string, error) {
	const name = "probe"
	return s.make(name, func(into string) error {
		ctx, cancel := context.WithTimeout(ctx, compiling)
		defer cancel()
		c := exec.CommandContext(ctx, compiler, "-O2", "-pthread", "-o", into, s.path(k.files[0]))
		c.Dir = filepath.Dir(into)
		c.WaitDelay = time.Second
		if said, err := c.CombinedOutput(); err != nil {
			first, _, _ := bytes.Cut(bytes.TrimSpace(said), []byte{'\n'})
			return fmt.Errorf("compiling the probe of %s with %s: %w: %s", k.Name, compiler, err, excerpt(string(first)))
		}
		return nil
	})
}
