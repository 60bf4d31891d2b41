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
// with P_bl = (1/W_b) sum_{i in b} w_i P_l(x_i) and A = (P'P)^-1 P' for Projection
// moments, the least-squares fit of the bins' mean polynomials (means.go), and P_bl =
// P_l(x_b), A_lb = (2l+1)/2 D_b P_bl for Quadrature moments, the paper's. The bias is that
// of a finite sample, subtracted where Unbiased is set (variance.go, sample_bias.go).
//
// With several background labels the loss is the sum of those of the labels, each of its events
// alone; with categories that of a label is the sum of those of its categories, each times its
// share of the label's sum of weights.
//
// The bounds on the slope and on higher moments, the Legendre moments and the
// quantile bins are the paper's; Projection, Unbiased, SlopeOf Selected, negative
// weights and the exact integral over the scores go past it.
//
// # The route
//
// A call goes one way through these stages. Each makes a value of those before, and
// changes none of them, but that events get the numbers of their bins in place of those of
// their cells of mass; binned.go is this list as code.
//
//	Config       options.go (the table: one row an option), validate.go
//	Events       events.go, labels.go
//	subsets      division.go, subsets.go, gather.go: the events of each label asked for and, within
//	             it, of each category, side by side; loss.go adds up their losses, times their
//	             factors, and each goes the rest of the route by itself
//	selection    selection.go, parts.go, stats.go: which events take part, and how many
//	             of them lie in each cell of score and mass (cells.go)
//	bins         bins.go, quantile.go, equal_runs.go, values.go, and what the moments need of their
//	             events: means.go, of functions of the mass: columns.go, spline.go
//	records      records.go, crowded.go, chunks.go: a word an event, sorted by score, in chunks
//	sums         sums.go: of the weights of all events before each chunk, by bin
//	integrand    integrand.go, flatness.go: what J is; moments.go (P, A), bound.go
//	walk         walk.go: crosses the events of each chunk; at each, J changes by minus
//	             the derivative of the loss
//	gradient     derivatives.go, scatter.go: back in the order of the input
//
// Evaluate (result.go) returns the bias too: each chunk is walked a second time, with an integrand that has
// the bias where the other has none, or the other way round.
//
// LossGradHess (curvature.go) sets a bound of the curvature too: before each chunk is walked it writes h, from the
// densities of the bins in strips of the scores (strips.go).
//
// A walk crosses an event by a kernel (path.go): linear.go, or bounded.go where moments are
// bounded, or bounded_far.go where one mass is far from the others. The first two are written out
// for speed, a block of events at a time, for order 2 and the first also below: in linear_fast.go,
// with ties in linear_ties.go, and in bounded_fast.go, with ties in bounded_ties.go. Tests compare them.
//
// Several protected variables go this way too (variables.go). One by one (together.go), each has bins of its own,
// records have a cell that says which they are in, and each variable has a walk along the same records. Jointly (joint.go), the
// bins are cells of a grid or of nested quantiles (nested.go), of the events inside all ranges (inside.go).
//
// Edges and MomentsAt (tables.go) find the bins and the moments another way, and so
// check what the loss is made of. DisCo is beside all this: package
// disco, which disco.go calls with the selected events.
//
// internal/par has the goroutines that share a call, and memory; internal/radix sorts
// events by a number of theirs; internal/lanes has the loops over blocks of events for
// which there are vector instructions.
//
// Results do not depend on the number of threads, to the last bit: the work is
// divided in the same way whatever their number. Nor do they depend on whether there are
// vector instructions: all tests of the package compute each loss with them and without.
package core
