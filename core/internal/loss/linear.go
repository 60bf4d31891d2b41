package loss

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

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
