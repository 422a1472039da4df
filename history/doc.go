// Package history makes series of the figures in an archive of records, and says where they changed.
//
// A series is one figure on one machine tier: values from different CPU models, kernels,
// hypervisors or clock sources are never joined, so that a new machine begins a series of its
// own and is no regression. Figures are kept in an index beside the records, which can be thrown
// away and is made again.
package history
