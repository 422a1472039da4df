// Package history makes series of the figures in an archive of records, and finds the changes in
// them.
//
// A series is one figure on one machine tier. Values from different CPU models, kernels,
// hypervisors or clock sources are never joined, so that a new machine begins a series of its own
// and is no regression. Figures are kept in an index next to the records, which is made again if it
// is deleted.
package history
