package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chronoscope/kbest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Scheme is a way to find out how long something takes.
type Scheme struct {
	Name string
	// About describes the scheme.
	About string
	// Claims says that the scheme gives an interval.
	Claims bool
	// answer evaluates a stream; nil for schemes that measure whole programs.
	answer func(*Stream) Answer
}

// Names of schemes.
const (
	OwnKBest     = "kbest"
	OwnProgram   = "program"
	Hyperfine    = "hyperfine"
	TestingB     = "testing-b"
	Times        = "times"
	Getrusage    = "getrusage"
	SourceK3     = "source-k3"
	Gettimeofday = "gettimeofday-k3"
	// Compensated is the suffix of schemes that subtract the time of interrupts.
	Compensated = "-compensated"
)

// epsilon and mostRuns are epsilon and M of the source (Bryant 2003, section 9.4.3), and mostK is the largest K that it
// tried.
const (
	epsilon  = 0.001
	mostRuns = 30
	mostK    = 5
)

// Schemes returns all schemes.
func Schemes() []Scheme {
	all := []Scheme{
		{Times, "user and system time by times(2), one measurement", true, countingBy("times", func(x Sample) stats.Float { return x.TimesNs }, func(s *Stream) (float64, float64) { return s.TimesTickNs, 0 })},
		{Getrusage, "user and system time by getrusage(2), one measurement", true, countingBy("getrusage", func(x Sample) stats.Float { return x.GetrusageNs }, func(s *Stream) (float64, float64) { return s.GetrusageTickNs, s.Empty.GetrusageNs })},
	}
	for _, clock := range []struct {
		name, about string
		read        reading
	}{
		{"source", "the processor's counter", byCounter},
		{"gettimeofday", "gettimeofday(2)", byGettimeofday},
	} {
		for k := 1; k <= mostK; k++ {
			name := fmt.Sprintf("%s-k%d", clock.name, k)
			about := fmt.Sprintf("K-best as in the source, by %s, K = %d", clock.about, k)
			all = append(all,
				Scheme{name, about, true, kBest(k, clock.read, false)},
				Scheme{name + Compensated, about + ", less what interrupts take", true, kBest(k, clock.read, true)})
		}
	}
	return append(all,
		Scheme{TestingB, "the mean over a second, as testing.B has it", false, meanOfASecond},
		Scheme{OwnKBest, "package kbest", true, func(s *Stream) Answer { return s.KBest }},
		Scheme{OwnProgram, "package program, whole programs", true, nil},
		Scheme{Hyperfine, "hyperfine's mean of wall times, whole programs", false, nil})
}

// Choose returns the schemes with the given names. The name of a family, such as "source", stands for
// all schemes whose name begins with it and a hyphen. Without names it returns all.
func Choose(names []string) ([]Scheme, error) {
	all := Schemes()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Scheme
	for _, s := range all {
		if slices.ContainsFunc(names, s.is) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s Scheme) bool { return s.is(name) }) {
			return nil, fmt.Errorf("no scheme is called %q: choose from %s", name, strings.Join(families(all), ", "))
		}
	}
	return chosen, nil
}

func (s Scheme) is(name string) bool {
	return name != "" && (s.Name == name || strings.HasPrefix(s.Name, name+"-"))
}

