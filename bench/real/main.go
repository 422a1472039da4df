// Command real measures fourteen programs that others wrote with chronoscope run, and with hyperfine just
// before and after. It prints the verdict, half the interval, and hyperfine's two standard errors. Programs
// that are not installed are left out.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./real -chronoscope /tmp/chronoscope            # idle
//	go run ./real -chronoscope /tmp/chronoscope -loops 2   # beside two loops, on all CPUs
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/peer"
	"chronoscope/internal/load"
	"chronoscope/stats"
)

// program is a program to measure. Its command is split at spaces, or run by a shell.
type program struct {
	name, command string
	shell         bool
}

// programs returns the programs, given a folder with their files and the addresses of two servers.
func programs(dir, files, server string) []program {
	text := filepath.Join(dir, "text")
	return []program{
		{"go build", "go build -o " + filepath.Join(dir, "built") + " " + filepath.Join(dir, "main.go"), false},
		{"java", "java -version", false},
		{"node", "node -e 0", false},
		{"python", "python3 -c pass", false},
		{"gzip", "gzip -kc " + text, false},
		{"xz", "xz -kc0 " + text, false},
		{"sort --parallel=2", "sort --parallel=2 " + text, false},
		{"git", "git -C " + filepath.Join(dir, "repository") + " status", false},
		{"sqlite", "sqlite3 " + filepath.Join(dir, "db") + " .dump", false},
		{"grep", "grep -c 77 " + text, false},
		{"pipeline", "cat " + text + " | tr 1 2 | sort | uniq | wc -l", true},
		{"curl", "curl -s -o /dev/null " + files, false},
		{"client of a server", "curl -s -o /dev/null " + server, false},
		{"tar", "tar -cf - -C /usr/share/doc bash coreutils grep sed tar", false},
	}
}

func main() { command.Main("real", run) }

// experiment says how to measure.
type experiment struct {
	tool, keep string
	limit      time.Duration
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var e experiment
	flags := flag.NewFlagSet("real", flag.ContinueOnError)
	flags.StringVar(&e.tool, "chronoscope", "chronoscope", "the `program` to judge")
	flags.DurationVar(&e.limit, "time", 8*time.Second, "how long each program is run")
	loops := flags.Int("loops", 0, "how many endless loops run beside")
	only := flags.String("only", "", "a regular `expression` of the programs to run")
	flags.StringVar(&e.keep, "keep", "", "a `folder` for chronoscope's documents")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "real")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		return err
	}
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer files.Close()
	server := httptest.NewServer(http.HandlerFunc(work))
	defer server.Close()
	competitors, err := load.Start(ctx, *loops, load.Registers, nil)
	if err != nil {
		return err
	}
	defer competitors.Stop()
	e.table(ctx, stdout, slices.DeleteFunc(programs(dir, files.URL+"/text", server.URL), func(p program) bool { return !chosen.MatchString(p.name) }))
	return command.Lost(ctx, competitors)
}

// work answers a request after some milliseconds of computing.
func work(w http.ResponseWriter, _ *http.Request) {
	sum := 0.0
	for i := range 5_000_000 {
		sum += math.Sqrt(float64(i))
	}
	fmt.Fprintln(w, sum)
}

// prepare writes the files that the programs work on.
func prepare(dir string) error {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintln(&text, i*7919%200_003)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println(1) }\n"), 0o644); err != nil {
		return err
	}
	for _, command := range []string{
		"git init -q " + dir + "/repository && cp " + dir + "/text " + dir + "/repository",
		"sqlite3 " + dir + "/db 'create table t(a); with recursive n(i) as (select 1 union all select i+1 from n where i<50000) insert into t select i from n'",
	} {
		_ = exec.Command("sh", "-c", command).Run() // programs that are not installed are left out later
	}
	return nil
}

// figure is what a tool says about a program, in milliseconds.
type figure struct {
	verdict          stats.Verdict
	value, low, high float64
	reason           string
}

