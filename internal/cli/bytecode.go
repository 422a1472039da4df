package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/bytecode"
	"chronoscope/record"
	"chronoscope/stats"
)

// bytecodeFlags are the flags of bytecode.
type bytecodeFlags struct {
	instructions, estimators, outcomes []string
	javas, modes                       []string
	all, paired, unpaired              bool
	pairs, restart                     bool
	length, load                       int
	duration                           time.Duration
}

// newBytecode returns the command that times a virtual machine's instructions.
func newBytecode() *command {
	t := &bytecodeFlags{}
	return &command{Command: &cobra.Command{
		Use:   "bytecode",
		Short: "What does each instruction of a Java virtual machine take?",
		Long: `Times the 137 instructions of the imperative core of the Java virtual machine, as its
interpreter executes them, with clocks that every Java program has:

  counter    a thread that counts, at the rate that System.currentTimeMillis shows
  discrete   how many ticks of currentTimeMillis the trials see in all
  bernoulli  how many trials see one (0 or 1, as in the source)
  nano       System.nanoTime

and beside them, on the same executions and on separate ones, with

  tsc        the processor's time stamp counter, the reference

It takes five minutes (--quick: half a minute, --thorough: fifteen); the reference alone,
with --estimator tsc, some ten seconds. An interrupted run goes on where it was when it is
started again, within a day, by the same build of this program and before a reboot. Classes
are made by this program: all that is needed is a Java virtual machine.

Groups, outliers and the comparison are those of Lambert and Power, "Platform Independent
Timing of Java Virtual Machine Bytecode Instructions" (2008).`,
		Example: `  chronoscope bytecode --report bytecode.html
  chronoscope bytecode --instructions iadd,ldiv,lrem --time 30s
  chronoscope bytecode --estimator tsc --mode interpreter,c1,c2
  chronoscope bytecode --java /usr/lib/jvm/java-17-openjdk-amd64 --java /opt/jdk-25
  chronoscope bytecode --outcome 01,sum --load 1 --time 3m`,
	}, flags: t.register, check: t.check, measure: t.measure}
}

func (t *bytecodeFlags) register(set *pflag.FlagSet, f *flags) {
	set.StringSliceVar(&t.instructions, "instructions", nil, "time these only, a `list` such as iadd,ldiv")
	set.BoolVar(&t.all, "all", false, "time all instructions, as is usual")
	set.StringSliceVar(&t.estimators, "estimator", nil, "time by these, a `list` of tsc, counter, discrete, bernoulli and nano; the first one leads (default: counter,discrete,bernoulli)")
	set.StringSliceVar(&t.outcomes, "outcome", nil, "what a trial on currentTimeMillis counts, 01 or sum, or both: bernoulli and discrete")
	set.DurationVar(&t.duration, "time", bytecode.DefaultDuration, "how long the estimators may take, all virtual machines together")
	set.BoolVar(&t.paired, "paired", false, "compare on the same executions only")
	set.BoolVar(&t.unpaired, "unpaired", false, "compare on separate executions only")
	set.StringArrayVar(&t.javas, "java", nil, "`path` of a virtual machine, may be repeated (default: that of JAVA_HOME, or java in PATH)")
	set.StringSliceVar(&t.modes, "mode", nil, "what executes the instructions, a `list` of interpreter, c1 and c2 (default: interpreter)")
	set.BoolVar(&t.pairs, "pairs", false, "time each instruction among others too, that feed it and take what it leaves")
	set.IntVar(&t.length, "length", bytecode.DefaultLength, "how many instructions a sequence has")
	set.IntVar(&t.load, "load", 0, "how many processes of nice 5 compete for the same CPU meanwhile")
	set.BoolVar(&t.restart, "restart", false, "begin anew, whatever an interrupted run has measured")
	set.StringVar(&f.html, "report", "", "write a page with all figures and tables of the source into this `file`, as --html does")
}

// These are the durations of --quick and --thorough.
const (
	quickBytecode    = 30 * time.Second
	thoroughBytecode = 15 * time.Minute
)

