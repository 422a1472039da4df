// Package load keeps CPUs busy with competing processes: those of the experiments of
// Bryant 2003, sections 9.2.4 and 9.4.3, where "Load 11" is the measured program and ten
// others that want the CPU all the time.
//
// The competitors are this program once more. They end with the process that started
// them, whatever happens to it: each holds the end of a pipe that the kernel closes for
// the dead, too.
package load
