package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// seen sums up the samples of all lives. A life lasts from one start of serve until it is killed.
type seen struct {
	scrapes, lives, series int
	oldestTurn             float64            // the longest time between a turn and a scrape, in seconds
	mostCPU                float64            // the largest share of a CPU used between the first and the last scrape of a life
	grew                   map[string]float64 // by name of a counter: its growth, summed over all lives
}

// scrape is what one scrape stored.
type scrape struct {
	at     float64
	values map[string]float64 // by series
}

// whole are counters of the machine, which do not begin anew with a life.
var whole = []string{"chronoscope_stolen_seconds_total", "process_network_receive_bytes_total", "process_network_transmit_bytes_total"}

// disturber is a counter with a bounded number of series: if there are more disturbers, one is added to the
// series of kind others.
const disturber = "chronoscope_disturber_seconds_total"

// slackSeconds allows for differences between the clock of process_start_time_seconds, which counts kernel
// ticks, and Prometheus' clock.
const slackSeconds = 1.0

// judge returns the faults: what can't be in the samples of a serve that is killed and started again.
func judge(stored []series, cpus int) (faults []string, s seen) {
	s.grew, s.series = map[string]float64{}, len(stored)
	names := map[string]string{}
	for _, one := range stored {
		names[one.String()] = one.name()
	}
	fault := func(at scrape, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("at %.3f: ", at.at)+fmt.Sprintf(format, args...))
	}
	const started, own = "process_start_time_seconds{}", "chronoscope_own_cpu_seconds_total{}"
	var before, first scrape
	for _, now := range scrapes(stored) {
		start, up := now.values[started]
		if !up {
			continue
		}
		s.scrapes++
		again := before.values == nil || start != before.values[started]
		if again {
			s.lives++
			first = now
		}
		if start < before.values[started] {
			fault(now, "the process started at %.3f, the previous one at %.3f", start, before.values[started])
		}
		for key, name := range names {
			if !isCounter(name) {
				continue
			}
			value, is := now.values[key]
			old, was := before.values[key]
			switch {
			case !again && was && !is && name != disturber:
				fault(now, "%s has gone", key)
			case value < 0, is && was && value < old && (!again || slices.Contains(whole, name)):
				fault(now, "%s falls from %v to %v", key, old, value)
			}
			if slices.Contains(whole, name) || !is {
				continue
			}
			if again {
				old = 0
			}
			if before.values != nil {
				s.grew[name] += value - old
			}
		}
		s.oldestTurn = max(s.oldestTurn, now.values["chronoscope_turn_age_seconds{}"])
		age := now.at - start + slackSeconds
		for _, limit := range limits(now.values, age, float64(cpus)) {
			if !(limit.value <= limit.most*(1+1e-9)) {
				fault(now, "%s is %v, and can't be above %v in a life of %.1f s", limit.name, limit.value, limit.most, age)
			}
		}
		if seconds := now.at - first.at; seconds > 10 {
			s.mostCPU = max(s.mostCPU, (now.values[own]-first.values[own])/seconds)
		}
		before = now
	}
	return faults, s
}

// limit is the largest possible value of a figure.
type limit struct {
	name        string
	value, most float64
}

// limits returns the limits for a process of that age, in seconds, on the given number of CPUs.
func limits(values map[string]float64, age, cpus float64) []limit {
	sum := func(name string) (sum float64) {
		for key, value := range values {
			if strings.HasPrefix(key, name+"{") {
				sum += value
			}
		}
		return sum
	}
	watched, shares := sum("chronoscope_watched_seconds_total"), sum("chronoscope_turn_lost_ratio_sum")
	return []limit{
		{"the time watched", watched, age},
		{"the time lost while watched", sum("chronoscope_lost_seconds_total"), watched},
		{"the time that disturbers took", sum(disturber), watched},
		{"the sum of shares", shares, sum("chronoscope_turn_lost_ratio_count")},
		{"the sum of their squares", sum("chronoscope_turn_lost_ratio_squares_total"), shares},
		{"own CPU time", sum("chronoscope_own_cpu_seconds_total"), age * cpus},
		{"run-queue wait", sum("chronoscope_runqueue_wait_seconds_total"), age},
		{"throttled time", sum("chronoscope_throttled_seconds_total"), age},
		{"the age of a turn", sum("chronoscope_turn_age_seconds"), age},
		{"the age of a survey", sum("chronoscope_survey_age_seconds"), age},
	}
}

func isCounter(name string) bool {
	return strings.HasSuffix(name, "_total") || name == "chronoscope_turn_lost_ratio_sum" || name == "chronoscope_turn_lost_ratio_count"
}

// scrapes groups samples of one moment, in the order of time.
func scrapes(stored []series) (all []scrape) {
	at := map[float64]map[string]float64{}
	for _, one := range stored {
		key := one.String()
		for _, p := range one.Values {
			if at[p.at] == nil {
				at[p.at] = map[string]float64{}
			}
			at[p.at][key] = p.value
		}
	}
	for _, t := range slices.Sorted(maps.Keys(at)) {
		all = append(all, scrape{t, at[t]})
	}
	return all
}
