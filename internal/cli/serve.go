package cli

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/exporter"
	"chronoscope/history"
	"chronoscope/machine"
)

// newServe returns the command that measures all the time and exports the results to Prometheus.
func newServe() *command {
	t := &serveFlags{}
	const noResult = "runs until it is stopped, and writes no result"
	return &command{Command: &cobra.Command{
		Use:   "serve",
		Short: "Measure all the time within a small budget, and export to Prometheus",
		Long: `Measures in short turns and answers Prometheus' scrapes at /metrics: how long known work
takes, what share of a CPU's time is lost to which causes, how long the gaps are, how good
the clocks are, and what doctor finds. As root, or with CAP_PERFMON and
CAP_DAC_READ_SEARCH, it also names who takes the time.

Turns come at random times and keep within the budget: a share of one CPU, in any hour.
The metric chronoscope_own_cpu_seconds_total says what this process really uses. A scrape
never waits for a turn: it reads the results of the last one, with their age, and what
the kernel counts now.

By default only this machine can read the metrics. With another --web.listen-address it
needs TLS or users, in a web configuration of Prometheus' exporter-toolkit
(--web.config.file), or --web.insecure. SIGHUP reads that file and its certificates again;
if they are broken, the previous ones stay in use.

--otlp-endpoint, or OpenTelemetry's variable OTEL_EXPORTER_OTLP_ENDPOINT, pushes the same
metrics to a receiver of OTLP, as protobuf over HTTP. A push that fails is counted, and
logged once a minute at most. The other variables OTEL_EXPORTER_OTLP_* set certificates,
headers, compression and time-outs.

SIGTERM and SIGINT end it with status 0.`,
		Example: `  chronoscope serve
  chronoscope serve --budget 0.2% --pause-above 0.8
  chronoscope serve --web.listen-address :9788 --web.config.file web.yml
  chronoscope serve --otlp-endpoint http://localhost:4318
  curl -s localhost:9788/metrics`,
	}, flags: t.register, check: t.check, serve: t.serve, refused: map[string]string{
		"save": noResult, "format": noResult, "output": noResult, "plot": noResult, "html": noResult, "require": noResult,
		"quick": "measures in turns of one length: give --budget", "thorough": "measures in turns of one length: give --budget",
	}}
}

// serveFlags are the flags of serve.
type serveFlags struct {
	server     exporter.Server
	budgetText string
	budget     float64
	pauseAbove float64
	names      int
	push       exporter.Push
	receiver   string // the base URL of the receiver for push
}

func (t *serveFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVar(&t.server.Address, "web.listen-address", "127.0.0.1:9788", "`address` to listen on")
	set.StringVar(&t.server.ConfigFile, "web.config.file", "", "`file` with TLS and users, a web configuration of Prometheus' exporter-toolkit")
	set.BoolVar(&t.server.Insecure, "web.insecure", false, "allow other machines to read the metrics without TLS and users")
	set.StringVar(&t.budgetText, "budget", "0.5%", "`share` of one CPU that may be used in any hour")
	set.Float64Var(&t.pauseAbove, "pause-above", 0, "skip turns while more `threads` per CPU than this run or wait for one, such as 0.8 (default: never)")
	set.StringVar(&t.receiver, "otlp-endpoint", "", "push the metrics as well, to the receiver of OTLP at this `URL`, such as http://localhost:4318")
	set.DurationVar(&t.push.Interval, "otlp-interval", 0, "`time` between two pushes (default: OTEL_METRIC_EXPORT_INTERVAL, or a minute)")
	set.IntVar(&t.names, "names", 20, "`number` of disturbers that are named at most; the others are summed")
}

// Limits of the budget: a smaller one does not suffice for a turn, and a larger one would disturb the machine.
const (
	leastBudget = 0.001
	mostBudget  = 0.5
)

func (t *serveFlags) check(*call) error {
	share, err := parseShare(t.budgetText)
	t.budget = share
	_, port, form := net.SplitHostPort(t.server.Address)
	if form == nil {
		_, form = net.LookupPort("tcp", port)
	}
	switch {
	case form != nil:
		return usagef("--web.listen-address: %.40q is not of the form HOST:PORT: give 127.0.0.1:9788, or :9788 for all addresses", t.server.Address)
	case err != nil || !(share >= leastBudget && share <= mostBudget):
		return usagef("--budget: %.40q is not a share: give 0.1%% to 50%%", t.budgetText)
	case !(t.pauseAbove >= 0):
		return usagef("--pause-above: %v is not a number of threads: give 0 or more", t.pauseAbove)
	case t.names < 0 || t.names > exporter.MostNames:
		return usagef("--names: %d is out of range: give 0 to %d", t.names, exporter.MostNames)
	case t.push.Interval != 0 && t.push.Interval < time.Second:
		return usagef("--otlp-interval: %v is too short: give 1s or more", t.push.Interval)
	}
	if t.push.URL, err = exporter.PushURL(t.receiver, os.Getenv); err != nil {
		return usagef("--otlp-endpoint: %v", err)
	}
	if t.push.URL == "" && t.push.Interval != 0 {
		return usagef("--otlp-interval: there is no receiver: give --otlp-endpoint")
	}
	return nil
}

