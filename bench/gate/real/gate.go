package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/peer"
	"chronoscope/stats"
)

// gate says how chronoscope bench is called.
type gate struct {
	tool, packages, bench string
	limit                 float64
	layouts, nice         int
	maxTime               time.Duration
	failFast              bool
}

// statusSlower is the exit status of a gate that found a regression.
const statusSlower = 3

// judge runs the gate on the working tree against the last commit.
func (g gate) judge(ctx context.Context, c checkout, o outcome) (outcome, error) {
	args := []string{
		"bench", g.packages, "-C", c.dir, "--against", "HEAD", "--bench", g.bench, "--quick", "--max-time", g.maxTime.String(),
		"--max-regression", strconv.FormatFloat(100*g.limit, 'g', -1, 64) + "%", "--layouts", strconv.Itoa(g.layouts),
		"--nice", strconv.Itoa(g.nice), "--fail-fast=" + strconv.FormatBool(g.failFast), "--seed", strconv.Itoa(o.Seed + 1), "--format", "json",
	}
	tool := command.Child(ctx, g.tool, args...)
	var out, said bytes.Buffer
	tool.Stdout, tool.Stderr = &out, &said
	began := time.Now()
	err := tool.Run()
	o.Seconds = time.Since(began).Seconds()
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	var exited *exec.ExitError
	if err != nil && (!errors.As(err, &exited) || exited.ExitCode() != statusSlower) {
		return o, fmt.Errorf("%s %s: %w\n%s", g.tool, strings.Join(args, " "), err, said.Bytes())
	}
	o.Status = tool.ProcessState.ExitCode()
	return o, o.take(out.Bytes())
}

// take counts on which side of the limit the pairs of a document lie, and notes the loudest verdict on a pair. It
// returns an error if the gate judged no pair.
func (o *outcome) take(document []byte) error {
	d, err := peer.Read(document)
	if err != nil {
		return err
	}
	hit := map[string]bool{}
	defer func() { o.Found = len(hit) }()
	for _, p := range d.Pairs {
		if p.Side() == "" {
			continue
		}
		name := p.B[strings.Index(p.B, ".Benchmark")+1:]
		slowed, _, _ := strings.Cut(name, "/")
		o.Pairs++
		*o = o.hear(p, name)
		switch {
		case p.Side() == stats.Beyond && slices.Contains(o.Planted, slowed):
			hit[slowed] = true
		case p.Side() == stats.Beyond:
			o.Blamed++
		case p.Side() == stats.Open:
			o.Undecided++
		}
	}
	if o.Pairs == 0 {
		return fmt.Errorf("the gate judged no benchmark")
	}
	return nil
}