// check returns an error that says which flag is wrong, and what is allowed. It fills in the
// defaults.
func (t *bytecodeFlags) check(c *call) error {
	if !c.given("time") {
		t.duration = of(c.effort, quickBytecode, bytecode.DefaultDuration, thoroughBytecode)
	}
	switch {
	case c.given("report") && c.given("html"):
		return usagef("--report, --html: both write the page: give one of them")
	case t.all && len(t.instructions) > 0:
		return usagef("--all and --instructions exclude one another: give one of them")
	case t.duration < time.Second || t.duration > 24*time.Hour:
		return usagef("--time: %v can't be had: give 1s to 24h, such as 5m", t.duration)
	case t.load < 0 || t.load > mostBytecodeLoad:
		return usagef("--load: %d can't be had: give 0 (none) to %d", t.load, mostBytecodeLoad)
	case t.length < leastLength || t.length > mostLength:
		return usagef("--length: %d can't be had: give %d to %d", t.length, leastLength, mostLength)
	}
	var instructions []string
	for _, i := range bytecode.Catalogue() {
		instructions = append(instructions, i.Mnemonic)
	}
	return cmp.Or(allKnown("--instructions", t.instructions, instructions), t.checkMethods(), t.checkModes())
}

// These are limits of flags.
const (
	mostBytecodeLoad = 64
	leastLength      = 10
	mostLength       = 2000 // the code of a method is limited to 64 KB
)

// checkMethods checks the combination of --estimator and --outcome.
func (t *bytecodeFlags) checkMethods() error {
	known := map[string]bytecode.Method{"01": bytecode.Bernoulli, "sum": bytecode.Discrete}
	if err := allKnown("--estimator", t.estimators, texts(bytecode.Methods())); err != nil || len(t.outcomes) == 0 {
		return err
	}
	t.estimators = slices.DeleteFunc(t.estimators, func(name string) bool {
		return name == string(bytecode.Bernoulli) || name == string(bytecode.Discrete)
	})
	for _, outcome := range t.outcomes {
		m, ok := known[outcome]
		if !ok {
			return usagef("--outcome: invalid value %q: use 01, sum, or both", outcome)
		}
		if !slices.Contains(t.estimators, string(m)) {
			t.estimators = append(t.estimators, string(m))
		}
	}
	return nil
}

func (t *bytecodeFlags) checkModes() error {
	if len(t.modes) == 0 {
		t.modes = []string{string(bytecode.Interpreter)}
	}
	known := texts([]bytecode.Mode{bytecode.Interpreter, bytecode.C1, bytecode.C2})
	if err := allKnown("--mode", t.modes, known); err != nil {
		return err
	}
	// The interpreter comes first, since the others are compared with it.
	slices.SortStableFunc(t.modes, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	t.modes = slices.Compact(t.modes)
	return nil
}

// methods returns the requested estimators; empty for the usual ones.
func (t *bytecodeFlags) methods() []bytecode.Method {
	var all []bytecode.Method
	for _, name := range t.estimators {
		all = append(all, bytecode.Method(name))
	}
	return all
}

// choice says which results come first in the document.
func (t *bytecodeFlags) choice() bytecode.Choice {
	c := bytecode.Choice{Pairings: []bytecode.Pairing{bytecode.Paired, bytecode.Unpaired}}
	c.Methods = append(t.methods(), bytecode.Counter, bytecode.Discrete, bytecode.Bernoulli, bytecode.Nano)
	switch {
	case t.paired && !t.unpaired:
		c.Pairings = []bytecode.Pairing{bytecode.Paired}
	case t.unpaired && !t.paired:
		c.Pairings = []bytecode.Pairing{bytecode.Unpaired}
	}
	return c
}

func (t *bytecodeFlags) measure(ctx context.Context, c *call) (found, error) {
	results, err := (&bytecodeExperiment{flags: t, call: c}).run(ctx)
	if err != nil && ctx.Err() == nil {
		return found{}, err
	}
	reports := bytecode.Reports(results, t.choice())
	d := record.Bytecode{Header: c.finish(ctx), Report: reports[0], Others: reports[1:], Load: t.load}
	return found{document: d, verdicts: verdictsOfBytecode(d)}, nil
}

// verdictsOfBytecode returns the verdicts of the instructions of all runs.
func verdictsOfBytecode(d record.Bytecode) map[string]stats.Verdict {
	verdicts := map[string]stats.Verdict{}
	for _, r := range append([]bytecode.Report{d.Report}, d.Others...) {
		for _, i := range r.Instructions {
			worst(verdicts, fmt.Sprintf("%s (%s) of Java %s, %s", i.Mnemonic, i.Form, r.Java.Version, r.Mode), i.Verdict)
		}
	}
	return verdicts
}
