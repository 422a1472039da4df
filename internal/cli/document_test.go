package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file defines the documented form of the JSON output, on which scripts rely. Documents may
// contain more fields, but must contain these.

// A shape describes what a value has to be. It lists the ways in which a value violates that, each
// with its place in the document.
type shape func(at string, value any) []string

func broken(at, format string, args ...any) []string {
	return []string{at + ": " + fmt.Sprintf(format, args...)}
}

// holds returns the shape of values of type T for which fits is true.
func holds[T any](what string, fits func(T) bool) shape {
	return func(at string, value any) []string {
		if v, ok := value.(T); !ok || !fits(v) {
			return broken(at, "%v is no %s", value, what)
		}
		return nil
	}
}

var (
	text    = holds("text", func(s string) bool { return s != "" })
	boolean = holds("true or false", func(bool) bool { return true })
	number  = holds("number", func(float64) bool { return true })
	size    = holds("number of 0 or more", func(x float64) bool { return x >= 0 })
	share   = holds("number from 0 to 1", func(x float64) bool { return x >= 0 && x <= 1 })
	cycles  = holds("number of cycles, 1 or more", func(x float64) bool { return x >= 1 })
	count   = holds("count", func(x float64) bool { return x >= 0 && x == math.Trunc(x) })
	instant = holds("date and time of RFC 3339", func(s string) bool {
		_, err := time.Parse(time.RFC3339Nano, s)
		return err == nil
	})
)

func oneOf[T comparable](allowed ...T) shape {
	return holds(fmt.Sprintf("one of %v", allowed), func(v T) bool { return slices.Contains(allowed, v) })
}

// orNull returns a shape that also allows null, for values that some machines lack.
func orNull(s shape) shape {
	return func(at string, value any) []string {
		if value == nil {
			return nil
		}
		return s(at, value)
	}
}

func list(element shape) shape {
	return func(at string, value any) []string {
		elements, ok := value.([]any)
		if !ok {
			return broken(at, "%v is no list", value)
		}
		var all []string
		for i, e := range elements {
			all = append(all, element(fmt.Sprintf("%s[%d]", at, i), e)...)
		}
		return all
	}
}

// object is an object with at least these fields; a name that ends with ? is optional.
type object map[string]shape

func (o object) check(at string, value any) []string {
	fields, ok := value.(map[string]any)
	if !ok {
		return broken(at, "%v is no object", value)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		field, mayLack := strings.CutSuffix(name, "?")
		v, ok := fields[field]
		if !ok && !mayLack {
			all = append(all, broken(at, "it lacks %s", field)...)
		}
		if ok {
			all = append(all, o[name](at+"."+field, v)...)
		}
	}
	return all
}

// with returns an object with the fields of both.
func (o object) with(more object) object {
	joined := maps.Clone(o)
	maps.Copy(joined, more)
	return joined
}

var machineForm = object{
	"cpu": orNull(text), "cpus": count, "tsc_hz": orNull(size), "core_hz": orNull(size),
	"clocksource": orNull(text), "hypervisor": orNull(text), "kernel": orNull(text),
	"os": text, "arch": text, "go": text, "load1": orNull(size), "smt": orNull(boolean),
}

var headerForm = object{
	"schema": oneOf("chronoscope/v1"), "command": holds("text", func(string) bool { return true }),
	"started": instant, "duration_ns": size, "interrupted": boolean,
	"machine": machineForm.check, "caveats": list(text),
}

var estimateForm = object{
	"value": orNull(number), "lo": orNull(number), "hi": orNull(number), "confidence": oneOf(0.95),
	"unit": text, "statistic": text, "n": count, "discarded": count,
}

var costForm = object{
	"min_ns": orNull(size), "median_ns": orNull(size), "p95_ns": orNull(size),
	"p99_ns": orNull(size), "max_ns": orNull(size), "family": orNull(text),
}

