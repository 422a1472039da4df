package bytecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
)

// Run times what the options ask for. If ctx ends, it returns the result so far and ctx's error. A
// virtual machine that is lost does not end the run: the instruction is marked, and the others go on.
//
// With Options.Load, Run starts this program again as competitors: its main has to call load.Serve
// first.
func Run(ctx context.Context, o Options) (*Result, error) {
	r, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.folder)
	err = r.allStarts(ctx)
	if len(r.series.Starts) == 0 && err != nil {
		return nil, err
	}
	result := r.series.Result()
	result.Interrupted = ctx.Err() != nil
	return result, err
}

// running is the state of a run.
type running struct {
	Options
	series  *Series
	joint   []Method // the methods of the joint measurement
	all     []*sequence
	folder  string // for all generated files
	library string // its path; empty if the time stamp counter is not read
	random  *rand.Rand
	begun   time.Time
	before  time.Duration // the time that earlier runs took
	costNs  map[string]float64
	lost    map[string]int // number of lost machines, by the sequence that they ran
}

// prepare checks the options and generates everything that needs no virtual machine.
func prepare(ctx context.Context, o Options) (*running, error) {
	r := &running{Options: o, begun: time.Now(), costNs: map[string]float64{}, lost: map[string]int{}}
	r.defaults()
	r.random = rand.New(rand.NewPCG(o.Seed, 1))
	if _, ok := modeArguments[r.Mode]; !ok {
		return nil, fmt.Errorf("%q is no mode: choose %s, %s or %s", r.Mode, Interpreter, C1, C2)
	}
	instructions, err := r.instructions()
	if err != nil {
		return nil, err
	}
	if r.all, err = sequences(instructions, r.Pairs, r.Length); err != nil {
		return nil, err
	}
	r.series = &Series{Java: r.Java, Mode: r.Mode, Length: r.Length, Pairs: r.Pairs, Load: r.Load, Unused: map[Method]string{}}
	for _, in := range instructions {
		r.series.Instructions = append(r.series.Instructions, in.Mnemonic)
	}
	if err := r.goOn(); err != nil {
		return nil, err
	}
	if r.folder, err = os.MkdirTemp("", "chronoscope-bytecode-"); err != nil {
		return nil, fmt.Errorf("a folder for generated classes: %w: set TMPDIR to one that can be written", err)
	}
	if err := r.chooseMethods(ctx); err != nil {
		os.RemoveAll(r.folder)
		return nil, err
	}
	return r, nil
}

func (r *running) defaults() {
	r.Mode, r.Length = cmp.Or(r.Mode, Interpreter), cmp.Or(r.Length, DefaultLength)
	r.Duration, r.ReferenceDuration = cmp.Or(r.Duration, DefaultDuration), cmp.Or(r.ReferenceDuration, DefaultReferenceDuration)
	if len(r.Methods) == 0 {
		r.Methods = []Method{Counter, Discrete, Bernoulli}
	}
	if r.Mode != Interpreter { // only the reference can tell what a compiler leaves of a sequence
		r.Methods = []Method{TSC}
	}
	if r.Progress == nil {
		r.Progress = func(Progress) {}
	}
	if r.Load > 0 && len(r.CPUs) == 0 {
		r.CPUs = []int{0}
		if allowed, err := machine.Affinity(); err == nil {
			r.CPUs = allowed
		}
	}
	if r.Load > 0 {
		r.CPUs = r.CPUs[:1]
	}
}

// instructions returns the requested instructions in the catalogue's order.
func (r *running) instructions() ([]*Instruction, error) {
	if len(r.Instructions) == 0 {
		return Catalogue(), nil
	}
	var chosen []*Instruction
	for _, mnemonic := range r.Instructions {
		in, err := Lookup(mnemonic)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, in)
	}
	slices.SortFunc(chosen, func(a, b *Instruction) int { return int(a.Opcode) - int(b.Opcode) })
	return slices.Compact(chosen), nil
}

// goOn loads the results of an earlier run with the same options.
func (r *running) goOn() error {
	c := r.Continue
	if c == nil {
		return nil
	}
	s := r.series
	if c.Java != s.Java || c.Mode != s.Mode || c.Length != s.Length || c.Pairs != s.Pairs || c.Load != s.Load || !slices.Equal(c.Instructions, s.Instructions) {
		return errors.New("the run that is to go on had other options, or another virtual machine: use the same, or begin anew")
	}
	s.Starts, s.Failures = slices.Clone(c.Starts), slices.Clone(c.Failures)
	s.TickNs, s.TSCHz = c.TickNs, c.TSCHz
	r.before = time.Duration(c.ElapsedNs)
	s.ElapsedNs = c.ElapsedNs
	return nil
}

// chooseMethods removes the methods that can't work here, and records why.
func (r *running) chooseMethods(ctx context.Context) error {
	for _, m := range r.Methods {
		if !slices.Contains(Methods(), m) {
			return fmt.Errorf("%q is no method: choose among %v", m, Methods())
		}
		if m == TSC && r.NoReference {
			return fmt.Errorf("%s is asked for, and left out: choose one", TSC)
		}
	}
	r.joint = slices.DeleteFunc(slices.Clone(r.Methods), func(m Method) bool { return m == TSC })
	if i := slices.Index(r.joint, Counter); i >= 0 {
		if why := r.noCounting(); why != "" {
			r.series.Unused[Counter] = why
			r.joint = slices.Delete(r.joint, i, i+1)
		}
	}
	if !r.NoReference {
		if err := r.openReference(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.series.Unused[TSC] = err.Error()
		}
	}
	if len(r.joint) == 0 && r.library == "" {
		return fmt.Errorf("none of the methods %v can be used here: %v", r.Methods, r.series.Unused)
	}
	return nil
}

// noCounting says why the counting thread has no CPU of its own; empty if it has one.
func (r *running) noCounting() string {
	if r.Load > 0 {
		return "the competitors and the measuring thread share one CPU, and no other is to be used"
	}
	cpus := runtime.NumCPU()
	if len(r.CPUs) > 0 {
		cpus = len(r.CPUs)
	}
	if cpus < 2 {
		return "a thread that counts needs a CPU beside the measuring thread's, and there is one: let it use two, or rely on the trials with currentTimeMillis"
	}
	return ""
}

// openReference measures the rate of the time stamp counter, and writes the library that reads it.
func (r *running) openReference(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the time stamp counter is read from Java on linux only, and this is %s: use %s", runtime.GOOS, Nano)
	}
	content, err := cycleLibrary(runtime.GOARCH)
	if err != nil {
		return err
	}
	counter, err := env.Open(ctx, calibrationTime, cycleCodes[runtime.GOARCH].clock)
	if err != nil {
		return err
	}
	counter.Close()
	if r.series.TSCHz == 0 {
		r.series.TSCHz = counter.Rate.Hz.Value
	}
	r.library = filepath.Join(r.folder, "cycles.so")
	if err := os.WriteFile(r.library, content, 0o755); err != nil {
		return fmt.Errorf("keeping the library that reads the time stamp counter: %w", err)
	}
	return nil
}

const calibrationTime = 300 * time.Millisecond
