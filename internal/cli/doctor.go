package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"chronoscope/machine"
	"chronoscope/record"
)

// newDoctor is the command that says what disturbs measurements.
func newDoctor(f *flags, s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what about this machine will disturb measurements, and what to do about it",
		Long: `Looks at what is known to disturb measurements: load, CPU limits, the clock that
the kernel uses, frequency and heat, busy siblings, interrupts, what the
hypervisor takes away, swapping, kernels built for debugging, and more. Each
finding says what was seen, its effect, and the command that mends it.

  warning  spoils measurements
  note     to be kept in mind
  ok       as it should be; --format json and csv say what was seen

The kernel's counters are watched for 200 ms (--quick 100 ms, --thorough 1 s).
With --cpu it looks at the CPUs that measurements are to run on. What can't be
read is not warned about: it stands among the caveats. No rights are needed.

The exit status does not depend on what was found. Findings have no verdict
that could be required.`,
		Example: `  chronoscope doctor
  chronoscope doctor --cpu 3 --thorough
  chronoscope doctor --format json | jq -r '.findings[] | select(.severity == "warning") | .fix'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q takes no arguments, and got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), f, s) },
	}
	f.refuse(cmd, "gives findings, and findings have no verdict that could be required: look at severity with --format json or csv", "require")
	f.refuse(cmd, "has no charts", "plot")
	return cmd
}

// examine looks at the machine, and writes what it found.
func examine(ctx context.Context, f *flags, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	header := record.NewHeader("doctor", machine.Identify(), set.seed)
	if set.cpus, err = examinedCPUs(set.cpus, header.Machine); err != nil {
		return err
	}
	var watched time.Duration
	findings, caveats := machine.Doctor{
		Root: os.DirFS("/"), Machine: header.Machine, CPUs: set.cpus, Window: watchFor(f),
		Wait: func(d time.Duration) time.Duration { watched = wait(ctx, d); return watched },
	}.Examine()
	header.Finish(ctx.Err() != nil)
	d := record.NewDoctor(header, set.cpus, watched, findings, caveats)
	if err := set.show(s.Out, d); err != nil {
		return err
	}
	if d.Interrupted {
		return errInterrupted
	}
	return nil
}

// examinedCPUs are those of --cpu, on which a thread has to be able to run, or
// else all that this process may use; nil where they are not known.
func examinedCPUs(asked []int, m *machine.Machine) ([]int, error) {
	if len(asked) == 0 {
		all, err := machine.ParseCPUList(string(m.CPUList))
		if err != nil {
			return nil, nil
		}
		return all, nil
	}
	restore, err := machine.Pin(asked)
	if unbound := (*machine.AffinityError)(nil); errors.As(err, &unbound) {
		return nil, cpuError(unbound, m)
	}
	if err != nil {
		return nil, err
	}
	return asked, restore()
}

// watchFor is how long the kernel's counters are watched.
func watchFor(f *flags) time.Duration {
	switch {
	case f.quick:
		return 100 * time.Millisecond
	case f.thorough:
		return time.Second
	}
	return 200 * time.Millisecond
}

// wait lets the time pass, or returns when the user has had enough, and says how
// long it was.
func wait(ctx context.Context, d time.Duration) time.Duration {
	start := time.Now()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return time.Since(start)
}