var clockForm = object{
	"name": text, "runtime": text, "api": text, "kind": oneOf("wall", "cpu", "counter"),
	"unit_ns": orNull(size), "accuracy": estimateForm.check, "cost": costForm.check,
	"spread": orNull(share), "quality": orNull(share),
	"cycles":    object{"accuracy": orNull(cycles), "cost": orNull(cycles)}.check,
	"monotonic": orNull(boolean), "thread_safe": orNull(boolean), "stable": orNull(boolean),
	"verdict": oneOf("trusted", "suspect", "unusable"), "reasons": list(text),
}

var rankingForm = object{
	"clocks": list(clockForm.check),
	"best": object{
		"wall": orNull(text), "cpu": orNull(text), "timestamp": orNull(text), "counter": orNull(text),
	}.check,
	"unavailable": list(object{"name": text, "reason": text, "remedy": orNull(text)}.check),
}

var cardForm = object{
	"traces": list(traceForm.check),
	"findings": list(object{
		"topic": text, "severity": oneOf("ok", "note", "warning"), "seen": text,
		"effect": holds("text", func(string) bool { return true }),
		"fix":    holds("text", func(string) bool { return true }),
	}.check),
	"advice": list(object{
		"from_ns": size, "to_ns": orNull(size), "method": text, "clock": text, "expected_error": size,
	}.check),
}

// forms are the forms of the documents, by command. The report card has none.
var forms = map[string]object{
	"clocks": headerForm.with(rankingForm),
	"activity": headerForm.with(object{
		"traces": list(traceForm.with(periodsForm).check), "switching": orNull(switchingForm.check),
	}),
	"fidelity":  headerForm.with(trustForm),
	"bench":     headerForm.with(benchForm),
	"run":       headerForm.with(programsForm),
	"lateness":  headerForm.with(latenessForm),
	"bisect":    headerForm.with(bisectForm),
	"slowclock": headerForm.with(slowForm),
	"validate":  headerForm.with(validationForm),
	"bytecode":  headerForm.with(bytecodeForm),
	"compare":   headerForm.with(comparisonForm),
	"records":   headerForm.with(keptForm),
	"history":   headerForm.with(historyForm),
	"":          headerForm.with(rankingForm).with(trustForm).with(cardForm),
}

// parts are checks on parts of documents whose fields depend on one another.
var parts = map[string]func(data []byte, e expectation) []string{
	"clocks": checkPart(clocksDocument.breaches),
	"traces": checkPart(tracesDocument.breaches), "sandwiches": checkPart(trustDocument.breaches),
	"rows":      checkPart(comparisonDocument.breaches),
	"series":    checkPart(historyDocument.breaches),
	"timers":    byCommand(map[string]func([]byte, expectation) []string{"lateness": checkPart(latenessDocument.breaches)}),
	"steps":     byCommand(map[string]func([]byte, expectation) []string{"bisect": checkPart(bisectDocument.breaches)}),
	"estimates": checkPart(slowDocument.breaches), "cells": checkPart(validationDocument.breaches),
	"instructions": checkPart(bytecodeDocument.breaches),
	"results": byCommand(map[string]func([]byte, expectation) []string{
		"bench": checkPart(benchDocument.breaches), "run": checkPart(programsDocument.breaches),
	}),
}

// checkPart reads a part of a document, and lists its breaches.
func checkPart[T any](breaches func(T, expectation) []string) func([]byte, expectation) []string {
	return func(data []byte, e expectation) []string {
		var part T
		if err := json.Unmarshal(data, &part); err != nil {
			return broken("document", "%v", err)
		}
		return breaches(part, e)
	}
}

// byCommand selects the check for a part that differs between commands.
func byCommand(of map[string]func([]byte, expectation) []string) func([]byte, expectation) []string {
	return func(data []byte, e expectation) []string {
		var header struct{ Command string }
		if err := json.Unmarshal(data, &header); err != nil {
			return broken("document", "%v", err)
		}
		if check := of[header.Command]; check != nil {
			return check(data, e)
		}
		return nil
	}
}

