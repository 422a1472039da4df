// Package machine says what the machine under a measurement is: its CPU, its
// clock source, whether a hypervisor stands below it, how its frequency is
// governed, how busy it is and how much of it this process may use.
//
// [Identify] describes this machine, [Read] whatever machine a file tree with
// /proc and /sys below it shows. Nothing found there is trusted: a file that is
// missing or malformed leaves its field empty, and the reason in
// [Machine.Caveats]. [Machine.Findings] says what of it an engineer ought to
// know before a measurement, and what to do about it.
//
// [Affinity], [SetAffinity] and [Pin] read and choose the CPUs of the calling
// thread.
package machine