// families returns the names of the schemes, with one name for those that differ only in K.
func families(all []Scheme) []string {
	var names []string
	for _, s := range all {
		name, _, numbered := strings.Cut(s.Name, "-k")
		if numbered {
			name += " (-k1 to -k5, " + Compensated + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// missing returns the answer of a scheme that has no figure, with the reason.
func missing(format string, args ...any) Answer {
	a := Answer{Estimate: stats.NoEstimate("ns", "none"), Judgement: stats.NewJudgement()}
	a.Lower(stats.Unusable, format, args...)
	return a
}

// usual returns the samples that schemes other than kbest may use: those for which the thread had
// not asked for long time slices. Work that is longer than such a slice gains nothing from it, and
// then usual returns all samples.
func (s *Stream) usual() []Sample {
	gains := s.Load > 1 && s.Duration <= machine.LongTurns
	return slices.DeleteFunc(slices.Clone(s.Samples), func(x Sample) bool { return gains && x.LongTurn })
}

// countingBy returns a scheme that counts intervals: one measurement, whose error is at most one
// interval of the kernel's accounting (Bryant 2003, practice problem 9.4).
func countingBy(name string, of func(Sample) stats.Float, about func(*Stream) (tickNs, emptyNs float64)) func(*Stream) Answer {
	return func(s *Stream) Answer {
		samples := s.usual()
		if len(samples) == 0 || !of(samples[0]).Known() {
			return missing("%s can't be read here", name)
		}
		tick, empty := about(s)
		value := of(samples[0]).Value() - empty
		return Answer{Judgement: stats.NewJudgement(), Estimate: stats.Estimate{
			Value: value, Lo: value - tick, Hi: value + tick, Unit: "ns", Statistic: "single", N: 1,
		}}
	}
}

// reading returns the time of a sample by a clock, without the clock's own cost. The time is
// missing if the clock can't be read.
type reading func(*Stream, Sample) stats.Float

func byCounter(s *Stream, x Sample) stats.Float { return stats.FloatOf(x.WallNs - s.Empty.WallNs) }

func byGettimeofday(s *Stream, x Sample) stats.Float {
	return stats.FloatOf(x.GettimeofdayNs.Value() - s.Empty.GettimeofdayNs)
}

// timed is a sample with its time in ns by one clock, without the clock's own cost.
type timed struct {
	Sample
	ns float64
}

// made returns the samples that the source's scheme takes (Bryant 2003, section 9.4.3), in order of
// their times: it stops when the K least agree within epsilon, or after M samples. The result is
// nil if the clock can't be read.
func (s *Stream) made(k int, read reading) (all []timed, converged bool) {
	best := kbest.NewBest(k)
	all = []timed{}
	for _, x := range s.usual() {
		v := read(s, x)
		if !v.Known() {
			return nil, false
		}
		best.Add(v.Value())
		all = append(all, timed{x, v.Value()})
		if best.Converged(epsilon) || len(all) == mostRuns {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.ns, b.ns) })
	return all, best.Converged(epsilon)
}

// kBest is the source's scheme. Its value is the least time v_1, and the relative error that it
// claims is (v_K - v_1)/v_1. With compensation it subtracts what interrupts took from each of the K
// samples: see leastOf of [Losses].
func kBest(k int, read reading, compensate bool) func(*Stream) Answer {
	return func(s *Stream) Answer {
		made, converged := s.made(k, read)
		switch {
		case made == nil:
			return missing("the clock can't be read here")
		case len(made) < k:
			return missing("%d samples are fewer than K = %d", len(made), k)
		}
		var values []float64
		for i, x := range made[:k] {
			losses := s.around(x.Sample)
			switch {
			case !compensate:
				values = append(values, x.ns)
			case losses.WatchedNs == 0:
				return missing("what interrupts take of this CPU could not be traced, so that nothing can be taken off")
			default:
				values = append(values, x.ns-losses.leastOf(i+1, len(made), x.ns))
			}
		}
		value := values[0]
		slices.Sort(values)
		spread := values[k-1] - values[0]
		a := Answer{Judgement: stats.NewJudgement(), Estimate: stats.Estimate{
			Value: value, Lo: value - spread, Hi: value + spread, Unit: "ns", Statistic: kbest.MinK, N: k, Discarded: len(made) - k,
		}}
		if !converged {
			a.Lower(stats.Suspect, "it did not converge in %d samples", len(made))
		}
		return a
	}
}

// aSecond is the running time of testing.B, in nanoseconds.
const aSecond = 1e9

func meanOfASecond(s *Stream) Answer {
	var sum float64
	n := 0
	for _, x := range s.usual() {
		sum += x.WallNs - s.Empty.WallNs
		if n++; sum >= aSecond {
			break
		}
	}
	if n == 0 {
		return missing("there are no samples")
	}
	return Answer{Judgement: stats.NewJudgement(), Estimate: stats.Estimate{
		Value: sum / float64(n), Lo: nan, Hi: nan, Unit: "ns", Statistic: "mean", N: n,
	}}
}
