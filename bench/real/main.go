// Command real measures fourteen programs that others wrote with chronoscope run, and with hyperfine just
// before and after. It prints the verdict, half the interval, and hyperfine's two standard errors. Programs
// that are not installed are left out.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./real -chronoscope /tmp/chronoscope            # idle
//	go run ./real -chronoscope /tmp/chronoscope -loops 2   # beside two loops, on all CPUs
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
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

func main() {
	tool := flag.String("chronoscope", "chronoscope", "the `program` to judge")
	limit := flag.Duration("time", 8*time.Second, "for how long each program is run")
	loops := flag.Int("loops", 0, "how many endless loops run beside")
	only := flag.String("only", "", "a regular `expression` of the programs to run")
	keep := flag.String("keep", "", "a `folder` for chronoscope's documents")
	flag.Parse()
	if err := run(*tool, *limit, *loops, *only, *keep); err != nil {
		log.Fatal(err)
	}
}

func run(tool string, limit time.Duration, loops int, only, keep string) error {
	chosen, err := regexp.Compile(only)
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
	for range loops {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			return err
		}
		defer loop.Process.Kill()
	}
	return table(tool, limit, programs(dir, files.URL+"/text", server.URL), chosen, keep)
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
	verdict          string
	value, low, high float64
	reason           string
}

func (f figure) half() float64 { return (f.high - f.low) / 2 / f.value }

// table measures and prints all programs.
func table(tool string, limit time.Duration, all []program, chosen *regexp.Regexp, keep string) error {
	fmt.Printf("%-20s %-9s %9s %9s   %9s %9s  %s\n", "", "", "ms", "+-", "hyperfine", "2 s/rt n", "")
	trusted, narrow, usable, n := 0, 0, 0, 0
	for _, p := range all {
		if _, err := exec.LookPath(strings.Fields(p.command)[0]); err != nil || !chosen.MatchString(p.name) {
			continue
		}
		before, err := hyperfine(p, limit/2)
		if err != nil {
			return err
		}
		ours, err := chronoscope(tool, p, limit, keep)
		if err != nil {
			return err
		}
		after, err := hyperfine(p, limit/2)
		if err != nil {
			return err
		}
		peer := math.Max(before.half(), after.half())
		n++
		if ours.verdict == "trusted" {
			trusted++
			if ours.half() <= peer+0.01 {
				narrow++
			}
		}
		if ours.verdict != "unusable" {
			usable++
		}
		fmt.Printf("%-20s %-9s %9.3f %7.2f %%   %9.3f %7.2f %%  %.110s\n", p.name, ours.verdict, ours.value, 100*ours.half(), (before.value+after.value)/2, 100*peer, ours.reason)
	}
	fmt.Printf("of %d: %d usable, %d trusted, %d of these no wider than hyperfine's and 1 %%\n", n, usable, trusted, narrow)
	return nil
}

func chronoscope(tool string, p program, limit time.Duration, keep string) (figure, error) {
	args := []string{"run", "--format", "json", "--max-time", limit.String(), "--precision", "0.5%"}
	if p.shell {
		args = append(args, "--shell")
	}
	var document struct {
		Results []struct {
			Estimate struct{ Value, Lo, Hi *float64 }
			Verdict  string
			Reasons  []string
		}
	}
	out, err := exec.Command(tool, append(args, p.command)...).Output()
	if err != nil {
		return figure{}, fmt.Errorf("%s of %s: %w", tool, p.name, err)
	}
	if keep != "" {
		if err := os.WriteFile(filepath.Join(keep, p.name+".json"), out, 0o644); err != nil {
			return figure{}, err
		}
	}
	if err := json.Unmarshal(out, &document); err != nil || len(document.Results) != 1 {
		return figure{}, fmt.Errorf("%s of %s: its result can't be read: %w", tool, p.name, err)
	}
	r := document.Results[0]
	ms := func(ns *float64) float64 {
		if ns == nil {
			return math.NaN()
		}
		return *ns / 1e6
	}
	return figure{r.Verdict, ms(r.Estimate.Value), ms(r.Estimate.Lo), ms(r.Estimate.Hi), strings.Join(r.Reasons, "; ")}, nil
}

// hyperfine returns hyperfine's mean and two standard errors.
func hyperfine(p program, limit time.Duration) (figure, error) {
	file, err := os.CreateTemp("", "hyperfine")
	if err != nil {
		return figure{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	one := exec.Command("sh", "-c", p.command)
	begun := time.Now()
	if err := one.Run(); err != nil {
		return figure{}, fmt.Errorf("%s: %w", p.name, err)
	}
	runs := max(10, int(limit/time.Since(begun)))
	args := []string{"--runs", fmt.Sprint(runs), "--export-json", file.Name(), "--style", "none"}
	if !p.shell {
		args = append(args, "-N")
	}
	if out, err := exec.Command("hyperfine", append(args, p.command)...).CombinedOutput(); err != nil {
		return figure{}, fmt.Errorf("hyperfine of %s: %w: %s", p.name, err, out)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return figure{}, err
	}
	var document struct {
		Results []struct {
			Mean, Stddev float64
			Times        []float64
		}
	}
	if err := json.Unmarshal(text, &document); err != nil || len(document.Results) != 1 {
		return figure{}, fmt.Errorf("hyperfine of %s: its result can't be read: %w", p.name, err)
	}
	r := document.Results[0]
	error2 := 2e3 * r.Stddev / math.Sqrt(float64(len(r.Times)))
	return figure{"", 1e3 * r.Mean, 1e3*r.Mean - error2, 1e3*r.Mean + error2, ""}, nil
}
