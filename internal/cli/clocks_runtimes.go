package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chronoscope/clock"
	"chronoscope/internal/probe"
	"chronoscope/timermeter"
	"chronoscope/view"
)

// clockChoice says which clocks of which runtimes are ranked.
type clockChoice struct {
	names    []string // clocks; those of other runtimes as RUNTIME/NAME
	runtimes []string // "go" is this program
	probes   []string // command lines
	set      string   // a published set of timers
}

// ownRuntime is the runtime of this program's clocks. allRuntimes stands for it and all runtimes
// with a built-in probe.
const (
	ownRuntime  = "go"
	allRuntimes = "all"
)

// knownRuntimes returns this program's runtime and those with a built-in probe.
func knownRuntimes() []string { return append([]string{ownRuntime}, probe.Runtimes()...) }

// check returns an error for an invalid choice, and fills in the runtimes: if none is chosen, those
// of the named clocks, and without names this program's own.
func (c clockChoice) check() (clockChoice, error) {
	known := knownRuntimes()
	switch c.set {
	case "":
	case view.Kuperberg2011:
		if len(c.names)+len(c.runtimes)+len(c.probes) > 0 {
			return c, usagef("--set %s chooses its own timers: leave out names, --runtime and --probe", c.set)
		}
		c.names = view.KuperbergTimers()
	default:
		return c, usagef("--set: there is no set %q: use %s", c.set, view.Kuperberg2011)
	}
	for _, r := range c.runtimes {
		if r != allRuntimes && !slices.Contains(known, r) {
			return c, usagef("--runtime: there is no runtime %q: use all, %s", r, strings.Join(known, ", "))
		}
	}
	if slices.Contains(c.runtimes, allRuntimes) {
		c.runtimes = known
	}
	if len(c.runtimes) == 0 {
		var err error
		if c.runtimes, err = c.runtimesOfNames(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// runtimesOfNames returns the runtimes of the named clocks.
func (c clockChoice) runtimesOfNames() ([]string, error) {
	var all []string
	for _, name := range c.names {
		prefix, _, foreign := strings.Cut(name, "/")
		runtime := ownRuntime
		if foreign {
			runtime = familyOf(prefix)
		}
		if runtime == "" && len(c.probes) == 0 {
			return nil, usagef("%s: no probe comes with this program for a runtime %q: name its probe with --probe, or choose from %s",
				name, prefix, strings.Join(probe.Runtimes(), ", "))
		}
		if !slices.Contains(all, runtime) {
			all = append(all, runtime)
		}
	}
	if len(c.names) == 0 {
		all = []string{ownRuntime}
	}
	return all, nil
}

// familyOf returns the family of runtimes whose built-in probe has that name; empty if there is
// none.
func familyOf(name string) string {
	for _, family := range probe.Runtimes() {
		for _, k := range probe.Kits(family) {
			if k.Name == name {
				return family
			}
		}
	}
	return ""
}

// request adds to q the names of the clocks to rank: those of this process, and those of other
// runtimes.
func (c clockChoice) request(q timermeter.Request) (timermeter.Request, error) {
	q.GuestsOnly = !slices.Contains(c.runtimes, ownRuntime)
	for _, name := range c.names {
		if !strings.Contains(name, "/") {
			q.Names = append(q.Names, name)
		}
	}
	guests := &guests{names: c.names, taken: map[string]int{ownRuntime: 1}}
	for _, family := range probe.Runtimes() {
		if !slices.Contains(c.runtimes, family) {
			continue
		}
		for _, kit := range probe.Kits(family) {
			if guests.wants(kit.Name) {
				q.Guests = append(q.Guests, guests.guest(kit.Name, func(ctx context.Context) (*probe.Probe, error) {
					return kit.Start(ctx, probe.DefaultLimits)
				}))
			}
		}
	}
	for _, line := range c.probes {
		words, err := splitWords(line)
		if err != nil {
			return q, usagef("--probe %q: it can't be split into a program and its arguments: write a single command, with quotes where an argument holds blanks", line)
		}
		q.Guests = append(q.Guests, guests.guest(line, func(ctx context.Context) (*probe.Probe, error) {
			return probe.Start(ctx, words, probe.DefaultLimits)
		}))
	}
	return q, nil
}

// guests turns probes into the guests of a ranking.
type guests struct {
	names []string       // wanted timers; empty for all
	taken map[string]int // how many runtimes have each name
}

// wants reports whether any timer of that runtime is wanted.
func (g *guests) wants(runtime string) bool {
	return !slices.ContainsFunc(g.names, isForeign) ||
		slices.ContainsFunc(g.names, func(name string) bool { return strings.HasPrefix(name, runtime+"/") })
}

func isForeign(name string) bool { return strings.Contains(name, "/") }

func (g *guests) guest(name string, start func(context.Context) (*probe.Probe, error)) timermeter.Guest {
	return timermeter.Guest{Name: name, Open: func(ctx context.Context) (*timermeter.Company, error) {
		p, err := start(ctx)
		if err != nil {
			return nil, err
		}
		return g.company(p), nil
	}}
}

// company returns a probe's timers for the ranking. A number distinguishes two probes of the same
// runtime.
func (g *guests) company(p *probe.Probe) *timermeter.Company {
	runtime := p.Runtime
	if g.taken[p.Runtime]++; g.taken[p.Runtime] > 1 {
		runtime = fmt.Sprintf("%s-%d", p.Runtime, g.taken[p.Runtime])
	}
	company := &timermeter.Company{
		Runtime: timermeter.Runtime{Name: runtime, Version: p.Version, Warmup: p.Warmup},
		Close:   p.Close,
	}
	called := func(timer string) string { return runtime + "/" + timer }
	for _, t := range p.Timers {
		company.Timers = append(company.Timers, timermeter.Foreign{
			Clock: clock.Clock{
				Name: called(t.Name), Runtime: runtime, API: t.API, Kind: t.Kind, Scope: t.Scope, UnitNs: t.UnitNs,
				Calendar: t.Calendar, Settable: t.Settable, CountsSleep: clock.Unknown, CountsSuspend: t.CountsSuspend,
			},
			Name: t.Name, TickNs: t.TickNs, Ask: t, CPUTime: p.CPUTime,
		})
	}
	for _, d := range p.Hello.Timers {
		if err := p.Silent[d.Name]; err != nil {
			company.Unavailable = append(company.Unavailable, &clock.Unavailable{Name: called(d.Name), Reason: clock.Refused, Detail: err.Error()})
		}
	}
	g.choose(company)
	return company
}

// choose keeps only the named timers, and reports those that don't exist.
func (g *guests) choose(company *timermeter.Company) {
	if !slices.ContainsFunc(g.names, isForeign) {
		return
	}
	company.Ranks = func(f timermeter.Foreign) bool { return slices.Contains(g.names, f.Clock.Name) }
	has := func(name string) bool {
		return slices.ContainsFunc(company.Timers, func(f timermeter.Foreign) bool { return f.Clock.Name == name }) ||
			slices.ContainsFunc(company.Unavailable, func(u *clock.Unavailable) bool { return u.Name == name })
	}
	for _, name := range g.names {
		if strings.HasPrefix(name, company.Name+"/") && !has(name) {
			company.Unavailable = append(company.Unavailable, &clock.Unavailable{
				Name: name, Reason: clock.NotSupportedHere, Detail: "the probe of " + company.Name + " does not offer it",
				Remedy: "see what it offers with --runtime and no names",
			})
		}
	}
}
