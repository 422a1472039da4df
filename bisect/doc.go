// Package bisect finds the commits at which something became slower.
//
// It is a noisy binary search over a line of commits (Burnashev and Zigangirov, An Interval Estimation Problem
// for Controlled Observations, 1974; Waeber, Frazier and Henderson, Bisection Search With Noisy Responses, SIAM
// Journal on Control and Optimization 51, 2013). In these papers an answer is wrong with a fixed chance. Here
// an answer is a measurement, with its error: the logarithm of a commit's time divided by that of the good end,
// from pairs of runs that were made one after the other. A commit, and the good end for it, may be built in several
// layouts, with functions in other places in memory; the scatter between them is a part of the error.
//
// The measured commits form a series of levels with steps between them. Every choice of steps has a probability
// (Fearnhead, Exact and Efficient Bayesian Inference for Multiple Changepoint Problems, Statistics and
// Computing 16, 2006), so that one rule finds no step, one, or several. A measurement may be wrong by any
// amount with a small probability, so that one wrong answer makes the search go back instead of astray.
package bisect
