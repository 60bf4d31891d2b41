package moments

import (
	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// Columns returns the polynomials of one variable of mass that cost nothing, in the form of Newton. Their means over the bins
// are the columns of P. Bounds need the Legendre polynomials P_1, P_2, ... too, as further columns: computing them from the basis would
// cost digits.
func Columns[T events.Float](sel *events.Selection[T], bins int, c *Options) (events.Columns, *Newton) {
	order := c.Order
	if c.Quadrature {
		order = 0
	}
	nw := newNewton(sel, bins, order)
	columns := events.Columns{Count: order}
	if c.Bounded() {
		columns.Count *= 2
	}
	columns.Fill = func(values [][]float64, lo int) {
		below := values[:0]
		for k, node := range nw.nodes {
			to, factor := values[k], nw.factor
			for i, m := range sel.Mass[lo:][:len(to)] {
				to[i] = (float64(m) - node) * factor
			}
			for _, omega := range below {
				floats.Mul(to, omega)
			}
			below = values[k : k+1]
		}
		more := values[order:]
		if len(more) == 0 {
			return
		}
		var p Numbers
		for i, m := range sel.Mass[lo:][:len(more[0])] {
			Legendre(p[:order+1], position(float64(m), sel.MassLo, sel.MassHi))
			for l := range more {
				more[l][i] = p[l+1]
			}
		}
	}
	return columns, nw
}

// JointColumns returns the products P_a(x_1) P_b(x_2) ... of several variables, in the order of Products, but for the first.
func JointColumns[T events.Float](masses [][]T, ranges [events.MaxVariables][2]float64, order int) events.Columns {
	degrees := Products(len(masses), order)[1:]
	return events.Columns{Count: len(degrees), Fill: func(values [][]float64, lo int) {
		if len(degrees) == 0 {
			return
		}
		var p [events.MaxVariables]Numbers
		for i := range values[0] {
			for k, mass := range masses {
				Legendre(p[k][:order+1], position(float64(mass[lo+i]), ranges[k][0], ranges[k][1]))
			}
			for j, powers := range degrees {
				product := p[0][powers[0]]
				for k := 1; k < len(masses); k++ {
					product *= p[k][powers[k]]
				}
				values[j][i] = product
			}
		}
	}}
}

// Products returns the degrees of all products of so many variables up to a total degree, in order of the total degree, then
// of the degrees of the first variable, the second, and so on, the highest first.
func Products(variables, order int) (all [][events.MaxVariables]int) {
	var extend func(degrees [events.MaxVariables]int, k, left int)
	extend = func(degrees [events.MaxVariables]int, k, left int) {
		if k == variables-1 {
			degrees[k] = left
			all = append(all, degrees)
			return
		}
		for degree := left; degree >= 0; degree-- {
			degrees[k] = degree
			extend(degrees, k+1, left-degree)
		}
	}
	for total := range order + 1 {
		extend([events.MaxVariables]int{}, 0, total)
	}
	return all
}

// Numbers has one number for each moment.
type Numbers [MaxOrder + 1]float64

// position maps [lo, hi] to [-1, 1].
func position(m, lo, hi float64) float64 { return ((m - lo) - (hi - m)) / (hi - lo) }

// Legendre sets dst[l] = P_l(x) by Bonnet's recursion, (l+1) P_{l+1}(x) = (2l+1) x P_l(x) - l P_{l-1}(x).
func Legendre(dst []float64, x float64) {
	dst[0] = 1
	if len(dst) > 1 {
		dst[1] = x
	}
	for l := 1; l+1 < len(dst); l++ {
		k := float64(l)
		dst[l+1] = ((2*k+1)*x*dst[l] - k*dst[l-1]) / (k + 1)
	}
}
