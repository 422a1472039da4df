package history

import (
	"strings"

	"chronoscope/machine"
)

// Tier is what two machines must have in common for their figures to be in one series.
type Tier struct {
	CPU, System, Kernel, Hypervisor, Clocksource, Arch string
}

// TierOf returns the tier of a machine. Only the first two numbers of the kernel's release count: a
// patch release doesn't begin a new tier.
func TierOf(m *machine.Machine) Tier {
	return Tier{
		CPU: string(m.CPU), System: string(m.OS), Kernel: kernelSeries(string(m.Kernel)),
		Hypervisor: string(m.Hypervisor), Clocksource: string(m.Clocksource), Arch: string(m.Arch),
	}
}

// kernelSeries returns the first two numbers of a kernel's release, such as 6.12 of 6.12.8-1-amd64.
func kernelSeries(release string) string {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return release
	}
	end := strings.IndexFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		parts[1] = parts[1][:end]
	}
	return parts[0] + "." + parts[1]
}

// String names the tier in words.
func (t Tier) String() string {
	var parts []string
	for _, part := range []string{t.CPU, strings.TrimSpace(t.System + " " + t.Kernel), t.Hypervisor, t.Clocksource} {
		if part != "" && part != "none" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "unknown machine"
	}
	return strings.Join(parts, ", ")
}

// unlike says how one tier differs from another.
func (t Tier) unlike(other Tier) string {
	var parts []string
	for _, p := range []struct{ name, now, before string }{
		{"CPU", t.CPU, other.CPU}, {"system", t.System, other.System}, {"kernel", t.Kernel, other.Kernel},
		{"hypervisor", t.Hypervisor, other.Hypervisor}, {"clock source", t.Clocksource, other.Clocksource}, {"architecture", t.Arch, other.Arch},
	} {
		if p.now != p.before {
			parts = append(parts, p.name)
		}
	}
	return strings.Join(parts, ", ")
}
