package main

import (
	_ "embed"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"chronoscope/process"
	"chronoscope/program"
)

// A subject is a program that is measured.
type subject struct {
	name string
	// words returns its arguments, given the rounds of the chain that take a millisecond. If it is nil, other
	// is the command.
	words func(roundsPerMs float64) []string
	other []string
	// wall is about how long it takes alone.
	wall time.Duration
}

func chain(d time.Duration) subject {
	return subject{name: "chain-" + d.String(), wall: d, words: func(perMs float64) []string {
		return []string{"chain", rounds(perMs, d)}
	}}
}

func rounds(perMs float64, d time.Duration) string {
	return strconv.Itoa(int(perMs * float64(d) / float64(time.Millisecond)))
}

var subjects = []subject{
	chain(10 * time.Millisecond), chain(100 * time.Millisecond), chain(time.Second),
	{name: "sleep", wall: 100 * time.Millisecond, other: []string{"sleep", "0.1"}},
	{name: "alternate", wall: 100 * time.Millisecond, words: func(perMs float64) []string {
		return []string{"alternate", rounds(perMs, 5*time.Millisecond), "10", "5000000"}
	}},
	{name: "deadline", wall: 100 * time.Millisecond, words: func(perMs float64) []string {
		return []string{"deadline", rounds(perMs, 5*time.Millisecond), "100000000"}
	}},
	{name: "passing", wall: 100 * time.Millisecond, words: func(perMs float64) []string {
		return []string{"deadline", rounds(perMs, 40*time.Millisecond), "100000000"}
	}},
	{name: "python", wall: 70 * time.Millisecond, other: []string{"/usr/bin/python3", "-S", "-E", "-c", "import time; sum(range(200000)); time.sleep(0.05)"}},
}

func subjectNames() (all []string) {
	for _, s := range subjects {
		all = append(all, s.name)
	}
	return all
}

func subjectOf(name string) (subject, error) {
	for _, s := range subjects {
		if s.name == name {
			return s, nil
		}
	}
	return subject{}, fmt.Errorf("-subject: there is no %q: choose of %s", name, strings.Join(subjectNames(), ", "))
}

//go:embed testdata/subject.c
var source []byte

// command returns the command that starts the subject.
func (e *experiment) command(s subject) (program.Command, error) {
	words := s.other
	if s.words != nil {
		words = append([]string{e.program}, s.words(e.roundsPerMs)...)
	}
	path, err := exec.LookPath(words[0])
	return program.Command{
		Name: s.name, Command: process.Command{Path: path, Args: words[1:], CPUs: []int{e.cpu}},
	}, err
}
