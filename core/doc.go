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
//	c~(s)   = bound(c(s))                                  max_slope, monotonic
//	r_b(s)  = F_b(s) - sum_l c~_l(s) P_bl
//	J(s)    = sum_b r_b^2 + slope_penalty c_1^2 - bias(s)
//	loss    = scale * integral of J(s) ds over score_range
//
// with P_bl = (1/W_b) sum_{i in b} w_i P_l(x_i) and A = (P'P)^-1 P' for Projection
// moments, the least-squares fit of the bins' mean polynomials, and P_bl =
// P_l(x_b), A_lb = (2l+1)/2 D_b P_bl for Quadrature moments, the paper's. The bias is that
// of a finite sample, subtracted where Unbiased is set.
//
// With several background labels the loss is the sum of the losses of each label's events alone. With categories the loss
// of a label is the sum of the losses of each category's events, times the category's share of the label's sum of weights.
//
// The bounds on the slope and on higher moments, the Legendre moments and the
// quantile bins are the paper's; Projection, Unbiased, SlopeOf Selected, negative
// weights and the exact integral over the scores go past it.
//
// # The route
//
// A call goes one way, through packages that know only those before them. Each stage takes values and returns values;
// none changes those of a stage before, except that events get the numbers of their bins in place of their cells of mass.
//
//	core      Config (options.go: one row an option; validate.go) becomes a plan (plan.go)
//	loss      adds up the losses of labels and categories (subsets.go) and of variables of mass (variables.go, joint.go);
//	          binned.go is the rest of this list as code
//	events    divides events by label and category (division.go), checks and selects them, and counts them in cells of
//	          score and mass (select.go, check.go, cells.go)
//	bins      divides the masses: quantile.go, ranked.go, edges.go; cells of several variables: nested.go, grid.go; sums
//	          over bins, and bins that are merged: sums.go, merge.go
//	moments   P and A of a fit of functions of the mass (columns.go, fit.go, basis.go), and the bounds (bound.go)
//	order     one word for each event, sorted by score, in chunks, and the sums of weights before each chunk
//	walk      what J is (integrand.go: linear.go, correction.go, variance.go), and a walk of each chunk (walk.go,
//	          crossing.go, correcting.go): at each event J changes by minus the derivative of the loss, which goes back to the
//	          order of the input
//
// Evaluate walks each chunk a second time, with the bias where the other walk has none, or the other way round.
// LossGradHess also writes a bound of the curvature, from the densities of the bins in strips of the scores (walk:
// curvature.go, strips.go). Direction pushes the events of a constraint along the gradient (push).
//
// Package disco has the distance correlation. Package par has the goroutines and the memory of a call, radix sorts by a
// number, lanes has the loops for which there are vector instructions, errs makes errors.
//
// Results do not depend on the number of threads, to the last bit: the work is
// divided in the same way whatever their number. Nor do they depend on whether there are
// vector instructions: all tests of the package compute each loss with them and without.
package core
