// Package probe talks to probes: programs that read the timers of another language runtime, or of a
// device, and pass the readings on. A probe reads commands on its standard input, one per line, and
// answers each with one line; docs/probe-protocol.md describes the whole protocol.
//
// What a probe sends is not trusted. Its length, its range and the time that it may take are limited, and
// anything wrong with it leads to an error that names the probe, the question and the answer. The package
// contains probes for some runtimes; see [Runtimes].
package probe
