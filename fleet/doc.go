// Package fleet finds the machines of a fleet that are not like the others.
//
// It looks at each figure that was measured on the machines by itself, on a logarithmic scale. [Rank]
// first finds tiers: groups of machines whose values are far from those of other groups, such as two
// CPU models. Within a tier it subtracts a drift over time if there is a significant one (the slope of
// Theil 1950 and Sen 1968), and takes the median and the median absolute deviation of the rest. A
// machine is an outlier if it is too far from the median for a t distribution whose tails are as heavy
// as those of all figures together, or as those of its figure if these are heavier; a machine that was
// measured less precisely than others may be farther away. The expected share of false outliers among
// those of all figures is at most a given rate (Benjamini and Hochberg 1995, Controlling the false
// discovery rate).
package fleet
