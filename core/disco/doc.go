// Package disco computes the squared distance correlation of two variables, and its gradient by both: DisCo.
//
// With a_ij = |x_i - x_j| and b_ij = |y_i - y_j|,
//
//	dCov^2(x, y)  = <a_ij b_ij> - 2 <a_ij b_ik> + <a_ij b_kl>
//	dCorr^2(x, y) = dCov^2(x, y) / sqrt(dCov^2(x, x) dCov^2(y, y))
//
// where <> is the mean over all i, j, k, l, weighted with the product of their weights (G. Szekely, M. Rizzo,
// N. Bakirov, arXiv:0803.4101). G. Kasieczka and D. Shih, arXiv:2001.05310, train with it, and their code computes the
// same for power 1. In the unbiased form <> is the mean over i, j, k, l that all differ: a weighted U-statistic. For
// equal weights it equals the U-centered form of G. Szekely and M. Rizzo, arXiv:1310.2926. Its dCov^2 has the mean of an
// infinite sample, and for independent events it is negative about half of the time.
//
// Time is O(n log n) and memory O(n): see X. Huo and G. Szekely, arXiv:1410.1503, and A. Chaudhuri and W. Hu,
// arXiv:1810.11332. Weights may have either sign. At equal values the derivative of |x_i - x_j| counts as 0, the mean
// of both sides.
//
// The route: correlation.go checks the events, and sorts them by either variable. form.go writes dCov^2 in terms of sums. axis.go
// computes the sums of one variable, and pairs.go the sums over pairs.
package disco