// everyClock returns the list of this runtime's clocks in docs/output.md.
var everyClock = sync.OnceValue(func() (names []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "output.md"))
	_, list, ok := strings.Cut(string(text), "\n## Names of clocks\n\n")
	if err != nil || !ok {
		panic("docs/output.md has no names of clocks")
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list, -1) {
		names = append(names, name[1])
	}
	return names
})

// expectation is what the command's arguments imply about the document.
type expectation struct {
	sortedBy string
	clocks   []string // the requested ones
}

// breaches lists the ways in which a document violates the documented form.
func breaches(data []byte, e expectation) []string {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var whole map[string]any
	if err := decoder.Decode(&whole); err != nil {
		return broken("document", "it can't be read: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return broken("document", "more follows it")
	}
	if all := breachesOfForm(whole); len(all) > 0 {
		return all
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if _, has := forms[whole["command"].(string)][name]; has {
			all = append(all, parts[name](data, e)...)
		}
	}
	return all
}

// breachesOfForm lists the fields that are missing, of another type or of another unit.
func breachesOfForm(document map[string]any) []string {
	command, _ := document["command"].(string)
	form, ok := forms[command]
	if !ok {
		return broken("command", "no documents of %q are known", command)
	}
	return append(form.check("document", document), unitsOf("document", document)...)
}

// otherUnits matches the names of fields with times in other units.
var otherUnits = regexp.MustCompile(`_(us|µs|ms|s|sec|seconds)$`)

// unitsOf checks all fields, documented or not: times are numbers of nanoseconds, and their names
// say so.
func unitsOf(at string, value any) []string {
	var all []string
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			all = append(all, unitsOf(fmt.Sprintf("%s[%d]", at, i), element)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if strings.HasSuffix(name, "_ns") && !numeric(v[name]) {
				all = append(all, broken(at, "%s holds %v", name, v[name])...)
			}
			if otherUnits.MatchString(name) {
				all = append(all, broken(at, "%s is no time in nanoseconds", name)...)
			}
			all = append(all, unitsOf(at+"."+name, v[name])...)
		}
	}
	return all
}

// numeric reports whether a value is a number, null, or a list of these.
func numeric(value any) bool {
	switch v := value.(type) {
	case nil, float64:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(element any) bool { return !numeric(element) })
	}
	return false
}

// clocksDocument holds well-formed fields, for rules between them.
type clocksDocument struct {
	Interrupted bool
	Machine     struct {
		CoreHz *float64 `json:"core_hz"`
	}
	Caveats     []string
	Clocks      []ratedClock
	Best        map[string]*string
	Unavailable []struct{ Name string }
	Findings    []struct{ Topic, Severity, Effect, Fix string }
	Advice      []struct {
		Clock  string
		FromNs float64  `json:"from_ns"`
		ToNs   *float64 `json:"to_ns"`
	}
}

type ratedClock struct {
	Name, Kind string
	Accuracy   struct{ Value, Lo, Hi *float64 }
	Cost       struct {
		MinNs    *float64 `json:"min_ns"`
		MedianNs *float64 `json:"median_ns"`
		P95Ns    *float64 `json:"p95_ns"`
		P99Ns    *float64 `json:"p99_ns"`
		MaxNs    *float64 `json:"max_ns"`
	}
	Spread, Quality *float64
	Cycles          struct{ Accuracy, Cost *float64 }
	Monotonic       *bool
	ThreadSafe      *bool `json:"thread_safe"`
	Stable          *bool
	Verdict         string
	Reasons         []string
}

// breaches lists contradictions between fields.
func (d clocksDocument) breaches(e expectation) []string {
	var all []string
	for _, c := range d.Clocks {
		all = append(all, c.breaches()...)
		all = append(all, c.otherCycles(d.Machine.CoreHz)...)
		all = append(all, d.unexplained(c)...)
	}
	all = append(all, d.misplaced(e.sortedBy)...)
	all = append(all, d.misnamed(e.clocks)...)
	all = append(all, d.unfit()...)
	return append(all, d.misadvised()...)
}

