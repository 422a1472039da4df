// Package chronoscope answers one question: how fast does X run on machine Y,
// and how far can the number be trusted?
//
// The module is a library and a command. The data runs one way: a clock is read
// (package clock), a method turns readings into samples and samples into an
// estimate with its interval and verdict (package timermeter and its
// neighbours), a record holds estimates together with the machine they were
// taken on, and a report shows a record. Packages are stacked in floors and
// import downwards only; the tests of this package, which itself is empty, hold
// that.
package chronoscope
