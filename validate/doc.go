// Package validate says how good methods of measuring are on this machine: it lets them
// measure work of known length, alone and beside competitors for the same CPU, as the
// experiments of Bryant 2003 do (Figures 9.8, 9.11, 9.12, 9.14 to 9.19, 9.21 and 9.22).
//
// For each duration and load one stream of samples is taken, in a process of its own
// whose threads are all on one CPU. Between any two samples of the work there are short
// batches of the same work, of which most escape every disturbance. They bracket the
// truth, sample by sample, since the rate of a core may wander by more than a good method
// errs. All methods that work within a process are evaluated on the same samples, and
// whole programs are measured by package program and by hyperfine.
//
// What comes out is the error of each method in each cell, how often its claim held the
// truth ([Coverage]), and up to which duration it can be relied on ([Reach]).
package validate

import "math"

var nan = math.NaN()