func (c ratedClock) breaches() []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, broken(c.Name, format, args...)...) }
	if trusted := c.Verdict == "trusted"; trusted != (len(c.Reasons) == 0) {
		say("%s for %d reasons", c.Verdict, len(c.Reasons))
	}
	if !ascending(c.Accuracy.Lo, c.Accuracy.Value, c.Accuracy.Hi) {
		say("the accuracy lies outside of its interval")
	}
	if !ascending(c.Cost.MinNs, c.Cost.P95Ns, c.Cost.P99Ns, c.Cost.MaxNs) || !ascending(c.Cost.MinNs, c.Cost.MedianNs, c.Cost.P95Ns) {
		say("the percentiles of its cost do not ascend")
	}
	if want, known := c.expectedQuality(); known != (c.Quality != nil) || known && math.Abs(want-*c.Quality) > 1e-9 {
		say("its quality does not follow from its cycles, spread and faults")
	}
	if c.faulty() && c.Verdict != "unusable" {
		say("it fails a check, and is %s", c.Verdict)
	}
	return all
}

// otherCycles lists numbers of cycles that differ from the times multiplied by the core's rate.
func (c ratedClock) otherCycles(coreHz *float64) []string {
	var all []string
	for _, pair := range []struct {
		what       string
		ns, cycles *float64
	}{{"accuracy", c.Accuracy.Value, c.Cycles.Accuracy}, {"cost", c.Cost.MedianNs, c.Cycles.Cost}} {
		known := coreHz != nil && pair.ns != nil
		if known != (pair.cycles != nil) {
			all = append(all, broken(c.Name, "of its %s either the cycles or the time are unknown", pair.what)...)
		} else if known && math.Abs(*pair.cycles/math.Max(1, *pair.ns**coreHz/1e9)-1) > 1e-6 {
			all = append(all, broken(c.Name, "its %s of %g ns is not %g cycles", pair.what, *pair.ns, *pair.cycles)...)
		}
	}
	return all
}

// ascending reports whether the known numbers are in ascending order.
func ascending(numbers ...*float64) bool {
	known := slices.DeleteFunc(slices.Clone(numbers), func(n *float64) bool { return n == nil })
	return slices.IsSortedFunc(known, func(a, b *float64) int { return cmp.Compare(*a, *b) })
}

// faulty reports whether the clock failed a check.
func (c ratedClock) faulty() bool {
	return slices.ContainsFunc([]*bool{c.Monotonic, c.ThreadSafe, c.Stable}, func(b *bool) bool { return b != nil && !*b })
}

// expectedQuality computes the quality by Kuperberg 2011a, Formula (1) and section 4.4.
func (c ratedClock) expectedQuality() (quality float64, known bool) {
	if c.faulty() {
		return 0, true
	}
	if c.Cycles.Accuracy == nil || c.Cycles.Cost == nil || c.Spread == nil {
		return 0, false
	}
	return math.Pow(*c.Cycles.Accuracy**c.Cycles.Cost, -0.1) * math.Sqrt(*c.Spread), true
}

// unexplained lists the nulls that neither the clock's reasons nor the caveats explain. A caveat on
// only some clocks names them.
func (d clocksDocument) unexplained(c ratedClock) []string {
	var all []string
	for _, question := range []struct {
		field, word string
		unknown     bool
	}{
		{"accuracy", "accuracy", c.Accuracy.Value == nil},
		{"quality", "quality", c.Quality == nil},
		{"monotonic", "monotonic", c.Monotonic == nil},
		{"thread_safe", "thread safety", c.ThreadSafe == nil},
		{"stable", "stability", c.Stable == nil},
	} {
		if question.unknown && len(c.Reasons) == 0 && !d.tells(question.word, c.Name) {
			all = append(all, broken(c.Name, "%s is null for no reason", question.field)...)
		}
	}
	return all
}

