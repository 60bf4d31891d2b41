// Package core computes the MoDe loss (Moment Decomposition) and its gradient,
// exactly, in O(n log n + n (order+1)^2) time and O(n) memory.
//
// The method is that of O. Kitouni, B. Nachman, C. Weisser and M. Williams,
// "Enhancing searches for resonances with machine learning and moment
// decomposition", arXiv:2010.09745. A selected event i has a score s_i, a mass
// m_i and a weight w_i. Masses map linearly onto x in [-1, 1] and fall into
// bins b with centre x_b, width D_b and sum of weights W_b. Then
//
//	F_b(s)  = (1/W_b) sum_{i in b} w_i Theta(s - s_i)      the bin's CDF of scores
//	c_l(s)  = sum_b A_lb F_b(s)                            Legendre moments, l = 0..order
//	c~(s)   = bound(c(s))                                  max_slope, monotonic (bound.go)
//	r_b(s)  = F_b(s) - sum_l c~_l(s) P_bl
//	J(s)    = sum_b r_b^2 + slope_penalty c_1^2 - bias(s)
//	loss    = scale * integral of J(s) ds over score_range
//
// with P_bl = P_l(x_b) and A_lb = (2l+1)/2 D_b P_bl for Quadrature moments (the
// paper's), and P_bl = (1/W_b) sum_{i in b} w_i P_l(x_i) and A = (P'P)^-1 P' for
// Projection moments (binsums.go): the least-squares fit of the bins' mean
// polynomials. The bias is that of a finite sample, subtracted when Unbiased is set
// (spread.go, bias.go, and dominated.go for bins with one heavy event).
//
// The bounds on the slope and on higher moments, the Legendre moments and the
// quantile bins are the paper's; Projection, Unbiased, SlopeOf Selected, negative
// weights and the exact integral over the scores go past it.
//
// An event goes one way through the files of this package: gather.go (events of the
// labels asked for), select.go (which of them take part, and their cells of score and
// mass, grid.go), binning.go and quantile.go (bins), order.go (records, sorted by
// score), binsums.go and moments.go (P, A), chunks.go (sums from which to start),
// sweep.go (one pass over the records), unsort.go (the gradient, back in order of the
// input), loss.go (all of it in turn). Of the arithmetic of the sweep there
// are two readable forms, sweep_linear.go and, with bounds, sweep_bounded.go; the
// same with order 2 and below is written out for speed in sweep_fast.go and
// sweep_bounded_fast.go, and tests compare them.
//
// Two losses to compare with are beside it: flatness.go, by the same sweep, and
// DisCo, in disco.go, disco_form.go (what its means are) and disco_sums.go (the
// sums in O(n log n)).
//
// Results do not depend on the number of threads, to the last bit: the work is
// divided in the same way whatever their number.
package core
