package walk

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// linear is J where no moment is bounded. Then r = (1 - P A) F is linear in F and J = F'MF with
//
//	M = (1 - PA)'(1 - PA) + slope_penalty A_1 A_1',   M_ab = [a = b] - x_a.x_b + y_a.y_b
//	P'P + slope_penalty s s' = L L',   s.c = c_1,   L x_b = P_b,   y_b = L'A_b - x_b
//
// The change of J at an event follows from two short vectors, X = sum_b F_b x_b and Y = sum_b F_b y_b, which the event changes.
// If P = A has orthonormal columns and there is no penalty, x_b = P_b and y_b = 0. Only the product P A matters, so any basis of
// the functions serves.
type linear struct {
	basis   *moments.Basis
	penalty float64
	x, y    []float64     // a row for each bin; y is nil where it is 0
	rows    [][]lanes.Row // see setRows
}

// newLinear returns the form of bins in which an event of weight 1 moves F_b by step[b].
func newLinear(ba *moments.Basis, penalty float64, step []float64, arena *par.Arena) *linear {
	if ba.Orthonormal != nil {
		ba = ba.Orthonormal
	}
	li := &linear{basis: ba, penalty: penalty, x: ba.P}
	if !ba.IsOrthonormal || penalty != 0 {
		li.setColumns(len(step), arena)
	}
	li.setRows(step, arena)
	return li
}

// setColumns sets x and y by a decomposition P = Q R, with sqrt(slope_penalty) s as one more row of P: then L' = R and x_b is
// row b of Q. It keeps the digits of columns of P that nearly depend on each other, which P'P would lose.
func (li *linear) setColumns(nb int, arena *par.Arena) {
	ba, size := li.basis, li.basis.Size
	columns := par.Make[float64](arena, size*(nb+1))
	for l := range size {
		for b := range nb {
			columns[l*(nb+1)+b] = ba.P[b*size+l]
		}
		columns[l*(nb+1)+nb] = math.Sqrt(li.penalty) * ba.Slope[l]
	}
	qr := moments.NewQR(columns, size, 1e-14, arena)
	li.x, li.y = par.Make[float64](arena, nb*size), par.Make[float64](arena, nb*size)
	for b := range nb {
		for l := range size {
			x := qr.Column(l)[b]
			li.x[b*size+l] = x
			li.y[b*size+l] = floats.Dot(qr.R[l*size+l:(l+1)*size], ba.RowA(b)[l:]) - x
		}
	}
}

// setRows sets the rows: columns times sqrt(2)/W_b, three of x and three of y at a time.
func (li *linear) setRows(step []float64, arena *par.Arena) {
	size := li.basis.Size
	for l := 0; l < size; l += 3 {
		rows := par.Make[lanes.Row](arena, len(step))
		for b, e := range step {
			for k := l; k < min(l+3, size); k++ {
				rows[b].X[k-l] = math.Sqrt2 * e * li.x[b*size+k]
				if li.y != nil {
					rows[b].Y[k-l] = math.Sqrt2 * e * li.y[b*size+k]
				}
			}
		}
		li.rows = append(li.rows, rows)
	}
}

// element returns M_ab.
func (li *linear) element(a, b int) float64 {
	size := li.basis.Size
	m := -floats.Dot(li.x[a*size:(a+1)*size], li.x[b*size:(b+1)*size])
	if li.y != nil {
		m += floats.Dot(li.y[a*size:(a+1)*size], li.y[b*size:(b+1)*size])
	}
	if a == b {
		m++
	}
	return m
}

// at returns J, less the bias, at a state. It overwrites c.
func (li *linear) at(state []bin, c []float64) float64 {
	clear(c)
	for i := range state {
		floats.AddScaled(c, state[i].cdf, li.basis.RowA(i))
	}
	slope := floats.Dot(li.basis.Slope, c)
	j := li.penalty * slope * slope
	for i := range state {
		r := state[i].cdf - floats.Dot(c, li.basis.RowP(i))
		j += r*r - state[i].variance()*state[i].square
	}
	return j
}
