// Package fleet says which machines of many are not like the others.
//
// Each figure that was measured on all of them is looked at by itself, on a logarithmic scale. [Rank] first
// finds tiers: groups of machines that lie apart from one another, such as two models of CPUs. Within a tier
// it takes off a drift over time (the slope of Theil 1950 and Sen 1968), and takes the median and the median
// absolute deviation of what is left. A machine is an outlier where it lies further from the median than the
// tails of its tier reach, by a t distribution whose tails are as heavy as those seen; machines that were
// measured less precisely than others have more room. Of all outliers of all figures no more than a given
// share is false on the mean (Benjamini and Hochberg 1995, Controlling the false discovery rate).
package fleet