func (f figure) half() float64 { return (f.high - f.low) / 2 / f.value }

// table measures and prints all programs, until ctx ends. Those that fail are noted.
func (e experiment) table(ctx context.Context, stdout io.Writer, all []program) {
	fmt.Fprintf(stdout, "%-20s %-9s %9s %9s   %9s %9s  %s\n", "", "", "ms", "+-", "hyperfine", "2 s/rt n", "")
	trusted, narrow, usable, n := 0, 0, 0, 0
	for _, p := range all {
		if _, err := exec.LookPath(strings.Fields(p.command)[0]); err != nil || ctx.Err() != nil {
			continue
		}
		ours, theirs, half, err := e.measure(ctx, p)
		if err != nil {
			fmt.Fprintf(stdout, "%-20s failed: %v\n", p.name, err)
			continue
		}
		n++
		if ours.verdict == "trusted" {
			trusted++
			if ours.half() <= half+0.01 {
				narrow++
			}
		}
		if ours.verdict != "unusable" {
			usable++
		}
		fmt.Fprintf(stdout, "%-20s %-9s %9.3f %7.2f %%   %9.3f %7.2f %%  %.110s\n", p.name, ours.verdict, ours.value, 100*ours.half(), theirs, 100*half, ours.reason)
	}
	fmt.Fprintf(stdout, "of %d: %d usable, %d trusted, %d of these no wider than hyperfine's and 1 %%\n", n, usable, trusted, narrow)
}

// measure returns what chronoscope says about a program, and the mean of what hyperfine says just before and after, with the
// larger of its two half-widths, as a share.
func (e experiment) measure(ctx context.Context, p program) (ours figure, theirs, half float64, err error) {
	before, err := hyperfine(ctx, p, e.limit/2)
	if err != nil {
		return ours, 0, 0, err
	}
	if ours, err = e.chronoscope(ctx, p); err != nil {
		return ours, 0, 0, err
	}
	after, err := hyperfine(ctx, p, e.limit/2)
	return ours, (before.value + after.value) / 2, math.Max(before.half(), after.half()), err
}

func (e experiment) chronoscope(ctx context.Context, p program) (figure, error) {
	args := []string{"run", "--format", "json", "--max-time", e.limit.String(), "--precision", "0.5%"}
	if p.shell {
		args = append(args, "--shell")
	}
	out, err := peer.Output(ctx, "", e.tool, append(args, p.command)...)
	if err != nil {
		return figure{}, err
	}
	if e.keep != "" {
		if err := os.WriteFile(filepath.Join(e.keep, p.name+".json"), out, 0o644); err != nil {
			return figure{}, err
		}
	}
	document, err := peer.Read(out)
	if err != nil {
		return figure{}, err
	}
	if len(document.Results) != 1 {
		return figure{}, fmt.Errorf("chronoscope has %d results, not one", len(document.Results))
	}
	r := document.Results[0]
	t := r.Estimate.Scaled(1e-6, "ms")
	return figure{r.Verdict, t.Value, t.Lo, t.Hi, strings.Join(r.Reasons, "; ")}, nil
}

// hyperfine returns hyperfine's mean and two standard errors.
func hyperfine(ctx context.Context, p program, limit time.Duration) (figure, error) {
	begun := time.Now()
	if err := command.Child(ctx, "sh", "-c", p.command).Run(); err != nil {
		return figure{}, err
	}
	args := []string{"--runs", fmt.Sprint(max(10, int(limit/time.Since(begun))))}
	if !p.shell {
		args = append(args, "-N")
	}
	r, err := peer.Hyperfine(ctx, append(args, p.command)...)
	error2 := 2e3 * r.Stddev / math.Sqrt(float64(len(r.Times)))
	return figure{"", 1e3 * r.Mean, 1e3*r.Mean - error2, 1e3*r.Mean + error2, ""}, err
}
