// Command real runs the gate of chronoscope bench again and again on this machine: on code that did not change,
// on a suite in which one benchmark takes longer, and on a module with edits that change nothing. Each gate
// adds a line to a file. A run that is started again with the same file and flags continues where the last one ended.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./gate/real -chronoscope /tmp/chronoscope -gates 20 -loads none,bursty,4 -nice -20 -max-time 6s -out aa.jsonl
//	go run ./gate/real -chronoscope /tmp/chronoscope -gates 20 -planted 0.05 -limit 0.01 -out ab.jsonl
//	go run ./gate/real -chronoscope /tmp/chronoscope -gates 100 -module ~/btree -bench Get -layouts 4 -edits -out edits.jsonl
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"chronoscope/bench/internal/lines"
)

// experiment holds the values of the flags.
type experiment struct {
	gate
	gates  int // with each load
	loads  []string
	module string
	edits  bool
	// generated is the number of benchmarks of a suite that is generated; 0 for the small suite, or the module.
	generated int
	share     float64 // planted slowdown
	slowed    int     // in how many benchmarks it is planted
	out       string
}

func main() {
	var e experiment
	var loads, load string
	flag.StringVar(&e.tool, "chronoscope", "chronoscope", "the `program` to judge")
	flag.IntVar(&e.gates, "gates", 20, "how many gates with each load")
	flag.StringVar(&loads, "loads", "none", "which loads, with commas between them: none, bursty, or how many threads want each CPU")
	flag.StringVar(&e.module, "module", "", "a `folder` with a module to gate instead of the small suite; it is copied")
	flag.IntVar(&e.generated, "generated", 0, "gate a suite of this `number` of benchmarks, of 1 µs to 10 ms, instead of the small one of five")
	flag.StringVar(&e.packages, "packages", ".", "the packages of the module")
	flag.StringVar(&e.bench, "bench", ".", "a regular `expression` of the benchmarks")
	flag.BoolVar(&e.edits, "edits", false, "each gate judges an edit that changes nothing, another one each time")
	flag.Float64Var(&e.share, "planted", 0, "by which share one benchmark takes longer, another one each time")
	flag.IntVar(&e.slowed, "slowed", 1, "with -planted: how many benchmarks take longer")
	flag.Float64Var(&e.limit, "limit", 0, "which share is allowed")
	flag.IntVar(&e.layouts, "layouts", 8, "in how many random orders functions are linked")
	flag.IntVar(&e.nice, "nice", 0, "the niceness of the benchmarks, from -20, for root, to 19")
	flag.BoolVar(&e.failFast, "fail-fast", false, "end each gate as soon as it fails")
	flag.DurationVar(&e.maxTime, "max-time", 1500*time.Millisecond, "how long a benchmark is measured")
	flag.StringVar(&e.out, "out", "gates.jsonl", "the `file` to which each gate adds a line")
	flag.StringVar(&load, "compete", "", "be a competitor of this `kind` (the program starts itself so)")
	flag.Parse()
	if load != "" {
		compete(load)
	}
	if e.generated > 0 && e.module != "" {
		fmt.Fprintln(os.Stderr, "-generated and -module exclude one another: give one of them")
		os.Exit(2)
	}
	e.loads = strings.Split(loads, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := e.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the gates that the file does not have yet, with each load in turn, and prints a table of all.
func (e experiment) run(ctx context.Context) error {
	read, err := lines.Read[outcome](e.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := outcomes(read)
	if e.module != "" && e.share > 0 {
		if _, err := turns(e.share); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "gates")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	checkout, err := e.checkOut(ctx, dir)
	if err != nil {
		return err
	}
	settings, err := e.settings(ctx, checkout)
	if err != nil {
		return err
	}
	if err := known.check(settings); err != nil {
		return fmt.Errorf("%s: %w", e.out, err)
	}
	defer func() { print(os.Stdout, known) }()
	base := ""
	if e.edits {
		if base, err = checkout.code(ctx); err != nil {
			return err
		}
	}
	for i := range e.gates {
		for _, load := range e.loads {
			o := outcome{Kind: e.kind(), Load: load, Seed: i, Settings: settings}
			if known.has(o) {
				continue
			}
			if o, err = e.one(ctx, checkout, o, base); err != nil {
				return err
			}
			known = append(known, o)
			fmt.Fprintf(os.Stderr, "%s %d of %d, load %s: %s\n", o.Kind, i+1, e.gates, load, o)
			if err := lines.Append(e.out, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// kind returns what the gates judge.
func (e experiment) kind() string {
	switch {
	case e.share > 0 && e.edits:
		return "edit and planted"
	case e.share > 0:
		return "planted"
	case e.edits:
		return "edit"
	}
	return "equal"
}

// settings returns all that the gates of a file have in common. The tool and the module are named by their content.
func (e experiment) settings(ctx context.Context, c checkout) (string, error) {
	path, err := exec.LookPath(e.tool)
	if err != nil {
		return "", err
	}
	tool, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	tree, err := c.tree(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("-chronoscope %.6x (SHA-256) -module %.12s (git) -packages %s -bench %s -planted %g -slowed %d -edits=%t -limit %g -layouts %d -nice %d -max-time %v -fail-fast=%t",
		sha256.Sum256(tool), tree, e.packages, e.bench, e.share, e.slowed, e.edits, e.limit, e.layouts, e.nice, e.maxTime, e.failFast), nil
}

// one runs one gate, on a change of its own. base is a hash of the machine code without a change.
func (e experiment) one(ctx context.Context, c checkout, o outcome, base string) (judged outcome, err error) {
	if err := c.reset(ctx); err != nil {
		return o, err
	}
	if e.edits {
		if o.Change, err = c.edit(o.Seed); err != nil {
			return o, err
		}
		code, err := c.code(ctx)
		if err != nil {
			return o, err
		}
		o.SameCode = code == base
	}
	if e.share > 0 {
		if o.Planted, err = c.plant(o.Seed, e.share, e.slowed, e.bench); err != nil {
			return o, err
		}
	}
	release, err := load(o.Load)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return e.judge(ctx, c, o)
}
