// Package bisect finds the commits at which something became slower.
//
// It is a noisy binary search over a line of commits (Burnashev and Zigangirov, An Interval Estimation
// Problem for Controlled Observations, 1974; Waeber, Frazier and Henderson, Bisection Search With Noisy
// Responses, SIAM Journal on Control and Optimization 51, 2013). These sources get answers that are
// wrong with a fixed chance. Here an answer is a measurement: the logarithm of the ratio of a commit's
// time to that of the good end, with its error, from pairs that were run next to one another.
//
// The commits that were measured form a series of levels with steps between them. Every choice of
// steps has a probability (Fearnhead, Exact and Efficient Bayesian Inference for Multiple Changepoint
// Problems, Statistics and Computing 16, 2006), so that no, one, two or more steps are found by one
// rule. A measurement may be wrong by any amount with a small probability, so that one wrong answer
// makes the search go back instead of astray.
package bisect
