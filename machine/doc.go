// Package machine describes the machine on which a measurement runs: its CPU, its clock source,
// whether it is a virtual machine, how its frequency is governed, how busy it is, and how much of
// it this process may use.
//
// [Identify] describes this machine, and [Read] describes the machine to which a file tree with
// /proc and /sys belongs. No file is trusted: if one is missing or malformed, its field stays
// empty, and [Machine.Caveats] says why. [Machine.Findings] says what an engineer ought to know
// about the machine before a measurement, and what to do about it.
//
// [Affinity], [SetAffinity] and [Pin] read and set the CPUs of the calling thread.
package machine
