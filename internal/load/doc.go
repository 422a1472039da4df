// Package load keeps CPUs busy with competing processes. Some are those of the experiments of Bryant
// 2003, sections 9.2.4 and 9.4.3, where "Load 11" is the measured program and ten others that want the
// CPU all the time. Others compute from time to time, write to much memory, or build programs.
//
// Each competitor is another process of the running program. The competitors end with the process that
// started them, even if it is killed: each of them, and each process that it has started, reads from a
// pipe that ends with its parent. A paused process can't
// read: Linux continues a competitor when its parent ends.
package load
