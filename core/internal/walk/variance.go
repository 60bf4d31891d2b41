package walk

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// variance holds what the bias of a finite sample is made of,
//
//	bias(s) = sum_b V_b [ sum_a R_ab^2 + slope_penalty A_1b^2 ],  R = 1 - P (d c~/dc) A
//	V_b(s)  = [S_b (1 - 2 F_b) + F_b^2 T_b] / (1 - 2 U_b/T_b + T_b)
//
// where S_b is the sum of the squares of the steps w_i/W_b up to s, T_b that of the
// whole bin and U_b the sum of their third powers. R is by how much the residual of
// bin a moves with F_b. V_b estimates the variance of F_b: where score and weight are
// independent, its mean is exactly that, for given weights of either sign, since
// E[sum w_i^2 (theta_i - F_b)^2] = sigma^2 (T - 2 U/W + T^2/W^2), in terms of the
// weights' own sums, and the variance of F_b is sigma^2 T/W^2.
type variance struct {
	totals []float64  // T_b
	factor []float64  // 1/(1 - 2 U_b/T_b + T_b)
	bins   *bins.Bins // for messages
}

// newVariance returns the variance of bins in which an event of weight 1 makes the step
// unit[b]. To the sums it adds those of the steps' squares, where weights differ.
func newVariance(bs *bins.Bins, rs *order.Records, su *order.Sums, unit []float64, sc *par.Scratch) (*variance, error) {
	va := par.New(&sc.Arena, variance{totals: par.Make[float64](&sc.Arena, bs.Count()), factor: par.Make[float64](&sc.Arena, bs.Count()), bins: bs})
	if rs.Weights == nil {
		return va, va.setEqual(unit)
	}
	thirds := order.AddSquares(su, rs, unit, sc)
	copy(va.totals, su.Squares[len(su.Squares)-bs.Count():])
	for b, t := range va.totals {
		if err := va.setFactor(b, 1-2*thirds[b]/t+t); err != nil {
			return nil, err
		}
	}
	return va, nil
}

// setEqual sets the totals of bins of n steps of 1/n each.
func (va *variance) setEqual(inverse []float64) error {
	copy(va.totals, inverse)
	for b, t := range inverse {
		if err := va.setFactor(b, 1-t); err != nil {
			return err
		}
	}
	return nil
}

// fewestEffective is how many effective events, 1/T_b, a bin needs at least. Of fewer the variance cannot be known. The
// denominator of V_b is at least (1 - sqrt T_b)^2 = 6e-4, since no step is above sqrt T_b: it keeps all digits but three or four.
const fewestEffective = 1.05

// setFactor takes 1 - 2 U_b/T_b + T_b, which is 1 - 1/n for n equal weights.
func (va *variance) setFactor(b int, f float64) error {
	if effective := 1 / va.totals[b]; !(effective >= fewestEffective) {
		return va.bins.Error(b, "has (sum of weights)^2 / (sum of squared weights) = %.4g effective events, "+
			"and unbiased needs at least %v: use fewer bins or larger batches", effective, fewestEffective)
	}
	va.factor[b] = 1 / f
	return nil
}