// tells reports whether a caveat is about the matter, for all clocks or for this one.
func (d clocksDocument) tells(matter, clock string) bool {
	return slices.ContainsFunc(d.Caveats, func(caveat string) bool {
		_, of, some := strings.Cut(caveat, matter+" is not known of ")
		if !some {
			return strings.Contains(caveat, matter)
		}
		clocks, _, _ := strings.Cut(of, ":")
		return slices.Contains(strings.Split(clocks, ", "), clock)
	})
}

// sortKeys are the values by which clocks can be sorted; the least comes first.
var sortKeys = map[string]func(ratedClock) float64{
	"quality":  func(c ratedClock) float64 { return -orElse(c.Quality, -1) },
	"accuracy": func(c ratedClock) float64 { return orElse(c.Accuracy.Value, math.Inf(1)) },
	"cost":     func(c ratedClock) float64 { return orElse(c.Cost.MedianNs, math.Inf(1)) },
}

func orElse(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func (d clocksDocument) misplaced(sortedBy string) []string {
	key := sortKeys[sortedBy]
	if !slices.IsSortedFunc(d.Clocks, func(a, b ratedClock) int { return cmp.Compare(key(a), key(b)) }) {
		return broken("clocks", "they are not sorted by %s", sortedBy)
	}
	return nil
}

// misnamed lists clocks that were not requested, clocks that occur twice, and, unless the command
// was interrupted, those that are missing.
func (d clocksDocument) misnamed(asked []string) []string {
	var names, all []string
	for _, c := range d.Clocks {
		names = append(names, c.Name)
	}
	for _, u := range d.Unavailable {
		names = append(names, u.Name)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			all = append(all, broken(name, "it stands twice in the document")...)
		}
		if !slices.Contains(asked, name) {
			all = append(all, broken(name, "nobody asked for it")...)
		}
	}
	for _, name := range asked {
		if !d.Interrupted && !slices.Contains(names, name) {
			all = append(all, broken(name, "it is missing")...)
		}
	}
	return all
}

// bestKinds are the kinds of clocks that suit each purpose.
var bestKinds = map[string][]string{
	"wall": {"wall"}, "cpu": {"cpu"}, "timestamp": {"wall"}, "counter": {"counter"},
}

// unfit lists the best clocks that don't suit their purpose.
func (d clocksDocument) unfit() []string {
	var all []string
	for _, purpose := range slices.Sorted(maps.Keys(bestKinds)) {
		name := d.Best[purpose]
		if name == nil {
			continue
		}
		c, found := d.find(*name)
		switch {
		case !found:
			all = append(all, broken("best."+purpose, "no clock %s was ranked", *name)...)
		case !slices.Contains(bestKinds[purpose], c.Kind), c.Verdict == "unusable", orElse(c.Quality, 0) == 0:
			all = append(all, broken("best."+purpose, "%s, a clock of kind %s, is not fit for it", c.Name, c.Kind)...)
		}
	}
	return all
}

func (d clocksDocument) find(name string) (ratedClock, bool) {
	i := slices.IndexFunc(d.Clocks, func(c ratedClock) bool { return c.Name == name })
	if i < 0 {
		return ratedClock{}, false
	}
	return d.Clocks[i], true
}

// misadvised lists findings without advice, and advice that names something that does not exist.
func (d clocksDocument) misadvised() []string {
	var all []string
	for _, f := range d.Findings {
		if (f.Severity == "ok") != (f.Effect == "" && f.Fix == "") || (f.Effect == "") != (f.Fix == "") {
			all = append(all, broken("finding "+f.Topic, "%s, with the effect %q and the fix %q", f.Severity, f.Effect, f.Fix)...)
		}
	}
	for _, a := range d.Advice {
		if _, found := d.find(a.Clock); !found {
			all = append(all, broken("advice", "no clock %s was ranked", a.Clock)...)
		}
		if a.ToNs != nil && *a.ToNs < a.FromNs {
			all = append(all, broken("advice", "the range from %g to %g ns is empty", a.FromNs, *a.ToNs)...)
		}
	}
	return all
}
