package loss

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
	"gonum.org/v1/gonum/floats"
)

// integrand defines J. No walk changes it. Without bounds J is a quadratic form of the CDFs. Bounds add a
// correction (correction.go).
type integrand struct {
	bins       int
	scale      float64   // the loss is scale times the integral of J
	step       []float64 // 1/W_b: by how much an event of weight 1 moves F_b
	start      []bin     // the constants of each bin, with F_b = 0
	squares    []float64 // sums of the squares of steps, in rows like Records.Sums; nil: the weights are equal
	variances  []bin     // start with the constants of V_b, if the bias is subtracted or measured
	unbiased   bool      // the bias is subtracted
	measured   bool      // the integral of the bias is wanted, and can be known
	basis      *moments.Basis
	correction *correction // nil: no moment is bounded

	// Of the linear form, see setLinear.
	span    *moments.Basis // of the functions that cost nothing
	penalty float64
	x, y    []float64 // a row for each bin; y is nil where it is 0
	// rows are columns times sqrt(2)/W_b, three of x and three of y at a time. The first have 2 F_b/W_b too, and where all weights
	// are 1, the terms of M_bb e^2 and V_b, see crossing.
	rows [][]lanes.Row
	back []float64 // where all weights are 1: half of what the rows leave out of the change of J if an event of a bin is taken back
}

// newIntegrand returns the integrand of sorted records, for a bias that is measured, subtracted or neither.
func newIntegrand(p *Plan, measured bool, ba *moments.Basis, bs *bins.Bins, rs *sorted.Records, sc *par.Scratch) (*integrand, error) {
	in := &integrand{bins: bs.Count(), scale: 1, basis: ba, unbiased: !p.Biased}
	if !p.Sum {
		in.scale /= float64(in.bins)
	}
	in.step = par.Unset[float64](&sc.Arena, in.bins)
	for b, sum := range rs.Totals() {
		in.step[b] = 1 / sum
	}
	in.setLinear(p.SlopePenalty, &sc.Arena)
	if in.unbiased || measured {
		err := in.setVariance(bs, rs, sc)
		if in.measured = measured && err == nil; in.unbiased && err != nil {
			return nil, err
		}
	}
	if in.unbiased {
		in.start = in.variances
	}
	if rs.Weights == nil {
		in.back = par.Unset[float64](&sc.Arena, in.bins)
	}
	for i := range in.back { // rows get the terms of M_bb e^2 and of V_b, where e = 1/W_b at each event
		b, row := &in.start[i], &in.rows[0][i]
		own := b.square * b.step * b.step
		g := own * b.factor // 0 if the bias is not subtracted
		row.Y[3] = own - g*(1-b.step)
		row.X[3] += 2 * g * b.step
		in.back[i] = own + g*b.step
	}
	if p.Bounded() {
		in.correction = newCorrection(in, moments.NewBound(&p.Options, ba), &sc.Arena)
	}
	return in, nil
}

// setLinear sets the form that J is where no moment is bounded, given the steps. Then r = (1 - P A) F is linear in F and
// J = F'MF with
//
//	M = (1 - PA)'(1 - PA) + slope_penalty A_1 A_1',   M_ab = [a = b] - x_a.x_b + y_a.y_b
//	P'P + slope_penalty s s' = L L',   s.c = c_1,   L x_b = P_b,   y_b = L'A_b - x_b
//
// The change of J at an event follows from two short vectors, X = sum_b F_b x_b and Y = sum_b F_b y_b, which the event changes.
// If P = A has orthonormal columns and there is no penalty, x_b = P_b and y_b = 0. Only the product P A matters, so any basis of
// the functions serves.
func (in *integrand) setLinear(penalty float64, arena *par.Arena) {
	in.span, in.penalty = in.basis, penalty
	if in.basis.Orthonormal != nil {
		in.span = in.basis.Orthonormal
	}
	in.x = in.span.P
	if !in.span.IsOrthonormal || penalty != 0 {
		in.setColumns(arena)
	}
	for l, size := 0, in.span.Size; l < size; l += 3 {
		rows := par.Make[lanes.Row](arena, in.bins)
		for b, e := range in.step {
			for k := l; k < min(l+3, size); k++ {
				rows[b].X[k-l] = math.Sqrt2 * e * in.x[b*size+k]
				if in.y != nil {
					rows[b].Y[k-l] = math.Sqrt2 * e * in.y[b*size+k]
				}
			}
		}
		in.rows = append(in.rows, rows)
	}
	in.start = par.Make[bin](arena, in.bins)
	for b, step := range in.step {
		in.start[b].step, in.start[b].square = step, in.element(b, b)
		in.rows[0][b].X[3] = 2 * step * step
	}
}

// setColumns sets x and y by a decomposition P = Q R, with sqrt(slope_penalty) s as one more row of P: then L' = R and x_b is
// row b of Q. It keeps the digits of columns of P that nearly depend on each other, which P'P would lose.
func (in *integrand) setColumns(arena *par.Arena) {
	ba, size, nb := in.span, in.span.Size, in.bins
	columns := par.Make[float64](arena, size*(nb+1))
	for l := range size {
		for b := range nb {
			columns[l*(nb+1)+b] = ba.P[b*size+l]
		}
		columns[l*(nb+1)+nb] = math.Sqrt(in.penalty) * ba.Slope[l]
	}
	qr := moments.NewQR(columns, size, 1e-14, arena)
	in.x, in.y = par.Make[float64](arena, nb*size), par.Make[float64](arena, nb*size)
	for b := range nb {
		for l := range size {
			x := qr.Column(l)[b]
			in.x[b*size+l] = x
			in.y[b*size+l] = floats.Dot(qr.R[l*size+l:(l+1)*size], ba.RowA(b)[l:]) - x
		}
	}
}

// element returns M_ab.
func (in *integrand) element(a, b int) float64 {
	size := in.span.Size
	m := -floats.Dot(in.x[a*size:(a+1)*size], in.x[b*size:(b+1)*size])
	if in.y != nil {
		m += floats.Dot(in.y[a*size:(a+1)*size], in.y[b*size:(b+1)*size])
	}
	if a == b {
		m++
	}
	return m
}

// at returns J at a state, without its correction. It overwrites c.
func (in *integrand) at(state []bin, c []float64) (j float64) {
	clear(c)
	for i := range state {
		floats.AddScaled(c, state[i].cdf, in.span.RowA(i))
	}
	slope := floats.Dot(in.span.Slope, c)
	j = in.penalty * slope * slope
	for i := range state {
		r := state[i].cdf - floats.Dot(c, in.span.RowP(i))
		j += r*r - state[i].variance()*state[i].square
	}
	return j
}

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

// setVariance sets the constants of V_b, and the squares of the steps if weights differ.
func (in *integrand) setVariance(bs *bins.Bins, rs *sorted.Records, sc *par.Scratch) error {
	var thirds []float64
	if rs.Weights != nil {
		in.squares, thirds = rs.Powers(in.step, sc)
	}
	in.variances = append(par.Unset[bin](&sc.Arena, in.bins)[:0], in.start...)
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
		in.variances[b].total, in.variances[b].factor = total, 1/(1-2*third/total+total)
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
