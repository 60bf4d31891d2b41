package disco

import "github.com/libmode/libmode/core/internal/errs"

// form has the coefficients of dCov^2 in sums over events and over pairs of events. With the row sums
// alpha_i = sum_j w_j a_ij, beta_i of b, and A = sum_i w_i alpha_i:
//
//	dCov^2 = sum_ij [ one w_i w_j + mixed w_i w_j^2 + two w_i^2 w_j^2 ] a_ij b_ij
//	       + sum_i [ row w_i alpha_i + square w_i^2 alpha_i + all w_i A ] beta_i
//
// The means of the plain form run over all events. The means of the unbiased form run over events that differ: these
// sums are the sums over all events, less the terms where some coincide. With S_p = sum over p different events, of the
// product of their weights, and M_pq = sum_ij w_i^p w_j^q a_ij b_ij:
//
//	sum w_i w_j a_ij b_ij          = M_11                                          over S_2
//	sum w_i w_j w_k a_ij b_ik      = sum_i w_i alpha_i beta_i - M_12               over S_3
//	sum w_i w_j w_k w_l a_ij b_kl  = A B - 4 sum_i w_i^2 alpha_i beta_i + 2 M_22   over S_4
type form struct {
	one, mixed, two  float64
	row, square, all float64
}

// cancelledTo is the relative size up to which a sum of terms that cancel is rounding alone.
const cancelledTo = 1e-12

// newForm returns the form for these weights, which are in the given unit, or an error where they have no mean. With all
// weights 1, which are their squares, mixed and two are 0.
func newForm(weights []float64, unit float64, ones, unbiased bool) (form, error) {
	var s [5]float64 // s[p]: sum over sets of p events of the product of their weights
	s[0] = 1
	for _, w := range weights {
		for p := 4; p > 0; p-- {
			s[p] += w * s[p-1]
		}
	}
	total := s[1]
	if !(total > 0) {
		return form{}, errs.At(errs.ErrUndefined, "weight", -1, ": the %d events have sum of weights %v, which must be positive", len(weights), total/unit)
	}
	if !unbiased {
		return form{one: 1 / (total * total), row: -2 / (total * total * total), all: 1 / (total * total * total * total)}, nil
	}
	s2, s3, s4 := 2*s[2], 6*s[3], 24*s[4]
	for p, sum := range []float64{s2 / (total * total), s3 / (total * total * total), s4 / (total * total * total * total)} {
		if !(sum > cancelledTo) {
			return form{}, errs.At(errs.ErrUndefined, "weight", -1, ": with unbiased, the means over %d different events have a sum of weights of %.3g times that over all, "+
				"and it must be positive: use larger batches, or weights that vary less", p+2, sum)
		}
	}
	fm := form{one: 1 / s2, mixed: 2 / s3, two: 2 / s4, row: -2 / s3, square: -4 / s4, all: 1 / s4}
	if ones {
		fm = form{one: fm.one + fm.mixed + fm.two, row: fm.row + fm.square, all: fm.all}
	}
	return fm, nil
}

// setFactors sets dst to the factors of beta_i. They follow from the row sums alpha_i, row, and their sum A, all.
func (fm *form) setFactors(dst, w, row []float64, all float64) {
	for i, alpha := range row {
		dst[i] = w[i] * ((fm.row+fm.square*w[i])*alpha + fm.all*all)
	}
}

// ofPairs returns the derivative of the sum over pairs by the z of one event of weight w, from its
// g = sum_j w_j a_ij sign(z_i - z_j), and g2 with w_j^2.
func (fm *form) ofPairs(w, g, g2 float64) float64 {
	return w * ((2*fm.one+fm.mixed*w)*g + (fm.mixed+2*fm.two*w)*g2)
}
