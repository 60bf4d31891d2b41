package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// bin is the state of a bin during a walk, with the constants of the bin. The variances V_b of the bins' CDFs make the bias of a
// finite sample:
//
//	bias(s) = sum_b V_b [ sum_a R_ab^2 + slope_penalty A_b1^2 ],  R = 1 - P (dc~/dc) A
//	V_b(s)  = [S_b (1 - 2 F_b) + F_b^2 T_b] / (1 - 2 U_b/T_b + T_b)
//
// where S_b is the sum of the squares of the steps w_i/W_b up to s, T_b that of the whole bin, and U_b the sum of their third
// powers. R_ab is how much the residual of bin a changes with F_b. V_b estimates the variance of F_b. Where score and weight
// are independent, it is unbiased for given weights of either sign: in terms of the weights' own sums,
// E[sum w_i^2 (theta_i - F_b)^2] = sigma^2 (T - 2 U/W + T^2/W^2), and the variance of F_b is sigma^2 T/W^2.
type bin struct {
	step, square  float64 // 1/W_b and M_bb, which is also the factor of V_b in the bias
	total, factor float64 // T_b and 1/(1 - 2 U_b/T_b + T_b); not set if the bias is not wanted
	cdf, squares  float64 // F_b and S_b
}

// setVariance sets the constants of V_b in the bins of the integrand, and the squares of the steps if weights differ.
func (in *integrand) setVariance(bs *bins.Bins, rs *sorted.Records, sc *par.Scratch) error {
	var thirds []float64
	if rs.Weights != nil {
		in.squares, thirds = rs.Powers(in.step, sc)
	}
	for b, total := range in.step { // the sum of n squares of steps of 1/n
		if thirds != nil {
			total = in.squares[(len(rs.Chunks)-1)*len(in.step)+b]
		}
		// No step is above sqrt T_b, so the denominator of V_b is at least (1 - sqrt T_b)^2 = 6e-4 and loses at most four digits.
		if effective := 1 / total; !(effective >= bins.FewestEffective) {
			return bs.Error(b, "has (sum of weights)^2 / (sum of squared weights) = %.4g effective events, "+
				"and unbiased needs at least %v: use fewer bins or larger batches", effective, bins.FewestEffective)
		}
		third := total * total
		if thirds != nil {
			third = thirds[b]
		}
		in.start[b].total, in.start[b].factor = total, 1/(1-2*third/total+total)
	}
	return nil
}

// variance returns V_b.
func (b *bin) variance() float64 {
	return (b.squares*(1-2*b.cdf) + b.cdf*b.cdf*b.total) * b.factor
}

// cross takes a step, which adds this square to S_b, and returns the change of V_b.
func (b *bin) cross(e, square float64) (change float64) {
	after := b.cdf + e
	change = (square*(1-2*after) - 2*b.squares*e + e*(b.cdf+after)*b.total) * b.factor
	b.cdf, b.squares = after, b.squares+square
	return change
}

// biasNow returns what bounds add to the bias. With w_1 = 1 and w_l = dc~_l/dc~_1, N has the columns
//
//	N_l0 = -dc~_1/dc_0 w_l,   N_l1 = [l = 1] - dc~_1/dc_1 w_l,   N_ll = 1 - dc~_l/dc_l, l >= 2
//
// and no others. Without max_slope c~_1 = c_1 is no bounded moment: then l begins at 2.
func (co *correcting) biasNow() (bias float64) {
	first, end := co.First, co.End
	w, gw := co.w[:end], co.gw[:end]
	copy(w, co.byBase[:end])
	byFirst, bySlope, isBounded, p, r := 0.0, 1.0, 0.0, 0.0, 0.0
	if first == 1 {
		byFirst, bySlope, isBounded, w[1] = co.byBase[1], 1-co.own[1], 1, 1
	}
	q := 0.0 // w.G w; p and r are (G w)_1 and G_11
	for l := first; l < end; l++ {
		row, sum := co.gram[l*end:][:end], 0.0
		for m := first; m < end; m++ {
			sum += float64(row[m] * w[m])
		}
		gw[l] = sum
		q += float64(w[l] * sum)
	}
	if first == 1 {
		p, r = gw[1], co.gram[end+1]
	}
	y := co.sums[co.y:]
	rest := p - float64(bySlope*q)
	bias = float64(byFirst * (float64(byFirst*q*y[0]) - float64(2*rest*y[1])))
	bias += float64((r - float64(bySlope*(p+rest))) * y[2])
	y = y[3:]
	for k := 2; k < end; k++ {
		row := co.gram[k*end:][:end]
		along := float64((float64(isBounded*row[1])-float64(bySlope*gw[k]))*y[1]) - float64(byFirst*gw[k]*y[0])
		for j := 2; j < k; j++ {
			along += float64(co.own[j] * row[j] * y[j])
		}
		bias += float64(co.own[k] * (2*along + float64(co.own[k]*row[k]*y[k])))
		y = y[k+1:]
	}
	if x := co.sums[co.x:]; len(x) > 0 {
		for k := first; k < end; k++ {
			last := co.own[k] * x[3*k+2]
			if k == 1 {
				last = x[4]
			}
			bias += 2 * (last - float64(w[k]*(float64(byFirst*x[3*k])+float64(bySlope*x[3*k+1]))))
		}
	}
	return bias
}
