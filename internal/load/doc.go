// Package load keeps CPUs busy with competing processes: those of the experiments of
// Bryant 2003, sections 9.2.4 and 9.4.3, where "Load 11" is the measured program and ten
// others that want the CPU all the time, and others that compute now and then, sweep the
// memory, or build.
//
// The competitors are this program once more. They end with the process that started
// them, even where it is killed: each of them, and each process that it has started, reads
// from a pipe that ends with its parent.
package load
