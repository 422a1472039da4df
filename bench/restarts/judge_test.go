package main

import (
	"strings"
	"testing"
)

// twoLives are samples of a serve that was killed after 30 s, a scrape every 10 s. Each series is a line: in the first
// life 0, 1, 2 and in the second 0, 1, 2, times the factor.
func twoLives() []series {
	all := []series{{Metric: map[string]string{"__name__": "process_start_time_seconds"}}}
	for i := range 6 {
		all[0].Values = append(all[0].Values, point{float64(1000 + 10*i), float64(1000 + 30*(i/3))})
	}
	for name, factor := range map[string]float64{
		"chronoscope_turns_total": 1, "chronoscope_watched_seconds_total": 0.1, "chronoscope_lost_seconds_total": 0.01,
		"chronoscope_turn_lost_ratio_count": 1, "chronoscope_turn_lost_ratio_sum": 0.1, "chronoscope_turn_lost_ratio_squares_total": 0.01,
	} {
		s := series{Metric: map[string]string{"__name__": name}}
		for i := range 6 {
			s.Values = append(s.Values, point{float64(1000 + 10*i), factor * float64(i%3)})
		}
		all = append(all, s)
	}
	stolen := series{Metric: map[string]string{"__name__": "chronoscope_stolen_seconds_total"}}
	for i := range 6 {
		stolen.Values = append(stolen.Values, point{float64(1000 + 10*i), 500 + float64(i)})
	}
	return append(all, stolen)
}

func TestJudgeAcceptsCountersThatBeginAnew(t *testing.T) {
	faults, seen := judge(twoLives(), 2)
	if len(faults) > 0 || seen.lives != 2 || seen.scrapes != 6 || seen.grew["chronoscope_turns_total"] != 4 {
		t.Errorf("%v, %+v", faults, seen)
	}
}

// A name that others push out goes; any other series stays for a life.
func TestJudgeKnowsThatNamesGo(t *testing.T) {
	for name, faults := range map[string]int{disturber: 0, "chronoscope_surveys_total": 1} {
		goes := series{Metric: map[string]string{"__name__": name, "name": "x"}, Values: []point{{1000, 0}, {1010, 0}}}
		if found, _ := judge(append(twoLives(), goes), 2); len(found) != faults {
			t.Errorf("%s: %q, want %d faults", name, found, faults)
		}
	}
}

// Each planted fault is found, and named.
func TestJudgeFindsWhatCannotBe(t *testing.T) {
	for name, plant := range map[string]struct {
		series string
		at     int
		value  float64
		fault  string
	}{
		"a counter that falls within a life":   {"chronoscope_turns_total", 2, 0.5, "chronoscope_turns_total{} falls from 1 to 0.5"},
		"a counter below 0":                    {"chronoscope_turns_total", 3, -1, "chronoscope_turns_total{} falls"},
		"more lost than watched":               {"chronoscope_lost_seconds_total", 4, 0.11, "the time lost while watched is 0.11"},
		"shares above 1":                       {"chronoscope_turn_lost_ratio_sum", 5, 2.1, "the sum of shares is 2.1"},
		"a counter that goes on after a kill":  {"chronoscope_watched_seconds_total", 3, 5, "the time watched is 5, and can't be above 1"},
		"the machine's counter begins anew":    {"chronoscope_stolen_seconds_total", 3, 0, "chronoscope_stolen_seconds_total{} falls from 502 to 0"},
		"a process that started before others": {"process_start_time_seconds", 5, 1000, "the process started at 1000.000, the previous one at 1030.000"},
	} {
		stored := twoLives()
		for i := range stored {
			if stored[i].name() == plant.series {
				stored[i].Values[plant.at].value = plant.value
			}
		}
		if faults, _ := judge(stored, 2); len(faults) == 0 || !strings.Contains(strings.Join(faults, "\n"), plant.fault) {
			t.Errorf("%s: %q, want %q", name, faults, plant.fault)
		}
	}
}
