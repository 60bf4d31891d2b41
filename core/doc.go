// Package core computes the MoDe loss (Moment Decomposition) and its gradient,
// exactly, in O(n log n + n (order+1)^2) time and O(n) memory.
//
// The method is that of O. Kitouni, B. Nachman, C. Weisser and M. Williams,
// "Enhancing searches for resonances with machine learning and moment
// decomposition", arXiv:2010.09745. A selected event i has a score s_i, a mass
// m_i and a weight w_i. Masses map linearly onto x in [-1, 1] and fall into
// bins b with center x_b, width D_b and sum of weights W_b. Then
//
//	F_b(s)  = (1/W_b) sum_{i in b} w_i Theta(s - s_i)      the bin's CDF of scores
//	c_l(s)  = sum_b A_lb F_b(s)                            Legendre moments, l = 0..order
//	c~(s)   = bound(c(s))                                  max_slope, monotonic
//	r_b(s)  = F_b(s) - sum_l c~_l(s) P_bl
//	J(s)    = sum_b r_b^2 + slope_penalty c_1^2 - bias(s)
//	loss    = scale * integral of J(s) ds over score_range
//
// Projection moments have P_bl = (1/W_b) sum_{i in b} w_i P_l(x_i) and A = (P'P)^-1 P', the least-squares fit of the bins'
// mean polynomials. Quadrature moments, the paper's, have P_bl = P_l(x_b) and A_lb = (2l+1)/2 D_b P_bl. The loss has
// no bias of a finite sample, unless Biased is set. Package loss has the formula of the bias (integrand.go), and package moments has the bounds.
//
// With several background labels the loss is the sum of the losses of each label's events alone. With categories the loss
// of a label is the sum of the losses of each category's events, times the category's share of the label's sum of weights.
//
// The Legendre moments, the bounds on the slope and on higher moments, and the quantile bins are from the paper. Projection,
// the bias, OfSelected, negative weights and the exact integral over the scores are additions.
//
// # The route
//
// A call goes one way, through packages that know only the packages before them. Each stage takes values and returns
// values. A stage may write over memory of an earlier one that nothing reads any more: bins writes the bins of events over
// their cells of mass.
//
//	core      checks a Config (options.go: one row an option, validate.go), makes a plan of it, and hands a call on (loss.go, tables.go)
//	loss      Prepare takes the events of a label and category through events, bins, moments and sorted (loss.go), and
//	          Integrate along a walk. Evaluate adds the losses of all labels and categories
//	events    divides events by label and category, checks and selects them, and counts them in cells of score and mass
//	bins      divides the masses into bins, and sums functions of the mass over each bin
//	moments   P and A of a fit, and the bounds
//	sorted    one word for each event, sorted by score, in chunks, and the sums of weights before each chunk
//	loss      J as a quadratic form with a bias (integrand.go), a correction for bounds (correction.go), and a walk of each chunk
//	          (walk.go). At each event J changes by minus the derivative of the loss, which goes to the event's place in the input
//
// Evaluate also returns the bias, which the walk follows beside J. Curvature also writes a bound of the curvature, from the densities of
// the bins in strips of the scores. Package constraint pushes events along the gradient of the loss of their ranks.
//
// Package disco has the distance correlation. Package par has the goroutines and the memory of a call, lanes the loops with vector
// instructions, and errs the errors.
//
// Results do not depend on the number of threads, to the last bit: the division of the work is the same for any number.
// They do not depend on vector instructions either: a test compares the bits of all kinds of losses with them and without.
//
// # Words
//
// An event has a score, a mass, a weight, a label and a category; its place is its index in the input. A subset has the events of one
// label and one category. A part is a range of events that one goroutine takes, and a block a range that stays in cache.
// A bin is an interval of the mass, or of several variables. A cell is finer, and counts events before they have bins or an order.
// A record is an event in order of score, packed into a word. A chunk is a range of records that is walked from its own sums, and a tie
// has records of one score. A step is a change of F_b: 1/W_b for an event of weight 1. A strip is a short range of scores,
// for densities.
package core
