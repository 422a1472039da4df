package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/tracepoint"
)

// newDoctor returns the command that says what disturbs measurements.
func newDoctor() *command {
	return &command{Command: &cobra.Command{
		Use:   "doctor",
		Short: "Say what about this machine will disturb measurements, and what to do about it",
		Long: `Looks at what is known to disturb measurements: load, CPU limits, the clock that
the kernel uses, frequency and heat, busy siblings, shared cores, interrupts, what the
hypervisor takes away, swapping, kernels built for debugging, and more. Each
finding says what was seen, its effect, and the command that mends it.

  warning  spoils measurements
  note     to be kept in mind
  ok       as it should be; --format json and csv say what was seen

The kernel's counters are watched for 200 ms (--quick 100 ms, --thorough 1 s),
and the first four CPUs are probed for shared cores, 100 ms each. With --cpu it
looks at the CPUs that measurements are to run on. What can't be
read is not warned about: it stands among the caveats. No rights are needed.

The exit status does not depend on what was found. Findings have no verdict
that could be required.`,
		Example: `  chronoscope doctor
  chronoscope doctor --cpu 3 --thorough
  chronoscope doctor --format json | jq -r '.findings[] | select(.severity == "warning") | .fix'`,
	}, measure: examine, refused: map[string]string{
		"require": "gives findings, and findings have no verdict that could be required: look at severity with --format json or csv",
		"plot":    "has no charts",
	}}
}

// examine examines the machine.
func examine(ctx context.Context, c *call) (found, error) {
	cpus := c.cpus
	if len(cpus) == 0 {
		cpus, _ = machine.ParseCPUList(string(c.header.Machine.CPUList)) // none if they are not known
	}
	findings, watched := c.examined(ctx, cpus)
	findings = c.withSharedCores(ctx, cpus, findings)
	return found{document: record.Doctor{
		Header: c.finish(ctx), CPUList: machine.Text(machine.FormatCPUList(cpus)), WatchedNs: watched.Nanoseconds(), Findings: findings,
	}}, nil
}

// examined returns what disturbs measurements on the CPUs, without shared cores, and how long the kernel's counters were
// watched.
func (c *call) examined(ctx context.Context, cpus []int) (findings []machine.Finding, watched time.Duration) {
	findings, caveats := machine.Doctor{
		Root: os.DirFS("/"), Machine: c.header.Machine, CPUs: cpus, Window: watchFor(c.effort),
		Wait: func(d time.Duration) time.Duration { waited := clock.Wait(ctx, d); watched += waited; return waited },
	}.Examine()
	c.header.Caveats = append(c.header.Caveats, caveats...)
	return c.withTracepoints(findings), watched
}

// withTracepoints adds the finding whether the kernel's tracepoints can be recorded, and keeps the
// findings in order, the worst first. If the cause is not missing rights, it adds a caveat instead.
func (c *call) withTracepoints(findings []machine.Finding) []machine.Finding {
	const topic = "tracepoints"
	r, err := tracepoint.Open()
	if err == nil {
		r.Close()
		return append(findings, machine.Finding{Topic: topic, Severity: machine.OK, Seen: "the kernel's tracepoints can be recorded: why names who makes a program wait"})
	}
	var unavailable *tracepoint.Unavailable
	if !errors.As(err, &unavailable) || unavailable.Remedy == "" {
		c.caveat("%s: %v", topic, err)
		return findings
	}
	return machine.WorstFirst(append(findings, machine.Finding{
		Topic: topic, Severity: machine.Note, Seen: "the kernel's tracepoints can't be recorded: " + unavailable.Detail,
		Effect: "why says how long a program waits, but not for whom", Fix: unavailable.Remedy,
	}))
}

// watchFor returns how long the kernel's counters are watched.
func watchFor(e effort) time.Duration {
	return of(e, 100*time.Millisecond, 200*time.Millisecond, time.Second)
}
