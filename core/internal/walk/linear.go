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
// so that crossing an event changes two short vectors, X = sum_b F_b x_b and Y, by what also gives the change of J. Where
// P = A has orthonormal columns and there is no penalty, x_b = P_b and y_b = 0. Only the product P A matters, so that c may
// belong to any basis of the polynomials.
type linear struct {
	basis   *moments.Basis
	penalty float64
	x, y    []float64 // a row per bin, as those of the basis; y is nil where it is 0
	square  []float64 // M_bb, which is also the factor of V_b in the bias
	rows    []lanes.Row
	wide    []wideRows
}

// fewColumns is how many columns of x and of y lanes.Row has room for.
const fewColumns = 3

// wideRows are four more columns of x (sign -1) or y (sign 1) for each bin.
type wideRows struct {
	sign float64
	rows [][4]float64
}

// newLinear takes the 1/W_b as unit.
func newLinear(ba *moments.Basis, penalty float64, unit []float64, arena *par.Arena) *linear {
	if ba.Orthonormal != nil {
		ba = ba.Orthonormal
	}
	li := par.New(arena, linear{basis: ba, penalty: penalty, x: ba.P})
	if !ba.IsOrthonormal || penalty != 0 {
		li.setColumns(arena)
	}
	li.square = par.Make[float64](arena, len(unit))
	for b := range unit {
		li.square[b] = li.element(b, b)
	}
	li.setRows(unit, arena)
	return li
}

// setColumns sets x and y by a decomposition P = Q R, with sqrt(slope_penalty) s as one more row of P: then L' = R and x_b is
// row b of Q. No digits are lost where columns of P nearly depend on each other, as they would be with P'P.
func (li *linear) setColumns(arena *par.Arena) {
	ba, size := li.basis, li.basis.Size
	nb := len(ba.P) / size
	columns, upper := par.Make[float64](arena, size*(nb+1)), par.Make[float64](arena, size*size)
	for l := range size {
		column := columns[l*(nb+1) : (l+1)*(nb+1)]
		for b := range nb {
			column[b] = ba.P[b*size+l]
		}
		column[nb] = math.Sqrt(li.penalty) * ba.Slope[l]
		length := floats.Norm(column, 2)
		for range 2 { // once more, for what rounding has left
			for m := range l {
				before := columns[m*(nb+1) : (m+1)*(nb+1)]
				overlap := floats.Dot(before, column)
				floats.AddScaled(column, -overlap, before)
				upper[m*size+l] += overlap
			}
		}
		if norm := floats.Norm(column, 2); norm > 1e-14*length {
			floats.Scale(1/norm, column)
			upper[l*size+l] = norm
		} else {
			clear(column) // it depends on those before it, as with fewer bins than moments
		}
	}
	li.x, li.y = par.Make[float64](arena, len(ba.P)), par.Make[float64](arena, len(ba.P))
	for b := range nb {
		for l := range size {
			x := columns[l*(nb+1)+b]
			li.x[b*size+l] = x
			li.y[b*size+l] = dot(upper[l*size+l:(l+1)*size], ba.A[b*size+l:]) - x
		}
	}
}

// setRows sets what lanes need: columns times sqrt(2)/W_b.
func (li *linear) setRows(unit []float64, arena *par.Arena) {
	size := li.basis.Size
	li.rows = par.Make[lanes.Row](arena, len(unit))
	for b, e := range unit {
		for l := range min(size, fewColumns) {
			li.rows[b].X[l] = math.Sqrt2 * e * li.x[b*size+l]
			if li.y != nil {
				li.rows[b].Y[l] = math.Sqrt2 * e * li.y[b*size+l]
			}
		}
	}
	add := func(sign float64, columns []float64) {
		for l := fewColumns; l < size && columns != nil; l += 4 {
			wide := wideRows{sign, par.Make[[4]float64](arena, len(unit))}
			for b, e := range unit {
				for k, x := range columns[b*size+l : b*size+min(l+4, size)] {
					wide.rows[b][k] = math.Sqrt2 * e * x
				}
			}
			li.wide = append(li.wide, wide)
		}
	}
	add(-1, li.x)
	add(1, li.y)
}

// element returns M_ab.
func (li *linear) element(a, b int) float64 {
	size := li.basis.Size
	m := -dot(li.x[a*size:(a+1)*size], li.x[b*size:])
	if li.y != nil {
		m += dot(li.y[a*size:(a+1)*size], li.y[b*size:])
	}
	if a == b {
		m++
	}
	return m
}

// row sets dst to row b of M.
func (li *linear) row(dst []float64, b int) {
	for k := range dst {
		dst[k] = li.element(b, k)
	}
}

// residuals are what J is made of at a point: c, and z = P'r - slope_penalty c_1 s.
type residuals struct{ c, z []float64 }

// at returns J, without the bias, and sets what it is made of.
func (li *linear) at(cdf []float64, re *residuals) float64 {
	re.c, re.z = par.Grown(re.c, li.basis.Size), par.Grown(re.z, li.basis.Size)
	li.basis.Moments(re.c, cdf)
	clear(re.z)
	var j float64
	for b, f := range cdf {
		p := li.basis.RowP(b)
		r := f - dot(re.c, p)
		j += r * r
		for l, x := range p {
			re.z[l] += r * x
		}
	}
	slope := dot(li.basis.Slope, re.c)
	floats.AddScaled(re.z, -li.penalty*slope, li.basis.Slope)
	return j + li.penalty*slope*slope
}

// slope returns (M F)_b = F_b - c.P_b - z.A_b.
func (li *linear) slope(f float64, b int, re *residuals) float64 {
	return f - dot(re.c, li.basis.RowP(b)) - dot(re.z, li.basis.RowA(b))
}

// dot is floats.Dot for vectors so short that its call would cost more; b may be longer.
func dot(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
