// Package probe talks to probes: programs that read the timers of another
// runtime, or of a device, and hand the readings over. A probe reads one command a
// line on its standard input and answers one line each; docs/probe-protocol.md is
// the whole of it.
//
// What a probe says is data from outside. It is bounded in length, in range and in
// time, and whatever is wrong with it ends in an error that names the probe, the
// question and the answer. The package brings probes for some runtimes with it; see
// [Runtimes].
package probe