// Settings of the garbage collector. About 12 MB are in use, 8 of them by the walk through memory. With the
// pages of the executable, the process has to stay below 60 MB. More frequent collections cost a turn less than
// a millisecond.
const (
	mostMemory     = 32 << 20
	garbagePercent = 40
)

// serve exports until ctx ends.
func (t *serveFlags) serve(ctx context.Context, c *call) error {
	debug.SetMemoryLimit(mostMemory)
	debug.SetGCPercent(garbagePercent)
	log := slog.New(slog.NewTextHandler(c.streams.Err, nil))
	signal.Reset(syscall.SIGHUP) // SIGHUP ends other commands
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	t.server.Reload, t.server.Log = reload, log

	usedCPU, err := ownCPU()
	if err != nil {
		return err
	}
	start := time.Now() // a step of the wall clock does not change its monotonic reading
	elapsed := func() time.Duration { return time.Since(start) }
	metrics := exporter.NewMetrics(exporter.About{
		Version: version(), Tier: history.TierOf(c.header.Machine).String(), Budget: t.budget, MostNames: t.names,
	}, elapsed, usedCPU)
	registry := client.NewRegistry()
	registry.MustRegister(metrics, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	listener, err := t.server.Listen()
	if err != nil {
		var insecure *exporter.InsecureError
		if errors.As(err, &insecure) {
			return usagef("--web.listen-address: %v: give --web.config.file, or --web.insecure if the network is trusted", err)
		}
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	probe, err := exporter.NewProbe(ctx, c.header.Machine, c.cpus, os.DirFS("/"), c.seed)
	if err != nil {
		listener.Close()
		if ctx.Err() != nil { // it was stopped while it started
			return nil
		}
		return err
	}
	defer probe.Close()
	metrics.Kernel = probe.Kernel
	ended := make(chan struct{})
	defer func() { stop(); <-ended }() // before the probe is closed
	go func() {
		defer close(ended)
		t.prober(c.header.Machine.CPUsOnline, probe, metrics, elapsed, usedCPU, c.seed, log).Run(ctx)
	}()
	if t.pauseAbove > 0 && c.header.Machine.CPUsOnline == nil {
		log.Warn("--pause-above is ignored: how many CPUs are online is not known")
	}
	if t.push.URL != "" {
		t.push.Version, t.push.Metrics, t.push.Log = version(), metrics, log
		stopPushing, err := t.push.Start(ctx, registry)
		if err != nil {
			listener.Close()
			return err
		}
		defer stopPushing()
	}
	return t.server.Serve(ctx, listener, registry)
}

func (t *serveFlags) prober(cpus *int, m exporter.Measurer, metrics *exporter.Metrics, elapsed, usedCPU func() time.Duration, seed uint64, log *slog.Logger) exporter.Prober {
	return exporter.Prober{
		Measurer: m, Metrics: metrics, Share: t.budget, Busy: t.busy(cpus), UsedCPU: usedCPU, Elapsed: elapsed,
		Pause: func(ctx context.Context, d time.Duration) { clock.Wait(ctx, d) },
		Rand:  rand.New(rand.NewPCG(seed, 1)), Log: log,
	}
}

// busy returns a function that reports whether turns are to be skipped now; nil without --pause-above. cpus is how many
// CPUs are online.
func (t *serveFlags) busy(cpus *int) func() bool {
	if t.pauseAbove == 0 || cpus == nil {
		return nil
	}
	return func() bool {
		load, err := machine.Load() // of all CPUs, whichever of them this process may use
		return err == nil && load > t.pauseAbove*float64(*cpus)
	}
}

// ownCPU returns a function that reads the CPU time of this process, and that of its children if the
// system tells it.
func ownCPU() (func() time.Duration, error) {
	if ns := machine.OwnCPUNs(); ns == ns {
		return func() time.Duration { return time.Duration(machine.OwnCPUNs()) }, nil
	}
	c, err := clock.Open("process-cputime")
	if err != nil {
		return nil, err
	}
	return func() time.Duration { return time.Duration(float64(c.Read()) * c.UnitNs) }, nil
}
